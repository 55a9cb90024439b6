// Twelve kinds of text to try the page with, written for it; docs/gallery.md shows their lists.

export const SAMPLES = [
  {
    "name": "Abstract",
    "title": "Diverse keyphrases from dynamic dependency graphs",
    "text": "Readers rarely have time for every paper that might matter to them, so a short list of keyphrases has to stand in for the whole. We present a graph convolutional network that reads the dependency tree of each sentence and copies the most telling phrases from the text. Because edge weights change after every phrase, words that were already covered lose their pull, and the next phrase comes from another part of the document. Experiments on scientific abstracts show that the phrases are more diverse than those of a sequence to sequence model, without a loss in precision."
  },
  {
    "name": "News",
    "title": "Harbour town votes to keep its night ferry",
    "text": "Residents of Port Ellery voted on Tuesday to keep the night ferry to Sandholm running through the winter, after the regional transport authority had proposed to cancel it. Mayor Ingrid Vasquez called the result a clear sign that islanders depend on late crossings for hospital shifts and cargo. The ferry company Norrline loses about two million a year on the route and has asked the government for a subsidy. A new timetable will be presented to the town council in March, together with plans for an electric ferry that could halve fuel costs."
  },
  {
    "name": "Product",
    "title": "Ridgeline 45 trekking backpack",
    "text": "The Ridgeline 45 is a trekking backpack for hikes of two to five days. Its aluminium frame carries up to eighteen kilograms on the hips, and the mesh back panel keeps sweat away on steep climbs. The roll-top closure and the recycled nylon ripstop hold off heavy rain without a separate rain cover. Side pockets take a one-litre water bottle, the lid pocket closes with a zip, and trekking poles are held by two elastic loops. Hip belt and shoulder straps come in three sizes."
  },
  {
    "name": "Support ticket",
    "title": "Cannot log in after single sign-on was switched on",
    "text": "Since our administrator switched on single sign-on last Friday, half of the sales team cannot log in to the mobile app. The browser works. After the password prompt the app shows error code 4031 and goes back to the login screen. We have cleared the cache, reinstalled the app and reset two passwords. The identity provider is Okta, and its audit log shows successful logins. We need the mobile app for a trade fair next week, so please treat this ticket as urgent."
  },
  {
    "name": "Minutes",
    "title": "Minutes of the project meeting, 4 May",
    "text": "Data migration: the trial run moved 1.2 million customer records overnight, and 340 records failed because of missing postal codes. Priya will send the list of failed records to the branch offices. Budget: the overspend on external consultants is now eight percent, and Tomas asks the steering committee to release the contingency reserve. Training: key users will be trained in the second week of June, and the training material is not translated yet. The go-live date of 1 July stands. Next meeting: 18 May."
  },
  {
    "name": "Recipe",
    "title": "Lentil soup with lemon and cumin",
    "text": "Lentil soup is the fastest supper we know. Fry a chopped onion and two carrots in olive oil until they are soft, then stir in a teaspoon of ground cumin and two cloves of garlic. Add 250 grams of red lentils and a litre of vegetable stock, and let the soup simmer for twenty minutes. Blend half of it with a hand blender, so that it is creamy but keeps some bite. Season with lemon juice, salt and black pepper, and serve the lentil soup with toasted flatbread and a spoonful of yoghurt."
  },
  {
    "name": "Contract",
    "title": "Services agreement, section 7",
    "text": "7.1 The Supplier shall keep all Confidential Information secret for five years after the termination of this Agreement. 7.2 Confidential Information does not include information that was lawfully known to the Supplier before the Effective Date. 7.3 The limitation of liability in section 9 does not apply to a breach of this section. 7.4 On termination the Supplier shall return or destroy all copies within thirty days and confirm the destruction in writing. 7.5 The Customer may seek injunctive relief before any court of competent jurisdiction."
  },
  {
    "name": "E-mail",
    "title": "Saturday's garden party",
    "text": "Hi all, a few things before the garden party on Saturday. The marquee will be delivered on Friday afternoon, so could two of you help to put it up? Hannah brings the sound system and extension leads, and my brother lends us his gas grill. We still need folding chairs, about twenty of them, and somebody who bakes a gluten-free cake for Aunt Rosa. If it rains we move to the community hall, which is booked until midnight. Parking is tight, so please share cars. Love, Miriam"
  },
  {
    "name": "Blog",
    "title": "What a year of remote work taught our small team",
    "text": "A year ago we gave up our office and became a remote team of nine. The first thing to go wrong was communication: decisions were made in private chats, and half of the team missed them. Written proposals fixed that. Every decision now starts as a one-page document with a deadline for comments. The second lesson was about time zones. We keep three hours of overlap a day for pair programming and leave the rest for deep work. What we still miss is the coffee machine, and no video call has replaced it."
  },
  {
    "name": "Encyclopedia",
    "title": "Fennec fox",
    "text": "The fennec fox is a small fox native to the deserts of North Africa, from Morocco to the Sinai Peninsula. It is the smallest canid, weighing little more than a kilogram, and its large ears lose heat and find prey under the sand. Fennec foxes live in burrows, are active at night and feed on insects, small rodents and desert plants; they can live without drinking water for long periods. The animals form family groups of up to ten. In some regions they are caught for the pet trade, but the species is not threatened."
  },
  {
    "name": "Health advice",
    "title": "Looking after a sprained ankle",
    "text": "A sprained ankle is an injury of the ligaments that hold the joint together. In the first two days, rest the foot, cool it for twenty minutes at a time and wrap it in an elastic bandage; raising the leg reduces the swelling. Painkillers such as ibuprofen help, but do not take them on an empty stomach. Start gentle exercises as soon as you can stand without pain, because movement shortens recovery. See a doctor if you cannot put weight on the foot after three days, since a bone fracture can look like a sprain."
  },
  {
    "name": "Job advertisement",
    "title": "Conservation technician for the map collection",
    "text": "The city archive is looking for a conservation technician for its map collection. You clean, repair and rehouse maps and architectural drawings from the eighteenth century to the present, and you prepare them for digitisation. You work with Japanese paper, wheat starch paste and climate-controlled storage, and you write condition reports for loans to museums. We expect a degree in paper conservation, or vocational training in bookbinding and three years of practice. The part-time position is permanent, and flexible working hours are possible."
  }
];
