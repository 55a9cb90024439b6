"""Progress on stderr: how many documents, how fast, how long still."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def document_progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar while a job runs; the job tells it the documents done and their total.

    No bar appears before the job has said something. Warnings logged meanwhile are printed above
    it.
    """
    from rich import progress  # here: start-up time
    from rich.console import Console
    from rich.file_proxy import FileProxy

    console = Console(stderr=True, soft_wrap=True)  # a warning stays on one line
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[rate]}"),
        progress.TimeRemainingColumn(),
    )
    handler = logging.StreamHandler(FileProxy(console, sys.stderr))
    handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    handler.setLevel(logging.WARNING)
    logger = logging.getLogger("phraseloom")
    logger.addHandler(handler)
    try:
        with progress.Progress(*columns, console=console) as bar:
            task = bar.add_task(title, total=None, rate="", visible=False)

            def on_progress(done: int, total: int) -> None:
                bar.update(task, completed=done, total=total, visible=True)
                speed = bar.tasks[task].speed
                bar.update(task, rate=f"{speed:.0f}/s" if speed else "")

            yield on_progress
    finally:
        logger.removeHandler(handler)
