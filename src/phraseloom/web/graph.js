// The dependency arcs of each sentence, thick and coloured by their weight at one step.

import { element, shape } from "./dom.js";
import { findStems, layOut } from "./layout.js";

const THINNEST = 0.6;
const THICKEST = 6.5;
const FAINTEST = 0.22;
const FULL_CHANGE = Math.log(3); // a weight three times as great, or a third, has the full colour

export class Graph {
  #box;
  #result = null;
  #parts = []; // of each sentence: its words and arcs as drawn
  #strongest = 1;

  constructor(box) {
    this.#box = box;
  }

  /** Draw the sentences of a result; the arcs get their weights from `show`. */
  draw(result) {
    this.#result = result;
    this.#strongest = Math.max(
      Number.MIN_VALUE,
      ...result.steps.flatMap((step) => arcWeights(step).map((row) => Math.max(0, ...row))),
    );
    const measure = measurer(this.#box);
    const room = this.#box.clientWidth;
    this.#parts = result.sentences.map((sentence) => drawSentence(sentence, measure, room));
    let number = 0;
    this.#box.replaceChildren(
      ...this.#parts.map(({ picture }, i) => {
        const name = result.sentences[i].in_title ? "Title" : `Sentence ${(number += 1)}`;
        const scroll = element("div", { className: "scroll", tabIndex: 0 }, picture);
        scroll.setAttribute("role", "group");
        scroll.setAttribute("aria-label", name);
        return element("figure", {}, element("figcaption", { textContent: name }), scroll);
      }),
    );
  }

  /** Let the arcs have their weights of a step, and mark what is chosen in it and before it. */
  show(place) {
    const { steps, sentences } = this.#result;
    const step = steps[place];
    const [now, first] = [arcWeights(step), arcWeights(steps[0])];
    const before = steps.slice(0, place).map(({ chosen }) => chosen.stems);
    sentences.forEach((sentence, s) => {
      const part = this.#parts[s];
      part.arcs.forEach((arc, i) => {
        if (now[s]) this.#weigh(arc, now[s][i], first[s][i]);
        arc.title.textContent = tooltip(sentence, sentence.arcs[i], step, steps[0], s, i);
      });
      mark(part.words, sentence.tokens, "earlier", before);
      mark(part.words, sentence.tokens, "now", [step.chosen.stems]);
    });
  }

  /** Point out a phrase that could have been chosen; none: point out nothing. */
  pointOut(stems) {
    this.#result?.sentences.forEach((sentence, s) => {
      mark(this.#parts[s].words, sentence.tokens, "rival", stems ? [stems] : []);
    });
  }

  #weigh({ line, foot }, weight, atFirst) {
    const part = Math.sqrt(weight / this.#strongest); // so that weak arcs can be told apart
    const change = Math.log((weight + 1e-4) / (atFirst + 1e-4)) / FULL_CHANGE;
    const share = Math.round(100 * Math.min(1, Math.abs(change)));
    const colour = `color-mix(in oklab, var(--${change < 0 ? "fade" : "grow"}) ${share}%, var(--same))`;
    line.style.strokeWidth = `${(THINNEST + (THICKEST - THINNEST) * part).toFixed(2)}px`;
    line.style.stroke = colour;
    foot.style.fill = colour;
    for (const piece of [line, foot]) {
      piece.style.opacity = (FAINTEST + (1 - FAINTEST) * part).toFixed(3);
    }
  }
}

/** Weight of each arc of each sentence at a step: the mean of its two directions. */
export function arcWeights(step) {
  return step.down.map((row, s) => row.map((weight, i) => (weight + step.up[s][i]) / 2));
}

function drawSentence(sentence, measure, room) {
  const places = layOut(sentence, measure, room);
  const arcs = places.arcs.map(({ path, foot: [x, y] }, i) => {
    const title = shape("title");
    const line = shape("path", { d: path, class: "line" });
    const hand = shape("path", { d: path, class: "hand" }, title); // wide enough to point at
    const foot = shape("circle", { cx: x, cy: y, r: 2.2, class: "foot" });
    const group = shape("g", { class: "arc" }, line, foot, hand);
    return { group, line, foot, title, arc: sentence.arcs[i] };
  });
  const words = places.words.map((word, i) => drawWord(word, places.wordTop, sentence.tokens[i]));
  words.forEach((word, i) => {
    const own = arcs.filter(({ arc }) => arc.head === i || arc.dependent === i);
    const focus = (is) => {
      picture.classList.toggle("focused", is);
      for (const { group } of own) group.classList.toggle("shown", is);
    };
    word.addEventListener("pointerenter", () => focus(true));
    word.addEventListener("pointerleave", () => focus(false));
  });
  const picture = shape(
    "svg",
    { width: places.width, height: places.height, "aria-hidden": "true" },
    ...arcs.map(({ group }) => group),
    ...words,
  );
  return { picture, arcs, words };
}

function drawWord({ middle, width }, top, token) {
  const text = shape("text", { x: middle, y: top + 16 });
  text.textContent = token.text;
  const back = shape("rect", { x: middle - width / 2, y: top, width, height: 23, rx: 6 });
  return shape("g", { class: "word" }, back, text);
}

function mark(words, tokens, name, phrases) {
  const places = new Set(phrases.flatMap((stems) => findStems(tokens, stems)).flat());
  words.forEach((word, i) => word.classList.toggle(name, places.has(i)));
}

function tooltip({ tokens }, { head, dependent, relation }, step, first, s, i) {
  const [from, to] = [tokens[head].text, tokens[dependent].text];
  if (!step.down.length) return `${from} → ${to}: ${relation}`;
  const line = (weights) =>
    `${weights.down[s][i].toFixed(3)} down, ${weights.up[s][i].toFixed(3)} up`;
  return `${from} → ${to}: ${relation}\nnow ${line(step)}\nat phrase 1 ${line(first)}`;
}

function measurer(box) {
  const context = document.createElement("canvas").getContext("2d");
  const { fontSize, fontFamily } = getComputedStyle(box);
  context.font = `${fontSize} ${fontFamily}`;
  return (text) => context.measureText(text).width;
}
