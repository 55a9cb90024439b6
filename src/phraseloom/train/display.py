"""How a run goes, for people: a live panel on a terminal, a line per entry elsewhere."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console
from rich.live import Live
from rich.logging import RichHandler
from rich.table import Table
from rich.text import Text

from phraseloom.text.words import printable
from phraseloom.train.metrics_log import MetricsEntry
from phraseloom.train.trainer import OnMetrics


@contextmanager
def show_run(title: str) -> Iterator[OnMetrics]:
    """Show the metrics on stderr as they come."""
    console = Console(stderr=True, highlight=False)
    handler = RichHandler(console=console, show_time=False, show_path=False, markup=False)
    handler.setLevel(logging.WARNING)
    logger = logging.getLogger("phraseloom")
    logger.addHandler(handler)
    try:
        if not console.is_terminal:
            yield lambda entry: console.print(describe(entry), soft_wrap=True, markup=False)
            return
        panel = MetricsPanel(title)
        with Live(panel.table(), console=console, auto_refresh=False) as live:

            def show(entry: MetricsEntry) -> None:
                panel.add(entry)
                live.update(panel.table(), refresh=True)

            yield show
    finally:
        logger.removeHandler(handler)


class MetricsPanel:
    """The newest figures, and the validations so far."""

    def __init__(self, title: str, rows: int = 12) -> None:
        self.title = title
        self.rows = rows
        self.validations: list[MetricsEntry] = []
        self.newest: MetricsEntry | None = None

    def add(self, entry: MetricsEntry) -> None:
        """Remember an entry."""
        if entry["kind"] == "train":
            self.newest = entry
        else:
            self.validations.append(entry)

    def table(self) -> Table:
        """The last validations, with the newest training figures below."""
        caption = describe(self.newest) if self.newest else "the first steps are under way"
        title = Text(printable(self.title), "table.title")
        table = Table(title=title, caption=caption, title_justify="left")
        for column in ("step", "documents", "perplexity", "F1@5", "F1@M", "time"):
            table.add_column(column, justify="right")
        for entry in self.validations[-self.rows :]:
            table.add_row(
                f"{entry['step']:,}",
                f"{entry['documents']:,}",
                f"{entry['perplexity']:.2f}",
                _score(entry["f1@5"]),
                _score(entry["f1@M"]),
                _time(entry["seconds"]),
            )
        return table


def describe(entry: MetricsEntry) -> str:
    """One line about an entry."""
    start = f"step {entry['step']:,}  epoch {entry['epoch'] + 1}"
    if entry["kind"] == "train":
        return (
            f"{start}  loss {entry['loss']:.3f}  importance {entry['importance']:.3f}"
            f"  gradient {entry['norm']:.2f}  rate {entry['rate']:.1e}"
            f"  {entry['documents_per_second']:.1f} documents/s"
            f"  {_time(entry['seconds'])} gone, {_time(entry['seconds_left'])} left"
        )
    return (
        f"{start}  validation: perplexity {entry['perplexity']:.2f}"
        f"  F1@5 {_score(entry['f1@5'])}  F1@M {_score(entry['f1@M'])}"
        f"  after {entry['documents']:,} documents, {_time(entry['seconds'])}"
    )


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _time(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
