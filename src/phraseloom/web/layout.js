// Where the words and arcs of a sentence stand: numbers in, numbers out.

const GAPS = [7, 15]; // between words: where room is scarce, and where it is not
const SIDE = 12; // left and right of the sentence
const LEVEL = 19; // height of a level of arcs
const BASE = 12; // from the words to the ends of the arcs
const SPREAD = 4; // between the ends of arcs at one word

/** Arcs stacked so that none runs through another's top: the level of each, from 1. */
export function stackArcs(arcs, words) {
  const tops = new Array(words).fill(0); // of the arcs so far, over the gap after each word
  const levels = new Array(arcs.length);
  const span = ({ head, dependent }) => Math.abs(head - dependent);
  const order = [...arcs.keys()].sort((a, b) => span(arcs[a]) - span(arcs[b]));
  for (const i of order) {
    const left = Math.min(arcs[i].head, arcs[i].dependent);
    const right = Math.max(arcs[i].head, arcs[i].dependent);
    levels[i] = 1 + Math.max(...tops.slice(left, right));
    tops.fill(levels[i], left, right);
  }
  return levels;
}

/** Size of a sentence's picture, the place of each word, and the path of each arc. */
export function layOut({ tokens, arcs }, measure, room) {
  const widths = tokens.map((token) => Math.max(measure(token.text), 10));
  const gap = chooseGap(widths, room - 2 * SIDE);
  let right = SIDE;
  const lefts = widths.map((width) => {
    const left = right;
    right += width + gap;
    return left;
  });
  const middles = lefts.map((left, i) => left + widths[i] / 2);
  const levels = stackArcs(arcs, tokens.length);
  const wordTop = Math.max(0, ...levels) * LEVEL + BASE + 10;
  const ends = spreadEnds(arcs, middles, widths);
  return {
    width: right - gap + SIDE,
    height: wordTop + 26,
    wordTop,
    words: middles.map((middle, i) => ({ middle, width: widths[i] + 2 * Math.min(5, 0.4 * gap) })),
    arcs: arcs.map((arc, i) => ({
      path: arch(...ends[i], wordTop - 4, wordTop - BASE - levels[i] * LEVEL),
      foot: [ends[i][arc.dependent > arc.head ? 1 : 0], wordTop - 4],
    })),
  };
}

/** The widest gap at which the words fit, if one does. */
function chooseGap(widths, room) {
  const taken = widths.reduce((sum, width) => sum + width, 0);
  const [least, most] = GAPS;
  return Math.min(most, Math.max(least, (room - taken) / Math.max(1, widths.length - 1)));
}

/** Left and right end of each arc; where several meet at a word, the longest is outermost. */
function spreadEnds(arcs, middles, widths) {
  const ends = arcs.map(({ head, dependent }) => [
    middles[Math.min(head, dependent)],
    middles[Math.max(head, dependent)],
  ]);
  middles.forEach((_, word) => {
    for (const [side, isHere] of [
      [0, ({ head, dependent }) => Math.min(head, dependent) === word],
      [1, ({ head, dependent }) => Math.max(head, dependent) === word],
    ]) {
      const here = [...arcs.keys()].filter((i) => isHere(arcs[i]));
      const reach = (i) => Math.abs(arcs[i].head - arcs[i].dependent);
      here.sort((a, b) => reach(b) - reach(a));
      const step = Math.min(SPREAD, widths[word] / 2 / (here.length + 1));
      here.forEach((i, place) => {
        ends[i][side] += (side === 0 ? 1 : -1) * step * (place + 0.6);
      });
    }
  });
  return ends;
}

/** An arch from one end to the other, round where it is narrow, flat on top where it is wide. */
function arch(left, right, bottom, top) {
  const bend = Math.min((right - left) / 2, 30);
  return (
    `M${left} ${bottom}C${left} ${top} ${left} ${top} ${left + bend} ${top}` +
    `H${right - bend}C${right} ${top} ${right} ${top} ${right} ${bottom}`
  );
}

/** Runs of tokens that have some stems, as lists of token numbers. */
export function findStems(tokens, stems) {
  const runs = [];
  for (let at = 0; at + stems.length <= tokens.length; at += 1) {
    if (stems.every((stem, i) => tokens[at + i].stem === stem)) {
      runs.push(stems.map((_, i) => at + i));
    }
  }
  return runs;
}
