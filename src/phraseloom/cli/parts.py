"""Results as a folder of Parquet, written on this machine or by a cluster."""

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from phraseloom.cli.console import document_progress, say
from phraseloom.io.arrow import name_of

if TYPE_CHECKING:
    from phraseloom.options import Options


class Parts(NamedTuple):
    """How a folder of Parquet is written."""

    keep: bool
    rows: int
    jobs: int | None
    threads: int
    cluster: str | None
    force: bool


def write_parts(
    paths: Sequence[Path],
    out: Path,
    options: "Options",
    parts: Parts,
    *,
    model: Path | str | None,
    column: str | None,
) -> int:
    """Write a folder of Parquet, or go on with one that was begun; returns how many were set aside.

    Raises:
        PhraseloomError: nothing can be read, or the folder holds something else.
    """
    from phraseloom.dataset.run import Request, extract_files  # here: start-up time

    request = Request(
        paths,
        out,
        options,
        model=model,
        column=column,
        keep=parts.keep,
        part_rows=parts.rows,
        threads=parts.threads,
        force=parts.force,
    )
    silent = nullcontext(lambda done, total, set_aside: None)
    bar: Any = document_progress("rows") if sys.stderr.isatty() else silent
    with bar as on_progress:
        if parts.cluster is None:
            outcome = extract_files(request, jobs=parts.jobs or 1, on_progress=on_progress)
        else:
            from phraseloom import cluster  # here: start-up time

            outcome = cluster.extract_files(
                request, address=parts.cluster, workers=parts.jobs, on_progress=on_progress
            )
    say(f"wrote the keyphrases of {outcome.written} rows into {name_of(out)}")
    if outcome.before:
        say(f"{outcome.before} were there already; --force does them again")
    if outcome.set_aside:
        say(f"{outcome.set_aside} set aside: {name_of(out / '_set_aside.jsonl')} says why")
    return outcome.set_aside
