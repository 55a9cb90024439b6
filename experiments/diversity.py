"""How many phrases are found, how many are right, and how much they repeat each other.

The experiment `ablation` decodes all models; what it measured is all that this one needs.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from experiments import options, published
from experiments.ablation import group_rows, measured_sets, spread
from experiments.figures import COLOURS, figure, legend_below
from experiments.results import read_result
from experiments.tables import Table, to_markdown, write_tables

KEYS = {
    "Avg. #": ("present.predicted", 2),
    "Corr. #": ("present.correct", 2),
    "duplicates": ("all.duplicate_rate", 3),
    "nested": ("present.nested_rate", 3),
    "repeated words": ("present.repeated_word_rate", 3),
}
"""Key of docs/metrics.md and decimals of each column."""


def run(
    results: options.Results = options.DEFAULT_RESULTS,
    draw_only: Annotated[
        bool, typer.Option("--draw-only", help="always so: ablation measures for both")
    ] = False,
) -> None:
    """Draw from what `phraseloom experiment ablation` measured."""
    typer.echo(draw(results))


def draw(results: Path) -> str:
    """Write a table a corpus and the figure; give the tables as Markdown."""
    rows = read_result(results / "ablation.json")["rows"]
    sets = measured_sets(rows)
    tables = [_table(name, title, rows) for name, title in sets.items()]
    write_tables(results / "diversity", tables)
    _draw_numbers(results / "diversity", rows, sets)
    return "\n\n".join(to_markdown(table) for table in tables)


def _table(corpus: str, title: str, rows: Sequence[dict[str, Any]]) -> Table:
    own = [row for row in rows if row["corpus"] == corpus]
    gold = own[0]["values"]["present.targets"]
    lines = [["reference phrases", "corpus", f"{gold:.2f}", *["–"] * (len(KEYS) - 1)]]
    for name, ours in group_rows(own):
        cells = [spread([row["values"][key] for row in ours], n) for key, n in KEYS.values()]
        lines.append([name, "run here", *cells])
    for name, of_sets in published.NUMBERS.items():
        if corpus in of_sets:
            numbers = ["–" if value is None else f"{value:.2f}" for value in of_sets[corpus]]
            lines.append([name, published.MARK, *numbers, *["–"] * (len(KEYS) - 2)])
    return Table(f"Diversity: {title}", ["model", "origin", *KEYS], lines)


def _draw_numbers(path: Path, rows: Sequence[dict[str, Any]], sets: dict[str, str]) -> None:
    """Bars: phrases found, and the part of them that is right; a line for the reference."""
    shown = list(sets.items())[:5]
    with figure(path, panels=len(shown), width=2.3, height=2.8) as axes:
        for axis, (corpus, title) in zip(axes, shown, strict=True):
            own = [row for row in rows if row["corpus"] == corpus]
            groups = group_rows(own)[::-1]
            names = [name for name, _ in groups]
            for key, colour, label in (
                ("present.predicted", "#b7cfe6", "found"),
                ("present.correct", COLOURS[0], "right"),
            ):
                values = [sum(row["values"][key] for row in ours) / len(ours) for _, ours in groups]
                axis.barh(names, values, color=colour, label=label)
            gold = own[0]["values"]["present.targets"]
            axis.axvline(gold, color="#444444", linestyle=":", label="reference")
            axis.set(title=title, xlabel="phrases a document")
            axis.grid(visible=False, axis="y")
            if axis is not axes[0]:
                axis.set_yticklabels([])
        legend_below(axes, columns=3)
