"""Training runs beside each other on validation documents: what differs, its cost and its gain.

Runs that differ in nothing but their seed are one row.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from experiments import options
from experiments.ablation import spread
from experiments.results import read_result, write_result
from experiments.sample import open_sample
from experiments.tables import Table, to_markdown, write_tables
from phraseloom.cli.progress import document_progress
from phraseloom.config import Config
from phraseloom.errors import PhraseloomError
from phraseloom.model.checkpoint import CONFIG, find_model, load_config_file
from phraseloom.train.checkpoint import METRICS
from phraseloom.train.journal import read_entries

_SCORES = {"F1@5": "present.filled.macro.f1@5", "F1@M": "present.macro.f1@M"}
_IGNORED = {"train.seed", "train.threads"}


def run(
    runs: Annotated[list[Path] | None, typer.Argument(help="directories of runs")] = None,
    corpus: Annotated[Path, typer.Option(help="prepared corpus")] = Path("runs/data/valid"),
    documents: Annotated[int, typer.Option(min=1, help="drawn from it")] = 600,
    settings: options.Settings = None,
    label: Annotated[str, typer.Option(help="result file: compare-LABEL.json")] = "",
    results: options.Results = options.DEFAULT_RESULTS,
    draw_only: options.DrawOnly = False,
) -> None:
    """Decode the same validation documents with every run."""
    name = f"compare-{label}" if label else "compare"
    if not draw_only:
        if not runs:
            raise PhraseloomError("name directories of runs, or give --draw-only")
        about = {"corpus": str(corpus), "documents": documents}
        rows = [measure(each, corpus, documents, settings) for each in runs]
        write_result(results / f"{name}.json", {**about, "rows": rows})
    typer.echo(draw(results, name))


def measure(
    run: Path, corpus: Path, documents: int, settings: Sequence[str] | None
) -> dict[str, Any]:
    """What a run was, what it cost and what its best weights score."""
    config = load_config_file(find_model(run) / CONFIG)
    entries = read_entries(run / METRICS)
    measured = [entry for entry in entries if "perplexity" in entry]
    if not measured:
        raise PhraseloomError(f"{run} has measured nothing yet; let it end")
    sample, _ = open_sample(run, corpus, documents=documents)
    search = options.change_search(config.search, settings)
    with document_progress(run.name) as on_progress:
        values = sample.score(sample.decode(search, on_progress=on_progress))
    return {
        "run": run.name,
        "settings": _flat(config),
        "seen": measured[-1]["documents"],
        "seconds": measured[-1]["seconds"],
        "perplexity": min(entry["perplexity"] for entry in measured),
        "search": search.model_dump(),
        "values": {title: values[key] for title, key in _SCORES.items()},
    }


def _flat(config: Config) -> dict[str, str]:
    """Settings of the network and of its training, as text."""
    values = config.model_dump(mode="json", include={"model", "train"})
    return {
        f"{section}.{key}": json.dumps(value)
        for section, part in values.items()
        for key, value in part.items()
        if f"{section}.{key}" not in _IGNORED
    }


def draw(results: Path, name: str) -> str:
    """Write the table; give it as Markdown."""
    content = read_result(results / f"{name}.json")
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in content["rows"]:
        groups.setdefault(json.dumps(row["settings"], sort_keys=True), []).append(row)
    first = content["rows"][0]["settings"]
    lines = [_line(own, first) for own in groups.values()]
    columns = ["settings", "seeds", "documents seen", "minutes", "perplexity", *_SCORES]
    table = Table(
        f"Runs on {content['documents']} documents of {content['corpus']}", columns, lines
    )
    write_tables(results / name, [table])
    return to_markdown(table)


def _line(rows: Sequence[dict[str, Any]], first: dict[str, str]) -> list[str]:
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
