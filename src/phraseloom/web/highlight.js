"use strict";
// Pointing at a phrase, in the text or in the list, shows all its places and its line in the list.

function show(article, ranks) {
  for (const element of document.querySelectorAll(".shown")) element.classList.remove("shown");
  for (const rank of ranks) {
    for (const element of article.querySelectorAll(`[data-ranks~="${rank}"]`)) {
      element.classList.add("shown");
    }
  }
}

for (const kind of ["pointerover", "focusin"]) {
  document.addEventListener(kind, (event) => {
    const target = event.target.closest("[data-ranks]");
    show(target ? target.closest("article") : document, target ? target.dataset.ranks.split(" ") : []);
  });
}
