"""Curves of a run as a picture."""

import logging
from pathlib import Path

from phraseloom.train.journal import Entry, read_entries

_logger = logging.getLogger(__name__)


def draw_curves(metrics: Path, picture: Path) -> None:
    """Draw loss, validation perplexity, F1 and learning rate against the steps, as PNG."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # here: slow, and optional
        from matplotlib.figure import Figure
    except ImportError:
        _logger.warning("no %s: run: pip install 'phraseloom[train]'", picture.name)
        return
    entries = read_entries(metrics)
    learned = [entry for entry in entries if entry["kind"] == "train"]
    measured = [entry for entry in entries if entry["kind"] != "train"]
    figure = Figure(figsize=(10, 6), layout="constrained")
    FigureCanvasAgg(figure)
    panels = {
        "loss per token": (learned, ["loss", "importance"]),
        "validation perplexity": (measured, ["perplexity"]),
        "validation F1": (measured, ["f1@5", "f1@M"]),
        "learning rate": (learned, ["rate"]),
    }
    for axes, (title, (rows, keys)) in zip(figure.subplots(2, 2).flat, panels.items(), strict=True):
        axes.set(title=title, xlabel="steps")
        axes.grid(alpha=0.3)
        for key in keys:
            steps, values = _column(rows, key)
            axes.plot(steps, values, label=key, marker="." if rows is measured else None)
        if len(keys) > 1:
            axes.legend()
    figure.savefig(picture, dpi=120)


def _column(rows: list[Entry], key: str) -> tuple[list[int], list[float]]:
    pairs = [(row["step"], row[key]) for row in rows if row.get(key) is not None]
    return [step for step, _ in pairs], [value for _, value in pairs]
