"""Score predicted keyphrases against reference ones, without any model."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from phraseloom.cli import arguments
from phraseloom.cli.console import print_table
from phraseloom.errors import PhraseloomError
from phraseloom.evaluate.phrases import Split
from phraseloom.text.words import printable

if TYPE_CHECKING:
    from rich.table import Table

    from phraseloom.evaluate.bootstrap import Difference, Interval
    from phraseloom.evaluate.report import Report

_PARTS = ("present", "absent", "all")
_ROWS = {  # what people read, of the hundreds of values that --json gives
    "F1@5": "filled.macro.f1@5",
    "F1@10": "filled.macro.f1@10",
    "F1@M": "macro.f1@M",
    "F1@O": "filled.macro.f1@O",
    "precision@5": "filled.macro.precision@5",
    "recall@5": "filled.macro.recall@5",
    "precision@M": "macro.precision@M",
    "recall@M": "macro.recall@M",
    "F1@5 unfilled": "unfilled.macro.f1@5",
    "F1@10 unfilled": "unfilled.macro.f1@10",
    "F1@5 mean": "mean.f1@5",
    "F1@M mean": "mean.f1@M",
    "F1@5 micro": "micro.f1@5",
    "F1@M micro": "micro.f1@M",
    "NDCG@10": "ndcg@10",
    "α-NDCG@10": "alpha_ndcg@10",
    "MAP@10": "map@10",
    "Avg. #": "predicted",
    "Corr. #": "correct",
    "duplicates": "duplicate_rate",
    "nested": "nested_rate",
    "repeated words": "repeated_word_rate",
}


def score(
    source: Annotated[Path, typer.Option(help="documents: 'title <eos> body' lines, or .jsonl")],
    predictions: Annotated[Path, typer.Option(help="predicted phrases: ';'-separated, or .jsonl")],
    targets: Annotated[
        Path | None, typer.Option(help="reference phrases; a .jsonl source may hold them itself")
    ] = None,
    against: Annotated[
        Path | None, typer.Option(help="second predictions, for a paired comparison")
    ] = None,
    split: Annotated[
        Split, typer.Option(help="spaces: text is tokenised already; words: it is natural text")
    ] = Split.spaces,
    resamples: Annotated[
        int, typer.Option(min=0, help="bootstrap resamples for 95 % intervals; 0: none")
    ] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="of the resamples")] = 0,
    as_json: arguments.AsJson = False,
) -> None:
    """Score predicted keyphrases against reference ones."""
    from phraseloom.evaluate.bootstrap import compare, intervals  # here: start-up time
    from phraseloom.evaluate.files import read_judged
    from phraseloom.evaluate.report import score_documents

    if against is not None and not resamples:
        raise PhraseloomError("--against compares by resampling; leave out --resamples 0")
    report = score_documents(read_judged(source, targets, predictions, split=split))
    bounds = intervals(report, resamples=resamples, seed=seed) if resamples else {}
    differences: dict[str, Difference] = {}
    if against is not None:
        other = score_documents(read_judged(source, targets, against, split=split))
        differences = compare(report, other, resamples=resamples, seed=seed)
    if as_json:
        typer.echo(json.dumps(flatten(report, bounds, differences), indent=1))
        return
    print_table(score_table(report, bounds))
    if against is not None:
        print_table(difference_table(differences, f"{predictions.name} minus {against.name}"))


def flatten(
    report: "Report", bounds: Mapping[str, "Interval"], differences: Mapping[str, "Difference"]
) -> dict[str, float]:
    """One flat mapping with the keys of docs/metrics.md."""
    flat: dict[str, float] = {"documents": report.documents, **report.values}
    for key, interval in bounds.items():
        flat |= {f"{key}.low": interval.low, f"{key}.high": interval.high}
    for key, difference in differences.items():
        flat |= {
            f"{key}.difference": difference.value,
            f"{key}.difference.low": difference.interval.low,
            f"{key}.difference.high": difference.interval.high,
            f"{key}.p": difference.p_value,
        }
    return flat


def score_table(report: "Report", bounds: Mapping[str, "Interval"]) -> "Table":
    """The values people read, a column each for present, absent and all phrases."""
    from rich.table import Table

    title = f"{report.documents} documents" + (", with 95 % intervals" if bounds else "")
    table = Table("", *_PARTS, title=title)
    for name, key in _ROWS.items():
        cells = []
        for part in _PARTS:
            full = f"{part}.{key}"
            cell = f"{report.values[full]:.3f}"
            if full in bounds:
                cell += f" [dim]{bounds[full].low:.3f}–{bounds[full].high:.3f}[/]"
            cells.append(cell)
        table.add_row(name, *cells)
    return table


def difference_table(differences: Mapping[str, "Difference"], title: str) -> "Table":
    """What present phrases gain or lose against a second list of predictions."""
    from rich.table import Table
    from rich.text import Text

    caption = Text(printable(title), "table.title")
    table = Table("present", "difference", "95 % interval", "p", title=caption)
    for name, key in _ROWS.items():
        value, interval, p_value = differences[f"present.{key}"]
        bounds = f"{interval.low:+.4f} … {interval.high:+.4f}"
        table.add_row(name, f"{value:+.4f}", bounds, f"{p_value:.3f}")
    return table
