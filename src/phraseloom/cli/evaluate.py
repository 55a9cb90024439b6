"""Decode corpora with a model, keep the predictions, and score them."""

import json
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phraseloom.cli.progress import document_progress
from phraseloom.cli.score import Split
from phraseloom.errors import CorpusError

if TYPE_CHECKING:
    from rich.table import Table

    from phraseloom.config import SearchConfig
    from phraseloom.data.corpus import CorpusDocument
    from phraseloom.evaluate.report import Report
    from phraseloom.extractor import Extractor

_COLUMNS = {
    "F1@5": "present.filled.macro.f1@5",
    "F1@M": "present.macro.f1@M",
    "F1@10": "present.filled.macro.f1@10",
    "F1@O": "present.filled.macro.f1@O",
    "NDCG@10": "present.ndcg@10",
    "Avg. #": "present.predicted",
    "Corr. #": "present.correct",
    "nested": "present.nested_rate",
}


class Variant(StrEnum):
    """Which inference: with the diversity terms or without."""

    div = "div"
    plain = "plain"


class Mode(StrEnum):
    """What may be said: only what stands in the text, or anything."""

    extractive = "extractive"
    free = "free"


class Order(StrEnum):
    """Of the list of phrases."""

    decoding = "decoding"
    score = "score"


def evaluate(
    model: Annotated[Path, typer.Argument(help="model directory")],
    corpora: Annotated[list[Path], typer.Argument(help="corpus files with reference phrases")],
    variant: Annotated[Variant, typer.Option(help="plain: λ1 = λ2 = 0")] = Variant.div,
    mode: Annotated[Mode | None, typer.Option(help="default: the model's")] = None,
    beam: Annotated[int | None, typer.Option(min=1, help="hypotheses per document")] = None,
    lambda1: Annotated[float | None, typer.Option(min=0, help="dissimilarity")] = None,
    lambda2: Annotated[float | None, typer.Option(min=0, help="sibling rank")] = None,
    alpha: Annotated[float | None, typer.Option(min=0, help="length penalty")] = None,
    stop: Annotated[float | None, typer.Option(min=0.01, max=1, help="threshold τ")] = None,
    order: Annotated[Order | None, typer.Option(help="of the phrases")] = None,
    top: Annotated[int | None, typer.Option(min=1, help="exactly so many phrases")] = None,
    style: Annotated[str | None, typer.Option(help="kind of annotator")] = None,
    split: Annotated[Split, typer.Option(help="how the corpora part words")] = Split.spaces,
    out: Annotated[Path | None, typer.Option(help="folder for the predictions")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="all values, by corpus")] = False,
) -> None:
    """Find the keyphrases of corpora and score them; predictions can be scored again later."""
    from phraseloom.extractor import Extractor  # here: torch takes seconds to load

    extractor = Extractor.load(model)
    changes: dict[str, Any] = {"mode": mode, "width": beam, "lambda1": lambda1, "lambda2": lambda2}
    changes |= {"alpha": alpha, "stop": stop, "order": order}
    if variant is Variant.plain:
        changes |= {"lambda1": 0.0, "lambda2": 0.0}
    extractor.search = _changed(extractor.search, changes)
    reports = {}
    for corpus in corpora:
        documents = list(_documents(corpus))
        phrases = _predict(extractor, documents, top=top, style=style, title=corpus.name)
        if out is not None:
            _write(out / f"{corpus.name.split('.')[0]}.predictions.jsonl", documents, phrases)
        reports[corpus.name.split(".")[0]] = _report(documents, phrases, split)
    if as_json:
        typer.echo(json.dumps({name: report.values for name, report in reports.items()}, indent=1))
        return
    from rich.console import Console

    Console().print(_table(reports))


def _changed(search: "SearchConfig", changes: dict[str, Any]) -> "SearchConfig":
    given = {name: value for name, value in changes.items() if value is not None}
    return type(search).model_validate(search.model_dump() | given)


def _documents(corpus: Path) -> Iterator["CorpusDocument"]:
    from phraseloom.data.corpus import read_corpus

    empty = True
    for document in read_corpus(corpus, strict=True):
        empty = False
        yield document
    if empty:
        raise CorpusError(f"{corpus} has no documents")


def _predict(
    extractor: "Extractor",
    documents: list["CorpusDocument"],
    *,
    top: int | None,
    style: str | None,
    title: str,
) -> list[list[dict[str, Any]]]:
    rows = []
    with document_progress(title) as on_progress:
        sources = (document.source for document in documents)
        for phrases in extractor.extract_many(sources, top=top, style=style):
            rows.append([{"text": each.text, "score": round(each.score, 6)} for each in phrases])
            on_progress(len(rows), len(documents))
    return rows


def _write(
    path: Path, documents: list["CorpusDocument"], phrases: list[list[dict[str, Any]]]
) -> None:
    """Rows that ``phraseloom score --predictions`` reads."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        json.dumps({"id": document.id, "phrases": found}, ensure_ascii=False)
        for document, found in zip(documents, phrases, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    typer.echo(f"predictions written to {path}", err=True)


def _report(
    documents: list["CorpusDocument"], phrases: list[list[dict[str, Any]]], split: Split
) -> "Report":
    from phraseloom.evaluate.phrases import judge_text, split_spaces, split_words
    from phraseloom.evaluate.report import score_documents

    part_words = split_words if split is Split.words else split_spaces
    return score_documents(
        [
            judge_text(
                f"{document.source.title} {document.source.text}",
                document.keywords,
                [str(each["text"]) for each in found],
                split=part_words,
            )
            for document, found in zip(documents, phrases, strict=True)
        ]
    )


def _table(reports: dict[str, "Report"]) -> "Table":
    from rich.table import Table

    table = Table("corpus", "documents", *_COLUMNS, title="present keyphrases, macro averages")
    for name, report in reports.items():
        values = [f"{report.values[key]:.3f}" for key in _COLUMNS.values()]
        table.add_row(name, str(report.documents), *values)
    return table
