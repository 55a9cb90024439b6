"""A dataset from files to a folder of Parquet, on one machine; `phraseloom.cluster` has many.

The folder holds a file for each part, and under names that readers of Parquet pass over the
manifest and the rows that were set aside.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from phraseloom import __version__
from phraseloom.dataset.manifest import (
    MANIFEST,
    UNFINISHED,
    Manifest,
    Scan,
    Scanned,
    open_manifest,
    plan_groups,
    scan_file,
)
from phraseloom.dataset.parts import (
    SET_ASIDE,
    DatasetJob,
    FinishedPart,
    Part,
    find_unfinished,
    finish_part,
    part_name,
    problem_line,
    read_parts,
)
from phraseloom.errors import KilledError, PhraseloomError
from phraseloom.io.arrow import Folder, is_address, name_of
from phraseloom.network.registry import find_installed
from phraseloom.network.weights import MANIFEST as MODEL_MANIFEST
from phraseloom.network.weights import checksum, find_model
from phraseloom.options import Options
from phraseloom.parallel import BATCHES_PER_PROCESS, ordered_stream

if TYPE_CHECKING:
    from phraseloom.extractor import Extractor

PART_ROWS = 1000
_KILLS_IN_A_ROW = 24  # without a finished part: it is no row of one that is to blame

Progress = Callable[[int, int, int], None]
"""Told the rows that are done, how many there are to do, and how many of them were set aside."""


class Request(NamedTuple):
    """What a caller wants."""

    paths: Sequence[Path]
    """Files, as `find_inputs` finds them."""
    out: Path
    options: Options
    model: Path | str | None = None
    column: str | None = None
    keep: bool = True
    """Whether all columns of a row are kept, or only where it stands and its id."""
    part_rows: int = PART_ROWS
    threads: int = 1
    force: bool = False
    """Whether to do again what the folder has already."""


class Outcome(NamedTuple):
    """What a run has done."""

    written: int
    """Rows with their keyphrases, in this run."""
    before: int
    """Rows that an earlier run had done."""
    set_aside: int
    """Of all rows, and files that could not be read to their end."""


class Run:
    """A dataset that is begun: what is to do, and what of it is done."""

    def __init__(self, request: Request, scan: Scan) -> None:
        self._out = Folder(request.out)
        model = find_model(find_installed(request.model)).absolute()
        if request.force:
            self._clear()
        wanted = Manifest(
            version=__version__,
            model=checksum(model / MODEL_MANIFEST),
            options=request.options.model_dump(mode="json"),
            column=request.column,
            keep=request.keep,
            part_rows=request.part_rows,
        )
        self.manifest = open_manifest(self._out, wanted, request.paths, scan)
        schema, options = self.manifest.kept_schema, request.options
        self.job = DatasetJob(
            self._out, schema, request.keep, request.column, options, model, request.threads
        )
        self.groups = list(plan_groups(self.manifest))
        self._rows = {part: rows for group in self.groups for part, rows in group.parts.items()}
        self._before = self.manifest.total - sum(self._rows[part] for part in self.todo)
        self._done = self._written = self._set_aside = 0

    @property
    def todo(self) -> set[int]:
        """The parts that are not there yet."""
        there = {*self._out.list()}
        return {part for part in self._rows if part_name(part) not in there}

    def note(self, finished: FinishedPart, on_progress: Progress) -> None:
        """Count a part."""
        self._done += self._rows[finished.number]
        self._written += finished.written
        self._set_aside += finished.set_aside
        on_progress(self._done, self.manifest.total - self._before, self._set_aside)

    def close(self) -> Outcome:
        """Put all that was set aside into one file, and leave nothing that is not a result."""
        name = f"{SET_ASIDE}.jsonl"
        lines = self._out.read(name)
        if lines is None:
            parts = [self._out.read(f"{SET_ASIDE}/{part}") for part in self._out.list(SET_ASIDE)]
            damaged = [
                problem_line(file.path, None, file.problem)
                for file in self.manifest.files
                if file.problem
            ]
            lines = b"".join([*filter(None, parts), *damaged])
            self._out.write(name, lines, aside=UNFINISHED)
        self._out.delete(SET_ASIDE)
        self._out.delete(UNFINISHED)
        return Outcome(self._written, self._before, lines.count(b"\n"))

    def _clear(self) -> None:
        """Delete what an earlier run has written, the manifest last."""
        names = self._out.list()
        if names and MANIFEST not in names:
            raise PhraseloomError(
                f"{name_of(self._out.path)} holds files that are no results; give another --out"
            )
        parts = [name for name in names if name.startswith("part-")]
        for name in [*parts, f"{SET_ASIDE}.jsonl", SET_ASIDE, UNFINISHED, MANIFEST]:
            self._out.delete(name)


@contextmanager
def claimed_run(request: Request, scan: Scan) -> Iterator[Run]:
    """Begin a dataset, or go on with it, while no other process writes into its folder."""
    if not is_address(request.out) and request.out.is_file():
        raise PhraseloomError(f"{request.out} is a file; give a folder with --out")
    with Folder(request.out).claimed():
        yield Run(request, scan)


def extract_files(
    request: Request, *, jobs: int = 1, on_progress: Progress = lambda done, total, aside: None
) -> Outcome:
    """Find the keyphrases of files and write them as Parquet; go on with what was begun.

    A process that is killed is replaced; of this one, the same call goes on, and does the part at
    which it was killed in another.

    Raises:
        PhraseloomError: nothing can be read or written, or the folder holds something else.
    """
    kills = 0
    with claimed_run(request, _scan) as run:
        work = partial(finish_in_process, run.job)
        while todo := run.todo:
            suspects = _suspects(run.job, todo, jobs)
            parts = read_parts(run.job, run.groups, suspects or todo)
            processes, is_apart = (1, True) if suspects else (jobs, False)
            try:
                for finished in ordered_stream(parts, work, processes=processes, is_apart=is_apart):
                    run.note(finished, on_progress)
                    kills = 0
            except KilledError:
                kills += 1
                if kills == _KILLS_IN_A_ROW:
                    raise
        return run.close()


def _suspects(job: DatasetJob, todo: Collection[int], jobs: int) -> set[int]:
    """Parts at which a process may have died: they are done one at a time, so that it is clear."""
    first = sorted(todo)[: jobs * BATCHES_PER_PROCESS]  # no other can have been begun
    return find_unfinished(job, first, of_any_run=jobs == 1)


def _scan(paths: Sequence[Path], column: str | None) -> Iterable[Scanned]:
    return (scan_file(path, column) for path in paths)


def finish_in_process(job: DatasetJob, part: Part) -> FinishedPart:
    """Do a part with the extractor of this process."""
    return finish_part(load_extractor(job.model, job.threads), job, part)


@lru_cache(maxsize=1)
def load_extractor(model: Path, threads: int) -> "Extractor":
    """The extractor of this process."""
    from phraseloom.extractor import Extractor  # here: start-up time

    return Extractor.load(model, threads=threads)
