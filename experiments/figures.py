"""Figures for the pages of docs/: one look, saved as SVG."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

COLOURS = ("#0b5394", "#c0504d", "#4f8f3a", "#7f6084", "#b8860b", "#444444")
MARKERS = ("o", "s", "^", "D", "v", "P")
"""Colour and marker say the same, so that a grey print can be read."""

_LOOK: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "svg.hashsalt": "phraseloom",  # the same picture gives the same file
    "svg.fonttype": "none",
}


@contextmanager
def figure(
    name: str,
    pictures: Path,
    *,
    panels: int = 1,
    stacked: bool = False,
    width: float = 3.4,
    height: float = 2.6,
) -> Iterator[list[Any]]:
    """Axes to draw on; the figure is saved as ``result-NAME.svg`` afterwards.

    Args:
        name: of the figure.
        pictures: folder that it is saved in.
        panels: how many axes.
        stacked: one below the other instead of side by side.
        width: of a panel, in inches.
        height: of a panel, in inches.
    """
    import matplotlib  # here: --help needs no figures

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows, columns = (panels, 1) if stacked else (1, panels)
    with pyplot.rc_context(_LOOK):
        drawn, axes = pyplot.subplots(
            rows,
            columns,
            figsize=(width * columns, height * rows),
            squeeze=False,
            layout="constrained",
        )
        try:
            yield list(axes.flat)
            pictures.mkdir(parents=True, exist_ok=True)
            drawn.savefig(pictures / picture_name(name), metadata={"Date": None})
        finally:
            pyplot.close(drawn)


def picture_name(name: str) -> str:
    """File name of the picture of a result."""
    return f"result-{name}.svg"


def legend_below(axes: Sequence[Any], *, columns: int) -> None:
    """One legend for all panels, outside them, where it hides no line."""
    handles, labels = axes[0].get_legend_handles_labels()
    axes[0].figure.legend(handles, labels, loc="outside lower center", ncols=columns)
