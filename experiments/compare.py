"""Training runs beside each other on validation documents: what differs, its cost and its gain.

Runs that differ in nothing but their seed are one row.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from experiments import options
from experiments.ablation import spread
from experiments.results import Result, Row, write_result
from experiments.sample import AT_5, AT_M, open_sample
from experiments.tables import Table, to_markdown
from phraseloom.config import Config
from phraseloom.errors import PhraseloomError
from phraseloom.train.metrics_log import METRICS, MetricsEntry, read_entries

_SCORES = {"F1@5": AT_5, "F1@M": AT_M}
_IGNORED = {"train.seed", "train.threads"}


def run(
    runs: Annotated[list[Path], typer.Argument(help="directories of runs")],
    corpus: options.Corpus = options.DEFAULT_CORPUS,
    documents: options.Documents = 600,
    settings: options.Settings = None,
    label: options.Label = "",
    results: options.Results = options.DEFAULT_RESULTS,
    pictures: options.Pictures = options.DEFAULT_PICTURES,
) -> None:
    """Decode the same validation documents with every run."""
    rows = [measure(directory, corpus, documents, settings) for directory in runs]
    content = {"corpus": str(corpus), "documents": documents, "rows": rows}
    written = write_result(results / f"{options.labelled('compare', label)}.json", content)
    typer.echo(to_markdown(*draw(written, pictures)))


def measure(run: Path, corpus: Path, documents: int, settings: Sequence[str] | None) -> Row:
    """What a run was, what it cost and what its best weights score."""
    validations = read_validations(run)
    sample = open_sample(run, corpus, documents=documents)
    search = options.change_search(sample.config.search, settings)
    values = sample.score(sample.decode(search, title=run.name))
    return {
        "run": run.name,
        "settings": _flat(sample.config),
        "seen": validations[-1]["documents"],
        "seconds": validations[-1]["seconds"],
        "perplexity": min(entry["perplexity"] for entry in validations),
        "search": search.model_dump(),
        "values": {title: values[key] for title, key in _SCORES.items()},
    }


def read_validations(run: Path) -> list[MetricsEntry]:
    """What a run measured on validation documents while it learned; at least one entry."""
    entries = [entry for entry in read_entries(run / METRICS) if "perplexity" in entry]
    if not entries:
        raise PhraseloomError(f"{run} has measured nothing yet; let it end")
    return entries


def _flat(config: Config) -> dict[str, str]:
    """Settings of the network and of its training, as text."""
    values = config.model_dump(mode="json", include={"model", "train"})
    return {
        f"{section}.{key}": json.dumps(value)
        for section, part in values.items()
        for key, value in part.items()
        if f"{section}.{key}" not in _IGNORED
    }


def draw(content: Result, pictures: Path, name: str = "compare") -> list[Table]:
    """A table: a line for all seeds of a run."""
    groups: dict[str, list[Row]] = {}
    for row in content["rows"]:
        groups.setdefault(json.dumps(row["settings"], sort_keys=True), []).append(row)
    first = content["rows"][0]["settings"]
    lines = [_line(group, first) for group in groups.values()]
    columns = ["settings", "seeds", "documents seen", "minutes", "perplexity", *_SCORES]
    title = f"Runs on {content['documents']} documents of {content['corpus']}"
    return [Table(title, columns, lines)]


def _line(rows: Sequence[Row], first: dict[str, str]) -> list[str]:
    settings = rows[0]["settings"]
    changed = [f"`{key} = {settings[key]}`" for key in settings if settings[key] != first.get(key)]
    means = [spread([row["values"][title] for row in rows]) for title in _SCORES]
    minutes = sum(row["seconds"] for row in rows) / len(rows) / 60
    return [
        ", ".join(changed) or f"`{rows[0]['run']}`",
        str(len(rows)),
        f"{rows[0]['seen']:,}",
        f"{minutes:.0f}",
        spread([row["perplexity"] for row in rows], 2),
        *means,
    ]
