"use strict";
// Pointing at a word shows its arcs and their other ends; at an arc, its ends; at a legend, a group.

function show(root, arcs, words) {
  clear(document);
  root.classList.add("focused");
  for (const arc of arcs) {
    arc.classList.add("shown");
    const svg = arc.ownerSVGElement;
    for (const place of [arc.dataset.head, arc.dataset.dependent]) {
      svg.querySelector(`[data-word="${place}"]`).classList.add("shown");
    }
  }
  for (const word of words) word.classList.add("shown", "chosen");
}

function clear(root) {
  for (const name of ["focused", "shown", "chosen"]) {
    for (const element of root.querySelectorAll("." + name)) element.classList.remove(name);
  }
}

document.addEventListener("pointerover", (event) => {
  const target = event.target.closest("[data-word], [data-head], [data-group]");
  if (!target) return clear(document);
  if (target.dataset.group) {
    const main = document.querySelector("main");
    return show(main, main.querySelectorAll(".arc." + target.dataset.group), []);
  }
  const svg = target.ownerSVGElement;
  if (target.dataset.head) return show(svg, [target], []);
  const place = target.dataset.word;
  const arcs = svg.querySelectorAll(`[data-head="${place}"], [data-dependent="${place}"]`);
  show(svg, arcs, [target]);
});
