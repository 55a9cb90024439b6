// Stepping from phrase to phrase: the slider, the curve of mean weights, the table of rivals.

import { byId, element, shape } from "./dom.js";
import { arcWeights, Graph } from "./graph.js";

const PACE = 1500; // milliseconds that a step is shown while playing
const CURVE = { width: 400, height: 150, left: 14, right: 14, top: 26, bottom: 22 };

export class Steps {
  #graph = new Graph(byId("sentences"));
  #result = null;
  #place = 0;
  #timer = null;

  constructor() {
    byId("step").addEventListener("input", () => {
      this.#stop();
      this.go(Number(byId("step").value) - 1);
    });
    byId("previous").addEventListener("click", () => this.#move(-1));
    byId("next").addEventListener("click", () => this.#move(1));
    byId("play").addEventListener("click", () => (this.#timer ? this.#stop() : this.#play()));
    document.addEventListener("keydown", (event) => this.#onKey(event));
  }

  /** Show another result, at the same step if it has it. */
  show(result) {
    this.#result = result;
    byId("graph").hidden = !result.steps.length;
    if (!result.steps.length) {
      this.#stop();
      return;
    }
    byId("step").max = result.steps.length;
    byId("graph-note").textContent = describe(result);
    this.#graph.draw(result);
    this.go(Math.min(this.#place, result.steps.length - 1));
  }

  go(place) {
    const { steps } = this.#result;
    this.#place = place;
    const step = steps[place];
    byId("step").value = place + 1;
    byId("step").setAttribute("aria-valuetext", `phrase ${step.number}: ${step.chosen.text}`);
    byId("previous").disabled = place === 0;
    byId("next").disabled = place === steps.length - 1;
    byId("step-phrase").replaceChildren(...heading(step, steps.length));
    byId("trend").replaceChildren(...drawTrend(steps, place));
    this.#showRivals(step);
    this.#graph.show(place);
  }

  #move(by) {
    this.#stop();
    const place = this.#place + by;
    if (place >= 0 && place < this.#result.steps.length) this.go(place);
  }

  #onKey(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const isElsewhere = event.target.closest?.("input, textarea, .scroll, .rivals"); // has own use
    if (!by || isElsewhere || event.altKey || event.ctrlKey || event.metaKey) return;
    if (byId("graph").hidden) return;
    event.preventDefault();
    this.#move(by);
  }

  #play() {
    if (this.#place === this.#result.steps.length - 1) this.go(0);
    byId("play").setAttribute("aria-pressed", "true");
    byId("play").textContent = "Pause";
    this.#timer = setInterval(() => {
      this.go(this.#place + 1);
      if (this.#place === this.#result.steps.length - 1) this.#stop();
    }, PACE);
  }

  #stop() {
    clearInterval(this.#timer);
    this.#timer = null;
    byId("play").setAttribute("aria-pressed", "false");
    byId("play").textContent = "Play";
  }

  #showRivals(step) {
    const { lambda1, lambda2 } = this.#result.search;
    const rows = [step.chosen, ...step.runners_up].map((candidate, i) => {
      const row = rivalRow(candidate, i === 0);
      row.addEventListener("pointerenter", () => this.#graph.pointOut(candidate.stems));
      row.addEventListener("pointerleave", () => this.#graph.pointOut(null));
      return row;
    });
    const caption = element("caption", { textContent: "What could have been chosen" });
    const body = element("tbody", {}, ...rows);
    byId("rivals").replaceChildren(caption, element("thead", {}, rivalHead()), body);
    const [one, two] = [lambda1, lambda2].map((weight) => Number(weight.toFixed(3)));
    byId("formula").textContent = `total = Θ + ${one} · DP − ${two} · SP`;
    this.#graph.pointOut(null);
  }
}

function describe({ is_dynamic, extent, steps }) {
  const parts = [
    is_dynamic
      ? "Before each phrase the model weighs every dependency anew, knowing what it has chosen. " +
        "Step through the phrases with the slider or the arrow keys."
      : "This model weighs its graph once, so the arcs stay as they are from phrase to phrase.",
  ];
  if (!steps[0].down.length) parts[0] = "This model reads no graph; the arcs have no weights.";
  if (extent.of_windows > extent.windows) {
    parts.push(`The text is long: this is the first of ${extent.of_windows} parts that were searched.`);
  }
  if (extent.of_steps > extent.steps) {
    parts.push(`Shown are the first ${extent.steps} of ${extent.of_steps} phrases.`);
  }
  return parts.join(" ");
}

function heading({ number, chosen, rank }, count) {
  const place = rank === null ? "not in the list" : `rank ${rank}`;
  return [
    element("span", { className: "faint", textContent: `Phrase ${number} of ${count}` }),
    element("strong", { textContent: chosen.text, dir: "auto" }),
    element("span", { className: "badge", textContent: place }),
  ];
}

const COLUMNS = [
  ["log P", "natural log of the probability of the phrase", (candidate) => decimal(candidate.log_prob)],
  ["Θ", "log P, made fair to long phrases", (candidate) => decimal(candidate.normalised)],
  ["DP", "dissimilarity to earlier phrases: 1 is nothing in common", (candidate) => decimal(candidate.dissimilarity)],
  ["SP", "rank of its last choice among siblings, from 0", (candidate) => candidate.sibling_rank],
  ["total", "what the search maximises", (candidate) => decimal(candidate.total)],
];

function decimal(value) {
  return value.toFixed(2).replace("-", "−");
}

function rivalHead() {
  const cell = (properties) => element("th", { scope: "col", ...properties });
  return element(
    "tr",
    {},
    cell({ textContent: "phrase" }),
    ...COLUMNS.map(([name, title]) => cell({ textContent: name, title })),
  );
}

function rivalRow(candidate, isChosen) {
  const name = element("th", { scope: "row", textContent: candidate.text, dir: "auto" });
  const cells = COLUMNS.map(([, , value]) => element("td", { textContent: value(candidate) }));
  return element("tr", { className: isChosen ? "chosen" : "" }, name, ...cells);
}

/** Mean weight of all arcs at each step, as a curve that starts from nought. */
function drawTrend(steps, place) {
  const means = steps.map((step) => mean(arcWeights(step).flat()));
  if (means.includes(null)) return [];
  const { width, height, left, right, top, bottom } = CURVE;
  const most = Math.max(...means, Number.MIN_VALUE);
  const x = (i) => left + ((width - left - right) * i) / Math.max(1, steps.length - 1);
  const y = (value) => height - bottom - ((height - top - bottom) * value) / most;
  const points = means.map((value, i) => `${x(i).toFixed(1)} ${y(value).toFixed(1)}`);
  const floor = height - bottom;
  const dots = means.map((value, i) =>
    shape("circle", { cx: x(i), cy: y(value), r: i === place ? 5 : 2.5, class: i === place ? "now" : "" }),
  );
  const numbers = steps.map((step, i) => label(x(i), height - 6, step.number, i === place ? "now" : ""));
  const value = label(x(place), y(means[place]) - 10, means[place].toFixed(4), "now");
  const values = means.map((weight) => weight.toFixed(4)).join(", ");
  const picture = shape(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Mean edge weight per phrase: ${values}` },
    shape("path", { d: `M${points.join("L")}L${x(means.length - 1)} ${floor}L${x(0)} ${floor}Z`, class: "area" }),
    shape("path", { d: `M${points.join("L")}`, class: "curve" }),
    shape("path", { d: `M${left} ${floor}H${width - right}`, class: "axis" }),
    ...dots,
    ...numbers,
    value,
  );
  return [element("figcaption", { textContent: "Mean edge weight per phrase" }), picture];
}

function label(x, y, text, name) {
  const made = shape("text", { x: Math.min(Math.max(x, 20), CURVE.width - 20), y, class: name });
  made.textContent = text;
  return made;
}

function mean(values) {
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
}
