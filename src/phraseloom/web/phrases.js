// The ranked list and the text with its phrases marked; pointing at one shows the other.

import { byId, element } from "./dom.js";
import { cutText } from "./offsets.js";

const LEVELS = 4; // strengths of a mark

export function showPhrases({ text, title, keyphrases }) {
  const best = Math.max(...keyphrases.map((phrase) => phrase.score), Number.MIN_VALUE);
  byId("list").replaceChildren(...keyphrases.map((phrase) => item(phrase, best)));
  const levels = new Map(
    keyphrases.map(({ rank, score }) => [rank, Math.max(1, Math.ceil((LEVELS * score) / best))]),
  );
  const places = (key) => keyphrases.map((phrase) => ({ rank: phrase.rank, spans: phrase[key] }));
  byId("reading-title").replaceChildren(...mark(title, places("title_spans"), levels));
  byId("reading-title").hidden = !title.trim();
  byId("reading-text").replaceChildren(...mark(text, places("spans"), levels));
}

function item({ rank, text, score, spans, title_spans }, best) {
  const times = spans.length + title_spans.length;
  const bar = element("span", { className: "meter" });
  bar.style.setProperty("--part", score / best);
  const button = element(
    "button",
    { type: "button", className: "phrase" },
    element("span", { className: "rank", textContent: rank }),
    element("span", { className: "words", textContent: text, dir: "auto" }),
    element("span", { className: "times", textContent: times > 1 ? `×${times}` : "" }),
    element("span", { className: "score", textContent: score.toFixed(3) }),
    bar,
  );
  button.dataset.ranks = rank;
  button.setAttribute("aria-label", `${rank}: ${text}, score ${score.toFixed(3)}`);
  button.addEventListener("click", () => showPlace(rank));
  return element("li", {}, button);
}

function mark(text, places, levels) {
  return cutText(text, places).map((stretch) => {
    if (!stretch.ranks.length) return document.createTextNode(stretch.text);
    const level = Math.max(...stretch.ranks.map((rank) => levels.get(rank)));
    const nested = stretch.ranks.length > 1 ? " nested" : "";
    const made = element("mark", { className: `s${level}${nested}`, textContent: stretch.text });
    made.dataset.ranks = stretch.ranks.join(" ");
    return made;
  });
}

function withRank(rank) {
  return [...document.querySelectorAll(`[data-ranks~="${rank}"]`)];
}

function showPlace(rank) {
  const place = withRank(rank).find((part) => part.localName === "mark");
  place?.scrollIntoView({ block: "center", behavior: "smooth" });
}

/** Mark everything that belongs to some phrases as linked, and nothing else. */
export function link(ranks) {
  for (const part of document.querySelectorAll(".linked")) part.classList.remove("linked");
  for (const rank of ranks) {
    for (const part of withRank(rank)) part.classList.add("linked");
  }
}

/** Link what the pointer or the keyboard is at. */
export function linkOnHover() {
  const follow = (event) => {
    const at = event.target.closest?.("[data-ranks]");
    link(at ? at.dataset.ranks.split(" ") : []);
  };
  for (const id of ["list", "reading"]) {
    byId(id).addEventListener("pointerover", follow);
    byId(id).addEventListener("focusin", follow);
    byId(id).addEventListener("pointerleave", () => link([]));
    byId(id).addEventListener("focusout", () => link([]));
  }
}
