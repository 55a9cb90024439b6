"""Twelve texts of twelve kinds, and the lists of phraseloom, YAKE and KeyBERT beside each other."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from experiments.peers import PEERS, find_python, how_to_install, predict
from experiments.results import ROOT
from phraseloom.errors import PhraseloomError
from phraseloom.extractor import Extractor
from phraseloom.io.atomic import write_text
from phraseloom.io.records import CorpusDocument
from phraseloom.text.document import Source

SAMPLES = ROOT / "src" / "phraseloom" / "web" / "samples.js"
_SHOWN = ("yake", "keybert-vectorizers")
_INTRODUCTION = """# Twelve kinds of text

What phraseloom, YAKE and KeyBERT (with KeyphraseVectorizers, on MiniLM) list of texts that were
written for this page, none of them picked by its lists: phraseloom without any option, the others
{top} phrases, in natural case as each gives them. The same texts are the samples of the page that
`phraseloom serve` opens. Made by `python -m experiments gallery`.
"""


def run(
    model: Annotated[str | None, typer.Option(help="ours; none: the default")] = None,
    top: Annotated[int, typer.Option(min=1, help="phrases of the others")] = 8,
    environments: Annotated[Path, typer.Option(help="folder of the others' environments")] = Path(
        "runs/peers"
    ),
    out: Annotated[Path, typer.Option(help="page to write")] = ROOT / "docs" / "gallery.md",
) -> None:
    """Write the page."""
    texts = read_samples(SAMPLES)
    extractor = Extractor.load(model)
    columns = {"phraseloom": [[p.text for p in extractor.extract(d.source)] for d in texts]}
    for name in _SHOWN:
        python = find_python(name, environments)
        if python is None:
            raise PhraseloomError(how_to_install(name, environments))
        lists, _ = predict(name, python, texts, top, None)
        columns[PEERS[name].title.partition(" ")[0].rstrip(",")] = lists
    write_text(out, [_INTRODUCTION.format(top=top), *_sections(texts, columns)])
    typer.echo(f"wrote {out}")


def read_samples(path: Path) -> list[CorpusDocument]:
    """The texts of the page, which stand in its script as JSON."""
    script = path.read_text(encoding="utf-8")
    rows = json.loads(script[script.index("[") : script.rindex("]") + 1])
    return [
        CorpusDocument(row["name"], "samples", Source(row["text"], row["title"]), ())
        for row in rows
    ]


def _sections(
    texts: Sequence[CorpusDocument], columns: dict[str, list[list[str]]]
) -> Sequence[str]:
    sections = []
    for number, document in enumerate(texts):
        lists = [f"| {name} | {'; '.join(of[number])} |\n" for name, of in columns.items()]
        sections.append(
            f"\n## {document.id}\n\n> **{document.source.title}.** {document.source.text}\n\n"
            f"| | keyphrases |\n|:---|:---|\n{''.join(lists)}"
        )
    return sections
