"""Parts of a dataset: read from files, given their keyphrases, and written whole or not at all.

A part is so many rows, in the order of the files and of their rows. Whoever does a part notes that
it was begun. If that note is found again by the same run, a process was killed that the run has
outlived; whether a row of the part is to blame is found out by noting its batches, then its rows. A
row that is, or at which the extractor raises, is set aside. Notes of another run say nothing: it
was ended, and took its processes along.
"""

import json
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from phraseloom.dataset.columns import (
    fit_table,
    keyphrase_column,
    take_rows,
    to_table,
    with_keyphrases,
)
from phraseloom.dataset.manifest import UNFINISHED, Group, InputFile
from phraseloom.errors import LanguageWarning, PhraseloomError, ReadingError
from phraseloom.io.arrow import (
    Folder,
    cut_tables,
    first_line,
    import_arrow,
    read_tables,
    to_rows,
)
from phraseloom.io.compressed import display_name, kind_of
from phraseloom.io.files import PARQUET, has_rows
from phraseloom.io.records import READ_COLUMNS, Record, Row, read_columns, read_records, to_records
from phraseloom.options import Options
from phraseloom.parallel import in_batches
from phraseloom.text.document import Source

if TYPE_CHECKING:
    from phraseloom.extractor import Extractor
    from phraseloom.keyphrase import Keyphrase

Cut = tuple[int, int]
"""Number of a part, and how many of its rows come from a file."""

SET_ASIDE = "_set_aside"
_BATCH = 8
_DEATHS = 2  # of processes at one row, after which it is to blame


@dataclass(frozen=True)
class DatasetJob:
    """What to do with each part; sent to every process."""

    out: Folder
    schema: Any
    """The columns that are kept."""
    keep: bool
    column: str | None
    options: Options
    model: Path
    threads: int
    run: str = field(default_factory=lambda: uuid4().hex)
    """Tells this run from others that did parts of the same folder."""


class Part(NamedTuple):
    """Some rows of a dataset: those that can be read, and what is wrong with the others."""

    number: int
    table: Any
    sources: list[Source]
    places: list[tuple[str, int | None]]
    """File and number of each row that can be read."""
    problems: list[bytes]
    """Lines of JSON for those that are set aside."""


class FinishedPart(NamedTuple):
    """What became of a part."""

    number: int
    written: int
    set_aside: int


def part_name(number: int) -> str:
    """Name of the file of a part."""
    return f"part-{number:07d}.parquet"


def read_parts(job: DatasetJob, groups: Iterable[Group], wanted: Collection[int]) -> Iterator[Part]:
    """The parts that are wanted, in order, read as they are asked for."""
    for group in groups:
        pieces = chain.from_iterable(
            _read_file(job, file, cuts, wanted) for file, cuts in _cut_files(group)
        )
        for _, of_part in groupby(pieces, key=lambda piece: piece.number):
            yield _join(list(of_part))


def _cut_files(group: Group) -> Iterator[tuple[InputFile, list[Cut]]]:
    """How the rows of each file are divided among parts."""
    parts = iter(group.parts.items())
    number, room = next(parts)
    for file in group.files:
        cuts, rows = [], file.rows
        while rows:
            taken = min(rows, room)
            cuts.append((number, taken))
            rows, room = rows - taken, room - taken
            if not room:
                number, room = next(parts, (number, 0))
        yield file, cuts


def _read_file(
    job: DatasetJob, file: InputFile, cuts: Sequence[Cut], wanted: Collection[int]
) -> Iterator[Part]:
    """The pieces of a file that belong to parts that are wanted; no further is read."""
    places = [place for place, (number, _) in enumerate(cuts, start=1) if number in wanted]
    if not places:
        return
    cuts, path, first = cuts[: places[-1]], Path(file.path), 1
    sizes = [rows for _, rows in cuts]
    chunks: Iterator[Any]
    to_piece: Callable[[DatasetJob, int, InputFile, Any, int], Part]
    if not has_rows(path):
        to_piece, chunks = _from_document, iter([list(read_records(path))])
    elif kind_of(path) == PARQUET:
        to_piece, chunks = _from_table, cut_tables(read_tables(path), sizes)
    else:
        rows = read_columns(path)
        to_piece, chunks = _from_rows, (list(islice(rows, size)) for size in sizes)
    for (number, size), chunk in zip(cuts, chunks, strict=True):
        is_refused = isinstance(chunk, ReadingError)
        if not is_refused and len(chunk) < size:
            raise PhraseloomError(f"{file.path} was changed meanwhile; begin again with --force")
        if number in wanted and is_refused:
            lines = [problem_line(file.path, row, chunk) for row in range(first, first + size)]
            yield Part(number, to_table([], job.schema), [], [], lines)
        elif number in wanted:
            yield to_piece(job, number, file, chunk, first)
        first += size


def _from_document(
    job: DatasetJob, number: int, file: InputFile, outcomes: list[Record | ReadingError], first: int
) -> Part:
    (record,) = outcomes
    if isinstance(record, ReadingError):
        return Part(
            number, to_table([], job.schema), [], [], [problem_line(file.path, None, record)]
        )
    row = {"file": record.name, "id": record.id, **record.source._asdict()}
    return Part(number, to_table([row], job.schema), *_sources([record]), [])


def _from_rows(
    job: DatasetJob, number: int, file: InputFile, rows: Sequence[Row], first: int
) -> Part:
    kept, records, problems = [], [], []
    outcomes = to_records(Path(file.path), rows, column=job.column, first=first)
    for row, ((_, columns), record) in enumerate(zip(rows, outcomes, strict=True), start=first):
        if isinstance(record, Record):
            kept.append(record.columns if job.keep else _place_of(record))
            records.append(record)
        else:
            problems.append(problem_line(file.path, row, record, columns))
    return Part(number, to_table(kept, job.schema), *_sources(records), problems)


def _from_table(job: DatasetJob, number: int, file: InputFile, table: Any, first: int) -> Part:
    place = display_name(Path(file.path))
    names = [name for name in table.column_names if name in {*READ_COLUMNS, job.column}]
    rows = list(enumerate(to_rows(table.select(names), place, first), start=first))
    outcomes = list(to_records(Path(file.path), rows, column=job.column, first=first))
    good = [row for row, record in enumerate(outcomes) if isinstance(record, Record)]
    records = [record for record in outcomes if isinstance(record, Record)]
    problems = [
        problem_line(file.path, first + row, record, to_rows(table.slice(row, 1), place)[0])
        for row, record in enumerate(outcomes)
        if isinstance(record, ReadingError)
    ]
    if job.keep:
        kept = fit_table(take_rows(table, good), job.schema)
    else:
        kept = to_table([_place_of(record) for record in records], job.schema)
    return Part(number, kept, *_sources(records), problems)


def _join(pieces: Sequence[Part]) -> Part:
    """Pieces of several files as the part that they make."""
    if len(pieces) == 1:
        return pieces[0]
    numbers, tables, *lists = zip(*pieces, strict=True)
    table = import_arrow().concat_tables(tables)
    return Part(numbers[0], table, *(list(chain.from_iterable(parts)) for parts in lists))


def _place_of(record: Record) -> dict[str, Any]:
    file = record.name.rpartition(":")[0] if record.row else record.name
    return {"file": file, "row": record.row, "id": record.id}


def _sources(records: Sequence[Record]) -> tuple[list[Source], list[tuple[str, int | None]]]:
    return [record.source for record in records], [(record.name, record.row) for record in records]


def problem_line(file: str, row: int | None, reason: object, columns: object = None) -> bytes:
    """A row that is set aside as a line of JSON: where it stands, the reason, what it holds."""
    held = columns if isinstance(columns, dict) else None
    problem = {"file": file, "row": row, "reason": str(reason), "columns": held}
    return json.dumps(problem, default=str).encode() + b"\n"


def finish_part(extractor: "Extractor", job: DatasetJob, part: Part) -> FinishedPart:
    """Find the keyphrases of a part and write it, after what is set aside of it."""
    attempts = _Attempts(job.out, part.number, job.run)
    with attempts.noted("part"):
        found = _extract(extractor, job.options, part, attempts)
        good = [row for row, phrases in enumerate(found) if not isinstance(phrases, str)]
        problems = part.problems + [
            problem_line(*part.places[row], phrases, to_rows(part.table.slice(row, 1), "")[0])
            for row, phrases in enumerate(found)
            if isinstance(phrases, str)
        ]
        lists = (phrases for phrases in found if not isinstance(phrases, str))
        table = with_keyphrases(take_rows(part.table, good), keyphrase_column(lists))
        if problems:
            name = part_name(part.number).replace(".parquet", ".jsonl")
            job.out.write(f"{SET_ASIDE}/{name}", b"".join(problems), aside=UNFINISHED)
        job.out.write(part_name(part.number), _to_bytes(table), aside=UNFINISHED)
    job.out.delete(attempts.folder)
    return FinishedPart(part.number, len(table), len(problems))


def _to_bytes(table: Any) -> bytes:
    pa = import_arrow()
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(table.combine_chunks(), sink, compression="zstd")
    return bytes(sink.getvalue())


def extract_rows(
    extractor: "Extractor", options: Options, sources: Sequence[Source]
) -> "list[list[Keyphrase] | str]":
    """Keyphrases of each text, or why there are none; one that raises spoils no other."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LanguageWarning)
        try:
            return list(extractor.extract(sources, options))
        except Exception as error:  # whatever it is, it must not stop a million others
            if len(sources) == 1:
                return [f"{type(error).__name__}: {first_line(error)}"]
    alone = [extract_rows(extractor, options, [source])[0] for source in sources]
    good = [row for row, phrases in enumerate(alone) if not isinstance(phrases, str)]
    if good and len(good) < len(sources):
        again = extract_rows(extractor, options, [sources[row] for row in good])
        for row, phrases in zip(good, again, strict=True):
            alone[row] = phrases
    return alone


def by_length(sources: Sequence[Source]) -> list[list[int]]:
    """Rows in batches of texts that are about as long as each other."""
    rows = sorted(range(len(sources)), key=lambda row: len(sources[row].text))
    return list(in_batches(rows, _BATCH))


def _extract(
    extractor: "Extractor", options: Options, part: Part, attempts: "_Attempts"
) -> "list[list[Keyphrase] | str]":
    found: list[list[Keyphrase] | str] = [[] for _ in part.sources]
    for batch in by_length(part.sources):
        name = f"batch-{batch[0]}"
        fatal = (
            attempts.find_fatal(extractor, options, part, batch) if attempts.died_at(name) else {}
        )
        rows = [row for row in batch if row not in fatal]
        with attempts.noted(name, is_needed=attempts.died_at("part") > 0):
            lists = extract_rows(extractor, options, [part.sources[row] for row in rows])
        for row, phrases in [*zip(rows, lists, strict=True), *fatal.items()]:
            found[row] = phrases
    return found


def find_unfinished(job: DatasetJob, parts: Iterable[int], *, of_any_run: bool) -> set[int]:
    """Those parts that were begun, by this run or by any, and not finished."""
    attempts = (_Attempts(job.out, part, None if of_any_run else job.run) for part in parts)
    return {attempt.part for attempt in attempts if attempt.died_at("part")}


class _Attempts:
    """Notes of what was begun and not finished; left behind by processes that were killed.

    Only those of one run count, if one is named.
    """

    def __init__(self, out: Folder, part: int, run: str | None) -> None:
        self.part = part
        self.folder = f"{UNFINISHED}/notes-{part}"
        self._out = out
        self._run = run
        names = (name.split(".") for name in out.list(self.folder))
        self._notes = Counter(name[0] for name in names if run in (None, name[1]))

    def died_at(self, what: str) -> int:
        """How many processes died at it, before this attempt."""
        return self._notes[what]

    @contextmanager
    def noted(self, what: str, *, is_needed: bool = True) -> Iterator[None]:
        """Note that something is begun, until it is done."""
        name = f"{self.folder}/{what}.{self._run}.{uuid4().hex}"
        if is_needed:
            self._out.write(name, b"", aside=UNFINISHED)
        try:
            yield
        finally:
            if is_needed:
                self._out.delete(name)

    def find_fatal(
        self, extractor: "Extractor", options: Options, part: Part, batch: Sequence[int]
    ) -> dict[int, str]:
        """Rows of a batch at which processes die, by trying each alone; this one may be next."""
        fatal = {}
        for row in batch:
            if self.died_at(f"row-{row}") >= _DEATHS:
                fatal[row] = f"{_DEATHS} processes died at it, perhaps for want of memory"
                continue
            with self.noted(f"row-{row}"):
                extract_rows(extractor, options, [part.sources[row]])
        return fatal
