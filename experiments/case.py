"""One document, all models side by side, as a page; reference phrases are underlined."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Annotated, Any

import typer

from experiments import options
from experiments.ablation import inference_settings
from experiments.results import read_result, write_result
from experiments.tables import write_text
from phraseloom.cli.reading import read_text
from phraseloom.cli.score import Split
from phraseloom.data.corpus import CorpusDocument, read_corpus
from phraseloom.errors import PhraseloomError
from phraseloom.evaluate.phrases import split_spaces, split_words
from phraseloom.extractor import Extractor
from phraseloom.model.checkpoint import BEST, load_model
from phraseloom.text.document import Source
from phraseloom.text.parse import load_parser
from phraseloom.text.spans import Span, SpanIndex
from phraseloom.text.stem import stem

_TITLES = {"plain": "plain inference", "div": "diversified inference"}

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 Georgia, serif; color: #1b1b1b; max-width: 62rem; margin: 2rem auto;
  padding: 0 1rem; }}
h1 {{ font-size: 1.4rem; line-height: 1.25; }}
u {{ text-decoration: underline 2px #0b5394; text-underline-offset: 3px; }}
.legend, small {{ color: #555; font-size: .85rem; }}
.models {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr));
  gap: 1rem; }}
section {{ border: 1px solid #ccc; border-radius: 6px; padding: .5rem 1rem; break-inside: avoid; }}
h2 {{ font-size: 1rem; margin: .3rem 0; }}
ol {{ margin: .3rem 0; padding-left: 1.5rem; }}
</style>
</head>
<body>
<h1 dir="auto">{heading}</h1>
<p dir="auto">{text}</p>
<p class="legend">Underlined: reference phrases in the text, and those that a model found.
Reference: {gold}.</p>
<div class="models">
{models}
</div>
</body>
</html>
"""


def run(
    models: Annotated[list[Path] | None, typer.Argument(help="model directories")] = None,
    text: Annotated[Path | None, typer.Option(help="a text file")] = None,
    title: Annotated[str, typer.Option(help="of that text")] = "",
    gold: Annotated[str, typer.Option(help="its reference phrases, separated by ;")] = "",
    corpus: Annotated[Path | None, typer.Option(help="or a corpus that holds the text")] = None,
    id: Annotated[str | None, typer.Option(help="of the document in it; default: first")] = None,
    split: Annotated[Split, typer.Option(help="how the text parts words")] = Split.words,
    settings: options.Settings = None,
    chosen: options.Chosen = None,
    results: options.Results = options.DEFAULT_RESULTS,
    draw_only: options.DrawOnly = False,
) -> None:
    """Show what models find in one document, with and without diversified inference."""
    if not draw_only:
        if not models or (text is None) == (corpus is None):
            raise PhraseloomError(
                "name model directories, and a document with --text or with --corpus"
            )
        if text is not None:
            phrases = [each.strip() for each in gold.split(";")]
            source = Source(read_text(text), title)
            document = CorpusDocument("", "", source, tuple(filter(None, phrases)))
        else:
            assert corpus is not None
            document = _find(corpus, id)
        content = measure(document, models, split, settings, chosen)
        write_result(results / "case.json", content)
    typer.echo(draw(results))


def _find(corpus: Path, id: str | None) -> CorpusDocument:
    for document in read_corpus(corpus, strict=True):
        if id in (None, document.id):
            return document
    raise PhraseloomError(f"{corpus} has no document {id or ''}".rstrip())


def measure(
    document: CorpusDocument,
    models: Sequence[Path],
    split: Split,
    settings: Sequence[str] | None,
    chosen: Path | None,
) -> dict[str, Any]:
    """What each model finds under each inference, and where the reference phrases stand."""
    parser = load_parser()
    parsed = parser.parse_batch([document.source])
    part_words = split_words if split is Split.words else split_spaces

    def stems(phrase: str) -> tuple[str, ...]:
        return tuple(stem(word) for word in part_words(phrase))

    gold = {stems(phrase) for phrase in document.keywords}
    found = [SpanIndex(parsed[0]).find(phrase) for phrase in sorted(gold)]
    lists = []
    for path in models:
        model, lexicon, config = load_model(path)
        search = options.change_search(config.search, settings, chosen)
        for inference, changed in inference_settings(search).items():
            extractor = Extractor(model, lexicon, changed, parser)
            phrases = [
                {"text": each.text, "score": each.score, "is_right": stems(each.text) in gold}
                for each in extractor.extract_parsed(parsed)[0]
            ]
            about = {"model": _label(path), "inference": inference, "search": changed.model_dump()}
            lists.append({**about, "phrases": phrases})
    return {
        "title": document.source.title,
        "text": document.source.text,
        "gold": list(document.keywords),
        "spans": sorted(span for each in found for span in each.spans),
        "title_spans": sorted(span for each in found for span in each.title_spans),
        "lists": lists,
    }


def _label(path: Path) -> str:
    return path.parent.name if path.name == BEST else path.name


def draw(results: Path) -> Path:
    """Write the page; give its place."""
    content = read_result(results / "case.json")
    page = _PAGE.format(
        title=escape(content["title"]) or "Keyphrases",
        heading=underline(content["title"], content["title_spans"]) or "Keyphrases",
        text=underline(content["text"], content["spans"]),
        gold=escape("; ".join(content["gold"])) or "none",
        models="\n".join(_section(each) for each in content["lists"]),
    )
    path = results / "case.html"
    write_text(path, page)
    return path


def underline(text: str, spans: Sequence[Span]) -> str:
    """HTML of a text with some ranges underlined; ranges that overlap become one.

    >>> underline("a < b, c", [(0, 5), (4, 5)])
    '<u>a &lt; b</u>, c'
    """
    parts, end = [], 0
    for start, stop in merge_spans(spans):
        parts += [escape(text[end:start]), f"<u>{escape(text[start:stop])}</u>"]
        end = stop
    return "".join([*parts, escape(text[end:])])


def merge_spans(spans: Sequence[Span]) -> list[Span]:
    """Ranges in order, none of which overlaps another."""
    merged: list[Span] = []
    for start, stop in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


def _section(each: dict[str, Any]) -> str:
    items = [
        f"<li>{_phrase(phrase)} <small>{phrase['score']:.2f}</small></li>"
        for phrase in each["phrases"]
    ]
    right = sum(phrase["is_right"] for phrase in each["phrases"])
    heading = f"{escape(each['model'])}, {_TITLES[each['inference']]}"
    count = f"<small>{right} of {len(items)} right</small>"
    return f"<section><h2>{heading}</h2>{count}<ol>{''.join(items)}</ol></section>"


def _phrase(phrase: dict[str, Any]) -> str:
    text = escape(phrase["text"])
    return f"<u>{text}</u>" if phrase["is_right"] else text
