"""What the dynamic graph is worth: runs that differ in who is told what was decoded before.

Each run is measured on its own and kept, so a table with rows missing is still true. Differences
are to the first group of runs, with intervals over documents *and* seeds: both are drawn again.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from experiments import options
from experiments.compare import read_validations
from experiments.results import Result, Row, read_rows, write_result
from experiments.sample import AT_5, AT_M, Sample, choose_rows
from experiments.tables import Table, to_markdown
from phraseloom.evaluate.report import score_documents
from phraseloom.network.model import KeyphraseModel
from phraseloom.network.weights import load_model
from phraseloom.parallel import in_batches, limit_threads
from phraseloom.text.document import Source
from phraseloom.text.parsers import Parser, load_parser
from phraseloom.train.corpus.prepared import PreparedCorpus

COLUMNS = {"F1@5": "present.filled.f1@5", "F1@M": "present.filled.f1@M"}
"""Per-document values that differences are taken of."""
_TIMED = 96  # documents that are parsed and decoded against the clock
_TOGETHER = 32
_RESAMPLES = 2000


def run(
    runs: Annotated[list[Path], typer.Argument(help="NAME-SEED each; the first name is compared")],
    corpora: Annotated[list[Path], typer.Option("--corpus", help="prepared validation documents")],
    documents: options.Documents = 500,
    seed: options.Seed = 0,
    label: options.Label = "",
    results: options.Results = options.DEFAULT_RESULTS,
    pictures: options.Pictures = options.DEFAULT_PICTURES,
) -> None:
    """Decode the same validation documents with every run that was not measured before."""
    path = results / f"{options.labelled('dynamic', label)}.json"
    rows, parser = read_rows(path), load_parser("spacy")
    for directory in runs:
        if all(row["run"] != directory.name for row in rows):
            rows.append(measure(directory, corpora, documents, seed, parser))
            write_result(path, {"documents": documents, "rows": rows})
    order = [directory.name for directory in runs]
    rows.sort(key=lambda row: order.index(row["run"]) if row["run"] in order else len(order))
    written = write_result(path, {"documents": documents, "rows": rows})
    typer.echo(to_markdown(*draw(written, pictures)))


def measure(
    directory: Path, corpora: Sequence[Path], documents: int, seed: int, parser: Parser
) -> Row:
    """Scores of each corpus, document by document, and the cost beside the parse."""
    model, config = load_model(directory)
    row: Row = {"run": directory.name, "model": config.model.model_dump(mode="json")}
    last = read_validations(directory)[-1]
    row |= {"seen": last["documents"], "perplexity": last["perplexity"], "corpora": {}}
    for path in corpora:
        corpus = PreparedCorpus.open(path)
        rows = choose_rows(corpus, documents=documents, seed=seed)
        sample = Sample(model, config, corpus, rows)
        lists = sample.decode(config.search, title=f"{directory.name}, {path.name}")
        report = score_documents(sample.judge(lists), parts=("present",))
        values = {"F1@5": report.values[AT_5], "F1@M": report.values[AT_M]}
        per_document = {
            name: report.columns[key].round(4).tolist() for name, key in COLUMNS.items()
        }
        row["corpora"][path.name] = {"values": values, "documents": per_document}
        if model.is_dynamic:
            still = Sample(without_history(model), config, corpus, rows)
            others = still.decode(config.search, title=f"{directory.name}, edges held still")
            row["corpora"][path.name]["unmoved"] = _share_kept(lists, others)
    row["cost"] = measure_cost(directory, PreparedCorpus.open(corpora[0]), seed, parser)
    return row


def without_history(model: KeyphraseModel) -> KeyphraseModel:
    """The same network, its edges as they are before the first phrase."""
    dynamic = ("encoder.shift.", "encoder.interaction.said")
    weights = {
        name: np.zeros_like(weight) if name.startswith(dynamic) else weight
        for name, weight in model.weights.items()
    }
    return replace(model, weights=weights)


def _share_kept(lists: Sequence[Sequence[object]], others: Sequence[Sequence[object]]) -> float:
    """Share of the listed phrases that are listed as well when the edges do not move."""
    slots = [[{p.slots for p in phrases} for phrases in side] for side in (lists, others)]  # type: ignore[attr-defined]
    kept = sum(len(a & b) for a, b in zip(*slots, strict=True))
    return kept / max(sum(map(len, slots[0])), 1)


def measure_cost(directory: Path, corpus: PreparedCorpus, seed: int, parser: Parser) -> float:
    """Processor time of the network and its search, as a multiple of the parse's, in this run."""
    model, config = load_model(directory)
    rows = choose_rows(corpus, documents=_TIMED, seed=seed + 1)
    sources = [Source(corpus.text(row), corpus.title(row)) for row in rows]
    with limit_threads(1):
        parser.parse_batch(sources[:_TOGETHER])
        times = []
        for _ in range(2):
            start = time.process_time()
            for batch in in_batches(sources, _TOGETHER):
                parser.parse_batch(batch)
            parsed = time.process_time()
            Sample(model, config, corpus, rows).decode(config.search)
            times.append((time.process_time() - parsed) / (parsed - start))
    return min(times)


def draw(content: Result, pictures: Path, name: str = "dynamic") -> list[Table]:
    """A table a corpus: a line for all seeds of a kind of run."""
    groups: dict[str, list[Row]] = {}
    for row in content["rows"]:
        groups.setdefault(row["run"].rpartition("-")[0], []).append(row)
    return [_table(corpus, groups) for corpus in content["rows"][0]["corpora"]]


def _table(corpus: str, groups: dict[str, list[Row]]) -> Table:
    lines, first = [], next(iter(groups))
    for name, rows in groups.items():
        line = [name, str(len(rows)), f"{_mean([row['perplexity'] for row in rows]):.3f}"]
        for metric in COLUMNS:
            line.append(f"{_mean([row['corpora'][corpus]['values'][metric] for row in rows]):.3f}")
            line.append("" if name == first else difference(groups[first], rows, corpus, metric))
        unmoved = [row["corpora"][corpus].get("unmoved") for row in rows]
        line.append(f"{_mean(unmoved):.1%}" if None not in unmoved else "–")
        lines.append([*line, f"{_mean([row['cost'] for row in rows]):.2f}"])
    columns = ["run", "seeds", "perplexity", "F1@5", "± to the first", "F1@M", "± to the first"]
    columns += ["phrases kept when edges hold still", "network / parse"]
    return Table(f"Who is told what was decoded: {corpus}", columns, lines)


def difference(first: Sequence[Row], rows: Sequence[Row], corpus: str, metric: str) -> str:
    """Mean difference of a document's score, and the middle 95 % of redrawn ones."""
    tables = [
        np.array([row["corpora"][corpus]["documents"][metric] for row in group])
        for group in (rows, first)
    ]  # (seeds, D) each
    generator = np.random.default_rng(0)
    drawn = [_redraw(tables, generator) for _ in range(_RESAMPLES)]
    low, high = np.percentile(drawn, (2.5, 97.5))
    value = tables[0].mean() - tables[1].mean()
    return f"{value:+.4f} ({low:+.4f} to {high:+.4f})"


def _redraw(tables: Sequence[NDArray[np.float64]], generator: np.random.Generator) -> float:
    documents = generator.integers(tables[0].shape[1], size=tables[0].shape[1])
    means = [
        table[generator.integers(len(table), size=len(table))][:, documents].mean()
        for table in tables
    ]
    return float(means[0] - means[1])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
