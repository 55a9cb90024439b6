"""Decode corpora with a model, keep the predictions, and score them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phraseloom.cli import arguments
from phraseloom.cli.console import document_progress, print_table, say
from phraseloom.errors import ConfigError, CorpusError, PhraseloomError
from phraseloom.evaluate.phrases import Split
from phraseloom.text.words import printable

if TYPE_CHECKING:
    from rich.table import Table

    from phraseloom.evaluate.report import Report
    from phraseloom.extractor import Extractor
    from phraseloom.io.records import CorpusDocument
    from phraseloom.options import Options

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


def evaluate(
    model: Annotated[str, typer.Argument(help="name of a model, or its directory, such as ./mine")],
    corpora: Annotated[list[Path], typer.Argument(help="corpus files with reference phrases")],
    settings: arguments.Settings = None,
    top: arguments.Top = None,
    style: arguments.Style = None,
    diversity: arguments.Diversity = None,
    min_score: arguments.MinScore = None,
    threads: arguments.Threads = 1,
    split: Annotated[Split, typer.Option(help="how the corpora part words")] = Split.spaces,
    out: Annotated[Path | None, typer.Option(help="folder for the predictions")] = None,
    as_json: arguments.AsJson = False,
) -> None:
    """Find the keyphrases of corpora and score them; predictions can be scored again later."""
    from phraseloom.evaluate.files import (  # here and below: start-up time
        read_documents,
        score_predictions,
        write_predictions,
    )
    from phraseloom.extractor import Extractor
    from phraseloom.options import Options

    options = Options(top=top, style=style, diversity=diversity, min_score=min_score)
    names = _names_of(corpora)
    documents_of = {name: read_documents(path) for name, path in zip(names, corpora, strict=True)}
    if out is not None:
        _make_folder(out)  # now: a wrong name must not cost the decoding
    extractor = _with_settings(Extractor.load(model, threads=threads), settings or [])
    reports = {}
    for name, documents in documents_of.items():
        lists = _predict(extractor, documents, options, title=name)
        if out is not None:
            write_predictions(out / f"{name}.predictions.jsonl", documents, lists)
            say(f"predictions written to {out / f'{name}.predictions.jsonl'}")
        texts = [[str(phrase["text"]) for phrase in phrases] for phrases in lists]
        reports[name] = score_predictions(documents, texts, split)
    if as_json:
        flat = {name: {"documents": r.documents, **r.values} for name, r in reports.items()}
        typer.echo(json.dumps(flat, indent=1))
    else:
        print_table(_table(reports))


def _names_of(corpora: Sequence[Path]) -> list[str]:
    from phraseloom.io.records import corpus_name

    names = [corpus_name(corpus) for corpus in corpora]
    if twice := [name for i, name in enumerate(names) if name in names[:i]]:
        raise CorpusError(f"two corpora are called {twice[0]}; evaluate one after the other")
    return names


def _with_settings(extractor: "Extractor", settings: Sequence[str]) -> "Extractor":
    """The extractor with another search."""
    from phraseloom.config import Config, override

    for setting in settings:
        if not setting.startswith("search."):
            raise ConfigError(f"--set {setting}: of a trained model only search.… can be changed")
    config = override(Config(search=extractor.search), settings)
    return extractor.with_search(**config.search.model_dump())


def _predict(
    extractor: "Extractor", documents: "Sequence[CorpusDocument]", options: "Options", *, title: str
) -> list[list[dict[str, Any]]]:
    lists = []
    with document_progress(title) as on_progress:
        sources = (document.source for document in documents)
        for phrases in extractor.extract_many(sources, options, progress=False):
            lists.append([{"text": p.text, "score": p.score} for p in phrases])
            on_progress(len(lists), len(documents))
    return lists


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PhraseloomError(f"cannot make folder {path}: {error.strerror}") from None


def _table(reports: dict[str, "Report"]) -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    title = "present keyphrases, macro averages"
    table = Table(title=title, box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("corpus", overflow="fold")
    for heading in ("docs", *_COLUMNS):  # all of them fit into 80 columns
        table.add_column(heading, justify="right", no_wrap=True)
    for name, report in reports.items():
        values = [f"{report.values[key]:.3f}" for key in _COLUMNS.values()]
        table.add_row(Text(printable(name)), str(report.documents), *values)
    return table
