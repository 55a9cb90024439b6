"""How many phrases are found, how many are right, and how much they repeat each other.

Drawn from what the experiment `ablation` measured.
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from experiments import published
from experiments.ablation import DIVERSITY, group_rows, measured_sets, spread
from experiments.figures import COLOURS, figure, legend_below
from experiments.results import Result, Row
from experiments.tables import Table


def draw(content: Result, pictures: Path, name: str = "diversity") -> list[Table]:
    """A table a corpus, and bars of all."""
    rows = content["rows"]
    sets = measured_sets(rows)
    _draw_numbers(name, pictures, rows, sets)
    return [_table(corpus, title, rows) for corpus, title in sets.items()]


def _table(corpus: str, title: str, rows: Sequence[Row]) -> Table:
    own = [row for row in rows if row["corpus"] == corpus]
    gold = own[0]["values"]["present.targets"]
    lines = [["reference phrases", "corpus", f"{gold:.2f}", *["–"] * (len(DIVERSITY) - 1)]]
    for variant, of_variant in group_rows(own):
        cells = [
            spread([row["values"][key] for row in of_variant], n) for key, n in DIVERSITY.values()
        ]
        lines.append([variant, "run here", *cells])
    for model, of_sets in published.NUMBERS.items():
        if corpus in of_sets:
            numbers = ["–" if value is None else f"{value:.2f}" for value in of_sets[corpus]]
            lines.append([model, published.MARK, *numbers, *["–"] * (len(DIVERSITY) - 2)])
    return Table(f"Diversity: {title}", ["model", "origin", *DIVERSITY], lines)


def _draw_numbers(name: str, pictures: Path, rows: Sequence[Row], sets: dict[str, str]) -> None:
    """Bars: phrases found, and the part of them that is right; a line for the reference."""
    shown = list(sets.items())[:5]
    bars = {"found": ("present.predicted", "#b7cfe6"), "right": ("present.correct", COLOURS[0])}
    with figure(name, pictures, panels=len(shown), width=2.3, height=2.8) as axes:
        for axis, (corpus, title) in zip(axes, shown, strict=True):
            own = [row for row in rows if row["corpus"] == corpus]
            groups = group_rows(own)[::-1]
            for label, (key, colour) in bars.items():
                means = [fmean(row["values"][key] for row in of_group) for _, of_group in groups]
                axis.barh([group for group, _ in groups], means, color=colour, label=label)
            gold = own[0]["values"]["present.targets"]
            axis.axvline(gold, color="#444444", linestyle=":", label="reference")
            axis.set(title=title, xlabel="phrases a document")
            axis.grid(visible=False, axis="y")
            if axis is not axes[0]:
                axis.set_yticklabels([])
        legend_below(axes, columns=3)
