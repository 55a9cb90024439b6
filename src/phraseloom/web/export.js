// The result to take along: on the clipboard, as CSV, as JSON.

import { element } from "./dom.js";

export function asLines(keyphrases) {
  return keyphrases.map((phrase) => `${phrase.text}\n`).join("");
}

export function asCsv(keyphrases) {
  const rows = keyphrases.map(({ rank, text, score, spans }) => {
    const [start, end] = spans[0] ?? ["", ""];
    return [rank, quote(text), String(score), start, end];
  });
  return [["rank", "text", "score", "start", "end"], ...rows]
    .map((row) => `${row.join(",")}\n`)
    .join("");
}

/** A cell of text; one that a spreadsheet would take for a formula begins with an apostrophe. */
function quote(text) {
  const cell = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

export function asJson({ title, keyphrases }) {
  return `${JSON.stringify({ title, keyphrases }, null, 1)}\n`;
}

export function download(name, type, content) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Copy a text; says whether it could. Without HTTPS browsers only have the old way. */
export async function copy(text) {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // not allowed; the old way may be
    }
  }
  const box = element("textarea", { value: text, className: "hidden" });
  document.body.append(box);
  box.select();
  const isDone = document.execCommand("copy");
  box.remove();
  return isDone;
}
