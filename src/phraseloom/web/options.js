// What the reader asks for, as the options of a request; each field goes by its option's name.

import { byId, element } from "./dom.js";

const LISTS = ["candidates", "seeds", "exclude"];
const NUMBERS = ["min_words", "max_words", "min_score"];
export const FIELDS = ["top", "diversity", "style", ...LISTS, ...NUMBERS];

/** Phrases apart by commas, semicolons or lines. */
export function splitPhrases(text) {
  return text.split(/[,;\n]/).map((phrase) => phrase.trim()).filter(Boolean);
}

/** Options from what stands in the fields; what says nothing is left to the model. */
export function readOptions(values) {
  const options = { top: Number(values.top) || null };
  if (values.diversity) options.diversity = Number(values.diversity);
  if (values.style) options.style = values.style;
  for (const name of LISTS) {
    const phrases = splitPhrases(values[name] ?? "");
    if (phrases.length) options[name] = phrases;
  }
  for (const name of NUMBERS) if (values[name]) options[name] = Number(values[name]);
  return options;
}

/** The fields of the page. */
export class OptionsForm {
  #isDiversityChosen = false; // until then the model's own setting holds

  /** Call `onChange` whenever the reader asks for something else. */
  constructor(onChange) {
    for (const name of FIELDS) {
      byId(name).addEventListener("input", () => {
        if (name === "diversity") this.#isDiversityChosen = true;
        this.nameValues();
        onChange();
      });
    }
    this.nameValues();
  }

  read() {
    const values = Object.fromEntries(FIELDS.map((name) => [name, byId(name).value]));
    return readOptions({ ...values, diversity: this.#isDiversityChosen ? values.diversity : "" });
  }

  /** Offer the styles that the model knows; none: there is nothing to choose. */
  offerStyles(styles) {
    const choices = styles.map((style) => element("option", { value: style, textContent: style }));
    byId("style").replaceChildren(element("option", { value: "", textContent: "the model's own" }), ...choices);
    byId("style-line").hidden = !styles.length;
  }

  /** Let the slider stand where the model's own diversity is. */
  showDiversity(diversity) {
    if (!this.#isDiversityChosen) byId("diversity").value = diversity;
    this.nameValues(true);
  }

  nameValues(isKnown = this.#isDiversityChosen) {
    const top = Number(byId("top").value) || "as the model likes";
    byId("top-value").textContent = top;
    byId("top").setAttribute("aria-valuetext", top);
    byId("diversity-value").textContent = isKnown ? Number(byId("diversity").value).toFixed(2) : "";
  }
}
