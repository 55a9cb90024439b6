"""What people see beside the results: lines on stderr, progress there too, and tables."""

import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from phraseloom.text.words import printable

if TYPE_CHECKING:
    from rich.table import Table


def say(message: object) -> None:
    """Write one line to stderr, above a bar if there is one; no text in it steers the terminal."""
    print(_one_line(str(message)), file=sys.stderr)


def print_table(table: "Table") -> None:
    """Print a table to stdout, cut to the terminal's width if that is one."""
    from rich.console import Console  # here: start-up time

    console = Console()
    console.print(table, soft_wrap=not console.is_terminal)


@contextmanager
def document_progress(title: str) -> Iterator[Callable[..., None]]:
    """Show a bar while a job runs; the job tells it the documents done, their total, set aside.

    No bar appears before the job has said something. Warnings logged meanwhile are printed above
    it.
    """
    from rich import progress  # here: start-up time
    from rich.console import Console
    from rich.file_proxy import FileProxy

    console = Console(stderr=True, soft_wrap=True)  # a warning stays on one line
    columns = (
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[rate]}"),
        progress.TimeRemainingColumn(),
    )
    handler = logging.StreamHandler(FileProxy(console, sys.stderr))
    handler.setFormatter(_OneLine("%(levelname)s: %(message)s"))
    handler.setLevel(logging.WARNING)
    logger = logging.getLogger("phraseloom")
    logger.addHandler(handler)
    try:
        with progress.Progress(*columns, console=console) as bar:
            task = bar.add_task(title, total=None, rate="", visible=False)

            def on_progress(done: int, total: int, set_aside: int = 0, title: str = title) -> None:
                bar.update(task, description=_one_line(title), completed=done, total=total)
                speed = bar.tasks[task].speed  # none at first
                parts = [f"{speed:.0f}/s"] if speed else []
                parts += [f"{set_aside} set aside"] if set_aside else []
                bar.update(task, rate=", ".join(parts), visible=True)

            yield on_progress
    finally:
        logger.removeHandler(handler)


@contextmanager
def stage_progress(
    title: str, units: Mapping[str, str]
) -> Iterator[Callable[[str, int, int], None]]:
    """Show one bar for a job of several stages; elsewhere than on a terminal, a line for each.

    Args:
        title: of the job.
        units: what a stage counts, if that is not documents.
    """
    shown: list[str] = []
    with document_progress(title) as on_progress:

        def on_stage(what: str, done: int, total: int) -> None:
            if what not in shown:
                shown.append(what)
                if not sys.stderr.isatty():
                    say(f"{what} {total:,} {units.get(what, 'documents')}")
            on_progress(done, total, title=what)

        yield on_stage


class _OneLine(logging.Formatter):
    """A log line whose names of files cannot steer the terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return _one_line(super().format(record))


def _one_line(text: str) -> str:
    return printable(text).replace("\n", "\ufffd")
