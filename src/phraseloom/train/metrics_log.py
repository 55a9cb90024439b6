"""metrics.jsonl: what a run measured, a JSON object a line and never a line twice; and its plot.

The same as TensorBoard's event files, if that is wanted.
"""

import json
import logging
from pathlib import Path
from typing import Any

from phraseloom.errors import import_extra
from phraseloom.io.atomic import written_aside

METRICS, CURVES, EVENTS = "metrics.jsonl", "curves.png", "tensorboard"

MetricsEntry = dict[str, Any]
"""``kind`` is ``train``, ``valid`` or ``end``; ``step`` is the number of updates before it."""

_CURVES = {
    *("loss", "importance", "norm", "rate", "documents_per_second", "perplexity", "f1@5", "f1@M")
}
_logger = logging.getLogger(__name__)


class MetricsLog:
    """Appends to a file of metrics."""

    def __init__(self, path: Path, *, is_for_tensorboard: bool = False) -> None:
        self.path = path
        self._is_for_tensorboard = is_for_tensorboard
        self._events: Any = None

    def rewind(self, step: int) -> None:
        """Forget what was written after a step: a resumed run will write it again."""
        if self._is_for_tensorboard:
            import_extra("tensorboard", "train.tensorboard", "tensorboard")
            from torch.utils.tensorboard import SummaryWriter  # here: optional

            folder = str(self.path.with_name(EVENTS))
            self._events = SummaryWriter(folder, purge_step=step + 1)
        kept = [entry for entry in read_entries(self.path) if _is_before(entry, step)]
        with written_aside(self.path) as new:
            new.write_text("".join(map(_line, kept)), encoding="utf-8")

    def add(self, entry: MetricsEntry) -> None:
        """Write one line, so that it is there even if the process dies next."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(_line(entry))
        if self._events is not None:
            part = "train" if entry["kind"] == "train" else "valid"
            for name in (name for name in _CURVES if entry.get(name) is not None):
                self._events.add_scalar(f"{part}/{name}", entry[name], entry["step"])
            self._events.flush()


def read_entries(path: Path) -> list[MetricsEntry]:
    """All whole lines; what a kill left of the last one is skipped."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def _is_before(entry: MetricsEntry, step: int) -> bool:
    # an "end" belongs to a stop that the resumed run undoes
    return bool(entry["kind"] != "end" and entry["step"] <= step)


def _line(entry: MetricsEntry) -> str:
    return json.dumps(entry) + "\n"


def draw_curves(metrics: Path, picture: Path) -> None:
    """Draw loss, validation perplexity, F1 and learning rate against the steps, as PNG."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # here: slow, and optional
        from matplotlib.figure import Figure
    except ImportError:
        _logger.warning("no %s: run: pip install '.[train]'", picture.name)
        return
    entries = read_entries(metrics)
    steps = [entry for entry in entries if entry["kind"] == "train"]
    validations = [entry for entry in entries if entry["kind"] != "train"]
    figure = Figure(figsize=(10, 6), layout="constrained")
    FigureCanvasAgg(figure)
    panels = {
        "loss per token": (steps, ["loss", "importance"]),
        "validation perplexity": (validations, ["perplexity"]),
        "validation F1": (validations, ["f1@5", "f1@M"]),
        "learning rate": (steps, ["rate"]),
    }
    for axes, (title, (rows, keys)) in zip(figure.subplots(2, 2).flat, panels.items(), strict=True):
        axes.set(title=title, xlabel="steps")
        axes.grid(alpha=0.3)
        for key in keys:
            points = [(row["step"], row[key]) for row in rows if row.get(key) is not None]
            x, y = zip(*points, strict=True) if points else ((), ())
            axes.plot(x, y, label=key, marker="." if rows is validations else None)
        if len(keys) > 1:
            axes.legend()
    figure.savefig(picture, dpi=120)
