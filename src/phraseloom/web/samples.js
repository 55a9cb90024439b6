// Texts to try the page with, written for it.

export const SAMPLES = [
  {
    name: "Graph networks",
    title: "Diverse keyphrases from dynamic dependency graphs",
    text:
      "Readers rarely have time for every paper that might matter to them, so a short list of " +
      "keyphrases has to stand in for the whole. We present a graph convolutional network that " +
      "reads the dependency tree of each sentence and copies the most telling phrases from the " +
      "text. Because edge weights change after every phrase, words that were already covered lose " +
      "their pull, and the next phrase comes from another part of the document. Experiments on " +
      "scientific abstracts show that the phrases are more diverse than those of a sequence to " +
      "sequence model, without a loss in precision.",
  },
  {
    name: "Sensor network",
    title: "Sleep scheduling for wireless sensor networks in orchards",
    text:
      "Battery life limits how long a wireless sensor network can watch over an orchard 🍏. We " +
      "describe a sleep scheduling protocol in which neighbouring sensor nodes agree on who stays " +
      "awake. Each node predicts soil moisture with a small Kalman filter and wakes up only when " +
      "the prediction error grows. In a field trial with sixty sensor nodes the protocol more than " +
      "doubled network lifetime, while the mean error of soil moisture stayed below two percent. " +
      "Packet loss during heavy rain remains an open problem.",
  },
  {
    name: "Old libraries",
    title: "Finding reprinted recipes in digitised newspapers",
    text:
      "Digitised newspapers are full of recipes that were copied from one paper to the next, and " +
      "optical character recognition garbles each copy in its own way. Our method aligns passages " +
      "by locality sensitive hashing of character n-grams and groups reprints with a clustering " +
      "algorithm that tolerates recognition errors. On a hand-labelled collection of nineteenth " +
      "century newspapers, text reuse detection finds nine out of ten reprinted recipes. The " +
      "resulting reprint network shows how recipes travelled along the railway lines.",
  },
];
