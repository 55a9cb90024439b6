"""Decode corpora with a model, keep the predictions, and score them."""

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phraseloom.cli.progress import document_progress
from phraseloom.cli.score import Split
from phraseloom.errors import CorpusError, PhraseloomError

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
    expected = "expected"


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
    floor: Annotated[float | None, typer.Option(min=0, max=1, help="least chance")] = None,
    order: Annotated[Order | None, typer.Option(help="of the phrases")] = None,
    top: Annotated[int | None, typer.Option(min=1, help="exactly so many phrases")] = None,
    style: Annotated[str | None, typer.Option(help="kind of annotator")] = None,
    split: Annotated[Split, typer.Option(help="how the corpora part words")] = Split.spaces,
    out: Annotated[Path | None, typer.Option(help="folder for the predictions")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="all values, by corpus")] = False,
) -> None:
    """Find the keyphrases of corpora and score them; predictions can be scored again later."""
    changes: dict[str, Any] = {"mode": mode, "width": beam, "lambda1": lambda1, "lambda2": lambda2}
    changes |= {"alpha": alpha, "stop": stop, "floor": floor, "order": order}
    if variant is Variant.plain:
        changes |= _without_diversity(changes)
    # here: reading corpora and torch take seconds to load
    from phraseloom.data.corpus import corpus_name
    from phraseloom.extractor import Extractor

    names = [corpus_name(corpus) for corpus in corpora]
    if twice := [name for i, name in enumerate(names) if name in names[:i]]:
        raise CorpusError(f"two corpora are called {twice[0]}; evaluate one after the other")
    read = {name: read_documents(path) for name, path in zip(names, corpora, strict=True)}
    if out is not None:
        _make_folder(out)  # now: a wrong name must not cost the decoding
    extractor = Extractor.load(model)
    extractor.search = _changed(extractor.search, changes)
    reports = {}
    for name, documents in read.items():
        phrases = _predict(extractor, documents, top=top, style=style, title=name)
        if out is not None:
            write_predictions(out / f"{name}.predictions.jsonl", documents, phrases)
        texts = [[str(each["text"]) for each in found] for found in phrases]
        reports[name] = score_predictions(documents, texts, split)
    if as_json:
        flat = {name: {"documents": r.documents, **r.values} for name, r in reports.items()}
        typer.echo(json.dumps(flat, indent=1))
        return
    from rich.console import Console

    Console().print(_table(reports))


def _without_diversity(changes: Mapping[str, Any]) -> dict[str, float]:
    if given := [name for name in ("lambda1", "lambda2") if changes[name]]:
        raise PhraseloomError(f"--variant plain has no diversity terms; leave out --{given[0]}")
    return {"lambda1": 0.0, "lambda2": 0.0}


def _changed(search: "SearchConfig", changes: Mapping[str, Any]) -> "SearchConfig":
    given = {name: value for name, value in changes.items() if value is not None}
    return type(search).model_validate(search.model_dump() | given)


def read_documents(corpus: Path) -> list["CorpusDocument"]:
    """Documents of a corpus that can be scored: some of them have reference phrases."""
    from phraseloom.data.corpus import read_corpus  # here: start-up time

    documents = list(read_corpus(corpus, strict=True))
    if not documents:
        raise CorpusError(f"{corpus} has no documents")
    if not any(document.keywords for document in documents):
        raise CorpusError(f"{corpus} has no reference phrases to score against")
    return documents


def _predict(
    extractor: "Extractor",
    documents: Sequence["CorpusDocument"],
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


def write_predictions(
    path: Path, documents: Sequence["CorpusDocument"], phrases: Sequence[Sequence[object]]
) -> None:
    """Write rows that ``phraseloom score --predictions`` reads."""
    lines = [
        json.dumps({"id": document.id, "phrases": found}, ensure_ascii=False)
        for document, found in zip(documents, phrases, strict=True)
    ]
    _make_folder(path.parent)
    try:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise PhraseloomError(f"cannot write {path}: {error.strerror}") from None
    typer.echo(f"predictions written to {path}", err=True)


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PhraseloomError(f"cannot make folder {path}: {error.strerror}") from None


def score_predictions(
    documents: Sequence["CorpusDocument"], phrases: Sequence[Sequence[str]], split: Split
) -> "Report":
    """Score lists of phrases, one a document, as ``phraseloom score`` would."""
    # here: start-up time
    from phraseloom.evaluate.phrases import judge_text, split_spaces, split_words
    from phraseloom.evaluate.report import score_documents

    part_words = split_words if split is Split.words else split_spaces
    return score_documents(
        [
            judge_text(
                f"{document.source.title} {document.source.text}",
                document.keywords,
                found,
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
