// The page: what the reader asks for goes to a source of results; what comes back is shown.

import { Problem, Saved, Server } from "./api.js";
import { byId, element } from "./dom.js";
import { asCsv, asJson, asLines, copy, download } from "./export.js";
import { OptionsForm } from "./options.js";
import { linkOnHover, showPhrases } from "./phrases.js";
import { SAMPLES } from "./samples.js";
import { Steps } from "./steps.js";
import { offerTheme } from "./theme.js";

const WAIT = 120; // milliseconds that an option rests before it is asked for

const saved = byId("saved");
const source = saved ? new Saved(JSON.parse(saved.textContent)) : new Server();
const steps = new Steps();
const options = new OptionsForm(() => {
  if (result) refreshSoon();
});
let result = null;
let asking = null; // what aborts the request on its way
let timer = null;

function request() {
  return { text: byId("text").value, title: byId("title").value, ...options.read() };
}

async function refresh() {
  clearTimeout(timer);
  asking?.abort();
  const own = new AbortController();
  asking = own;
  const wanted = request();
  if (!`${wanted.text}${wanted.title}`.trim()) {
    clear("Paste a text first; there is nothing to read yet.");
    return;
  }
  document.body.classList.add("busy");
  const start = performance.now();
  try {
    const answer = await source.extract(wanted, own.signal);
    if (own === asking) show(answer, (performance.now() - start) / 1000);
  } catch (error) {
    if (own === asking) complain(error);
  } finally {
    if (own === asking) document.body.classList.remove("busy");
  }
}

function refreshSoon() {
  clearTimeout(timer);
  timer = setTimeout(refresh, WAIT);
}

function show(answer, seconds) {
  result = answer;
  byId("problem").hidden = true;
  options.showDiversity(answer.search.diversity);
  showPhrases(answer);
  steps.show(answer);
  setReading(true);
  const count = answer.keyphrases.length;
  const phrases = count ? `${count} ${count === 1 ? "phrase" : "phrases"}` : "No phrases in this text";
  const found = answer.kind ? `${phrases} (style auto: ${answer.kind})` : phrases;
  byId("status").textContent = source.canSearch ? `${found}, in ${seconds.toFixed(2)} s` : found;
  for (const id of ["copy", "csv", "json"]) byId(id).disabled = !count;
}

function clear(message) {
  result = null;
  document.body.classList.remove("busy");
  byId("problem").hidden = true;
  byId("list").replaceChildren();
  byId("graph").hidden = true;
  byId("status").textContent = message;
  for (const id of ["copy", "csv", "json"]) byId(id).disabled = true;
  setReading(false);
}

function complain(error) {
  if (!(error instanceof Problem)) throw error;
  byId("status").textContent = "";
  byId("problem-text").textContent = error.message;
  byId("token-line").hidden = error.status !== 401;
  byId("problem").hidden = false;
  if (error.status === 401) byId("token").focus();
}

/** Show the text with its marks, or let it be edited. */
function setReading(is) {
  byId("form").hidden = is;
  byId("reading").hidden = !is;
  byId("edit").hidden = !is || !source.canSearch;
}

function take({ title = "", text }) {
  byId("title").value = title;
  byId("text").value = text;
  refresh();
}

async function takeFile(file) {
  const text = await file.text();
  if (text.includes("\0")) {
    byId("status").textContent = `${file.name} is not plain text; try: phraseloom show ${file.name}`;
    return;
  }
  take({ text });
}

function listenToText() {
  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    refresh();
  });
  byId("text").addEventListener("paste", () => setTimeout(refresh));
  byId("text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) refresh();
  });
  byId("edit").addEventListener("click", () => {
    setReading(false);
    byId("text").focus();
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    const { files } = event.dataTransfer;
    const text = event.dataTransfer.getData("text/plain");
    if (!files.length && (!text || event.target.closest("textarea, input"))) return;
    event.preventDefault();
    if (files.length) takeFile(files[0]);
    else take({ text });
  });
  byId("samples").append(
    ...SAMPLES.map((sample) =>
      element("button", { type: "button", textContent: sample.name, onclick: () => take(sample) }),
    ),
  );
}

/** Ask again, with the token if one was asked for; it is kept in this page's memory only. */
function retry() {
  source.token = byId("token").value.trim();
  offerStyles();
  refresh();
}

async function offerStyles() {
  options.offerStyles(await source.styles());
}

function listenToButtons() {
  byId("copy").addEventListener("click", async () => {
    const isDone = await copy(asLines(result.keyphrases));
    byId("status").textContent = isDone ? "Copied, one phrase a line" : "The browser does not let us copy";
  });
  byId("csv").addEventListener("click", () => download("keyphrases.csv", "text/csv", asCsv(result.keyphrases)));
  byId("json").addEventListener("click", () => download("keyphrases.json", "application/json", asJson(result)));
  byId("retry").addEventListener("click", retry);
  byId("token").addEventListener("keydown", (event) => {
    if (event.key === "Enter") retry();
  });
}

function start() {
  offerTheme(byId("theme"));
  linkOnHover();
  listenToButtons();
  if (source.canSearch) {
    listenToText();
    offerStyles();
    byId("status").textContent = "The phrases of your text will appear here.";
  } else {
    for (const id of ["samples", "diversity-slider", "options"]) byId(id).hidden = true;
    byId("top").max = source.most;
    byId("foot").textContent = "Saved with phraseloom show. Run phraseloom serve to search other texts.";
    take(source);
  }
}

start();
