"""What the dynamic graph is worth: networks that differ in who is told what was decoded before.

They are runs that were trained so, or one network whose weights are read in other ways, which says
what it relies on and not what training would make of it. Each is measured on its own and kept, so a
table with rows missing is still true. Differences are to the first group, with intervals over
documents *and* seeds: both are drawn again.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import typer
from numpy.typing import NDArray

from experiments import options
from experiments.results import Result, Row, read_rows, write_result
from experiments.sample import AT_5, AT_M, Sample, choose_rows
from experiments.tables import Table, to_markdown
from phraseloom.config import Config
from phraseloom.evaluate.report import score_documents
from phraseloom.network.example import Example
from phraseloom.network.graph import collate
from phraseloom.network.model import KeyphraseModel
from phraseloom.network.registry import find_installed
from phraseloom.network.weights import full_arrays, load_model
from phraseloom.parallel import in_batches, limit_threads
from phraseloom.search.beam import Hypothesis
from phraseloom.text.document import Source
from phraseloom.text.parsers import Parser, load_parser
from phraseloom.train.corpus.prepared import PreparedCorpus
from phraseloom.train.corpus.targets import collate_targets
from phraseloom.train.loss import sequence_losses
from phraseloom.train.ops import TorchOps

COLUMNS = {"F1@5": "present.filled.f1@5", "F1@M": "present.filled.f1@M"}
"""Per-document values that differences are taken of."""
_TIMED = 64  # documents that are parsed and decoded against the clock
_TOGETHER = 32
_RESAMPLES = 2000
_NEVER = -1e4  # a score before the sigmoid


def run(
    models: Annotated[list[Path], typer.Argument(help="models, or runs NAME-SEED")],
    corpora: Annotated[list[Path], typer.Option("--corpus", help="prepared validation documents")],
    documents: options.Documents = 500,
    switched: Annotated[
        bool, typer.Option("--switched", help="read the weights in other ways, too")
    ] = False,
    seed: options.Seed = 0,
    label: options.Label = "",
    results: options.Results = options.DEFAULT_RESULTS,
    pictures: options.Pictures = options.DEFAULT_PICTURES,
) -> None:
    """Decode the same validation documents with every network that was not measured before."""
    path = results / f"{options.labelled('dynamic', label)}.json"
    rows, parser = read_rows(path), load_parser("spacy")
    about = {"documents": documents, "switched": switched}
    for name, model, config in _networks(models, switched):
        if all(row["run"] != name for row in rows):
            row = measure(model, config, corpora, documents, seed, parser)
            rows.append({"run": name, **row})
            write_result(path, {**about, "rows": rows})
    written = write_result(path, {**about, "rows": rows})
    typer.echo(to_markdown(*draw(written, pictures)))


def _networks(
    models: Sequence[Path], switched: bool
) -> Iterator[tuple[str, KeyphraseModel, Config]]:
    for path in models:
        model, config = load_model(find_installed(path))
        if not switched:
            yield path.name, model, config
            continue
        for name, switch in SWITCHES.items():
            yield f"{name}-{path.name}", switch(model), config


def _read_with(**settings: Any) -> Callable[[KeyphraseModel], KeyphraseModel]:
    return lambda model: replace(model, config=model.config.model_copy(update=settings))


def without_history(model: KeyphraseModel) -> KeyphraseModel:
    """The same network, its edges as they are before the first phrase."""
    return _fill(model, ("encoder.shift.", "encoder.interaction.said"), 0.0)


def without_edges(model: KeyphraseModel) -> KeyphraseModel:
    """The same network, all its edges at zero."""
    return _fill(model, ("encoder.edges.ends.bias",), _NEVER)


def _fill(model: KeyphraseModel, names: tuple[str, ...], value: float) -> KeyphraseModel:
    weights = {
        name: np.full_like(weight, value) if name.startswith(names) else weight
        for name, weight in model.weights.items()
    }
    return replace(model, weights=weights)


SWITCHES: Mapping[str, Callable[[KeyphraseModel], KeyphraseModel]] = {
    "as it is": lambda model: model,
    "graph not told": without_history,
    "only the last convolution's edges move": _read_with(dynamic_layers="last"),
    "all edges into a stem move alike": _read_with(dynamic_layers="merged"),
    "no coverage of earlier phrases": _read_with(history_coverage=False),
    "neither": lambda model: without_history(_read_with(history_coverage=False)(model)),
    "number not told": _read_with(numbered=False),
    "no edges": without_edges,
}
"""Other ways to read a network's weights, all without training."""


def measure(
    model: KeyphraseModel,
    config: Config,
    corpora: Sequence[Path],
    documents: int,
    seed: int,
    parser: Parser,
) -> Row:
    """Scores of each corpus, document by document, and the cost beside the parse."""
    row: Row = {"model": model.config.model_dump(mode="json"), "corpora": {}}
    for path in corpora:
        corpus = PreparedCorpus.open(path)
        rows = choose_rows(corpus, documents=documents, seed=seed)
        sample = Sample(model, config, corpus, rows)
        lists = sample.decode(config.search, title=path.name)
        report = score_documents(sample.judge(lists), parts=("present",))
        per_document = {
            name: report.columns[key].round(4).tolist() for name, key in COLUMNS.items()
        }
        measured = {
            "perplexity": perplexity(model, sample.examples),
            "values": {"F1@5": report.values[AT_5], "F1@M": report.values[AT_M]},
            "documents": per_document,
        }
        if model.is_dynamic:
            still = Sample(without_history(model), config, corpus, rows)
            others = still.decode(config.search, title=f"{path.name}, graph not told")
            measured |= compare_lists(lists, others)
        row["corpora"][path.name] = measured
    row["cost"] = measure_cost(model, config, PreparedCorpus.open(corpora[0]), seed, parser)
    return row


@torch.no_grad()
def perplexity(model: KeyphraseModel, examples: Sequence[Example]) -> float:
    """Of a target token of those documents that have a reference phrase."""
    weights = {name: torch.from_numpy(array) for name, array in full_arrays(model.weights).items()}
    total, tokens = 0.0, 0
    with limit_threads(1):
        for part in in_batches([e for e in examples if e.phrases], _TOGETHER):
            batch = collate(part, model.lexicon)
            targets = collate_targets(batch, part)
            losses = sequence_losses(model.config, weights, batch, targets, TorchOps())
            total, tokens = total + losses.sequence.item(), tokens + losses.tokens
    return math.exp(total / max(tokens, 1))


def compare_lists(
    lists: Sequence[Sequence[Hypothesis]], others: Sequence[Sequence[Hypothesis]]
) -> dict[str, float]:
    """Share of listed phrases that others list too, and of lists that are the same to the letter.

    The others are those of the same network when its graph is not told what was decoded.
    """
    slots = [[[p.slots for p in phrases] for phrases in side] for side in (lists, others)]
    kept = sum(len({*a} & {*b}) for a, b in zip(*slots, strict=True))
    same = sum(a == b for a, b in zip(*slots, strict=True))
    return {"unmoved": kept / max(sum(map(len, slots[0])), 1), "same": same / max(len(lists), 1)}


def measure_cost(
    model: KeyphraseModel, config: Config, corpus: PreparedCorpus, seed: int, parser: Parser
) -> float:
    """Processor time of the network and its search, as a multiple of the parse's, in this run."""
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
    title = "One network, read in other ways" if content["switched"] else "Trained so"
    return [_table(title, corpus, groups) for corpus in content["rows"][0]["corpora"]]


def _table(title: str, corpus: str, groups: dict[str, list[Row]]) -> Table:
    lines, first = [], next(iter(groups))
    for name, rows in groups.items():
        measured = [row["corpora"][corpus] for row in rows]
        line = [name, str(len(rows)), f"{_mean([one['perplexity'] for one in measured]):.3f}"]
        for metric in COLUMNS:
            line.append(f"{_mean([one['values'][metric] for one in measured]):.3f}")
            line.append("" if name == first else difference(groups[first], rows, corpus, metric))
        for key in ("unmoved", "same"):
            shares = [one.get(key) for one in measured]
            line.append(f"{_mean(shares):.1%}" if None not in shares else "–")
        lines.append([*line, f"{_mean([row['cost'] for row in rows]):.2f}"])
    columns = ["network", "seeds", "perplexity", "F1@5", "± to the first", "F1@M", "± to the first"]
    columns += ["phrases kept", "lists kept", "network / parse"]
    note = (
        "± is the mean difference of a document's score, with the middle 95 % of redrawn ones."
        " Kept: by the same network when its graph is not told what was decoded."
    )
    return Table(f"{title}: {corpus}", columns, lines, [note])


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
