"""What a dataset is made of: its files, counted before work begins, and how they make parts.

The manifest is written first and fixes all that results depend on. So the same command goes on with
what another has begun, and a different one is refused.
"""

import base64
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from phraseloom.dataset.columns import Types, infer_types, to_schema, unify_types
from phraseloom.errors import PhraseloomError, ReadingError
from phraseloom.io.arrow import (
    Folder,
    check_names,
    find_filesystem,
    import_arrow,
    is_address,
    name_of,
    opened_parquet,
)
from phraseloom.io.compressed import display_name, kind_of
from phraseloom.io.delimited import MAX_COLUMNS
from phraseloom.io.files import PARQUET, has_rows
from phraseloom.io.records import Columns, Row, read_columns, to_records
from phraseloom.parallel import in_batches

MANIFEST = "_manifest.json"
UNFINISHED = "_unfinished"
"""Where parts are written before they have their name, and who has begun what is noted."""
_SCANNED_TOGETHER = 1000
_DOCUMENT = ("file", "title", "text")
_RESULT = ("file", "row", "id")


class InputFile(BaseModel):
    """A file as it was when it was counted."""

    model_config = ConfigDict(frozen=True)
    path: str
    size: int | None
    modified: int | None
    rows: int
    problem: str | None = None


class Manifest(BaseModel):
    """All that the results depend on."""

    version: str
    model: str
    """Checksum of the model's own manifest."""
    options: dict[str, Any]
    column: str | None
    keep: bool
    part_rows: int
    files: list[InputFile] = []
    columns: str = ""
    """Those that are kept: an Arrow schema in base 64."""

    @property
    def total(self) -> int:
        """Rows of all files."""
        return sum(file.rows for file in self.files)

    @property
    def kept_schema(self) -> Any:
        """The columns that are kept, as Arrow has them."""
        pa = import_arrow()
        return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(self.columns)))


class Group(NamedTuple):
    """What one reader reads: a file, or as many small ones as make a part."""

    files: list[InputFile]
    parts: dict[int, int]
    """Rows of each part, by its number."""


class Scanned(NamedTuple):
    """What a file holds."""

    rows: int
    types: Types
    problem: str | None


Scan = Callable[[Sequence[Path], str | None], Iterable[Scanned]]
"""Scans files, in order, for the text in a column."""


def scan_file(path: Path, column: str | None) -> Scanned:
    """Count the rows of a file and see what their columns hold."""
    if not has_rows(path):
        if is_address(path) or os.path.exists(path):
            return Scanned(1, {}, None)
        return Scanned(0, {}, f"cannot read {name_of(path)}: there is no such file")
    scan = _scan_parquet if kind_of(path) == PARQUET else _scan_rows
    return scan(path, column)


def _scan_parquet(path: Path, column: str | None) -> Scanned:
    try:
        with opened_parquet(path) as parquet:
            schema, rows = parquet.schema_arrow, parquet.metadata.num_rows
            check_names(schema.names, path)
        list(to_records(path, [(1, dict.fromkeys(schema.names))], column=column))
    except ReadingError as problem:
        return Scanned(0, {}, str(problem))
    return Scanned(rows, dict(zip(schema.names, schema.types, strict=True)), None)


def _scan_rows(path: Path, column: str | None) -> Scanned:
    rows, types = 0, Types()
    damage: list[ReadingError] = []
    lack: ReadingError | None = None
    for chunk in in_batches(_until_damage(path, damage), _SCANNED_TOGETHER):
        if not rows or lack is not None:  # no row with a text was found so far
            try:
                problem = _find_lack(path, chunk, column)
            except ReadingError as of_all:
                return Scanned(0, {}, str(of_all))
            lack = problem and (lack or problem)
        rows += len(chunk)
        if len(types) <= MAX_COLUMNS:  # more are refused, if they are to be kept
            good: list[Columns] = [row for _, row in chunk if not isinstance(row, ReadingError)]
            types = unify_types(types, infer_types(good))
    told = [str(problem) for problem in [*damage, lack] if problem is not None]
    if lack is not None:
        return Scanned(0, {}, told[0])
    return Scanned(rows, types, told[0] if told else None)


def _until_damage(path: Path, damage: list[ReadingError]) -> Iterator[Row]:
    try:
        yield from read_columns(path)
    except ReadingError as problem:
        damage.append(problem)


def _find_lack(path: Path, rows: Sequence[Row], column: str | None) -> ReadingError | None:
    """What is wrong with the first of some rows, if none of them has a text.

    Raises:
        ReadingError: no row of the file can have one.
    """
    problems = []
    for record in to_records(path, rows, column=column):
        if not isinstance(record, ReadingError):
            return None
        problems.append(record)
    return problems[0]


def open_manifest(
    out: Folder,
    wanted: Manifest,
    paths: Sequence[Path],
    scan: Scan,
) -> Manifest:
    """The manifest of what is begun already if it is the same, else a new one.

    Args:
        out: where it lies.
        wanted: without files.
        paths: of the files.
        scan: counts files, in order; not called if they were counted before.

    Raises:
        PhraseloomError: the folder holds other things, or there is nothing to do.
    """
    found = [_look_at(path) for path in paths]
    content = out.read(MANIFEST)
    if content is not None:
        begun = _parse(content, out)
        _check_same(begun, wanted, found, out)
        return begun
    if out.list():
        raise PhraseloomError(
            f"{name_of(out.path)} holds other files; give a new folder with --out, or --force"
        )
    types = Types()
    files = []
    good = [path for path, file in zip(paths, found, strict=True) if not file.problem]
    scans = iter(scan(good, wanted.column))
    for file in found:
        scanned = Scanned(0, {}, file.problem) if file.problem else next(scans)
        files.append(file.model_copy(update={"rows": scanned.rows, "problem": scanned.problem}))
        if len(types) <= MAX_COLUMNS:
            types = unify_types(types, scanned.types)
    problems = [file.problem for file in files if file.problem]
    if problems and not any(file.rows for file in files):
        more = f" (and {len(problems) - 1} more files like it)" if problems[1:] else ""
        raise ReadingError(problems[0] + more)
    schema = _kept_schema(types, paths, keep=wanted.keep).serialize().to_pybytes()
    encoded = base64.b64encode(schema).decode()
    manifest = wanted.model_copy(update={"files": files, "columns": encoded})
    out.write(MANIFEST, manifest.model_dump_json(indent=1).encode(), aside=UNFINISHED)
    return manifest


def _kept_schema(types: Types, paths: Sequence[Path], *, keep: bool) -> Any:
    pa = import_arrow()
    text = pa.string()
    if not keep:
        return pa.schema([(name, pa.int64() if name == "row" else text) for name in _RESULT])
    if not all(map(has_rows, paths)):
        types = unify_types(types, dict.fromkeys(_DOCUMENT, text))
    if len(types) > MAX_COLUMNS:
        some = ", ".join([*types][:5])
        raise ReadingError(
            f"the files have more than {MAX_COLUMNS:,} columns, such as {some:.100}; leave them out"
            " with --no-keep"
        )
    return to_schema(types)


def _look_at(path: Path) -> InputFile:
    try:
        system, place = find_filesystem(path)
    except ReadingError as problem:
        return InputFile(
            path=display_name(path), size=None, modified=None, rows=0, problem=str(problem)
        )
    info = system.get_file_info(place)
    name = name_of(path) if system.type_name != "local" else place
    return InputFile(path=name, size=info.size, modified=info.mtime_ns, rows=0)


def _parse(content: bytes, out: Folder) -> Manifest:
    try:
        return Manifest.model_validate_json(content)
    except ValidationError:
        raise PhraseloomError(
            f"{name_of(out.path / MANIFEST)} is of another version; give a new folder with --out"
        ) from None


def _check_same(begun: Manifest, wanted: Manifest, files: Sequence[InputFile], out: Folder) -> None:
    """Refuse to go on with another command's work."""
    undone = {"rows": 0, "problem": None}
    before, now = ([file.model_copy(update=undone) for file in all] for all in (begun.files, files))
    changed = [
        name
        for name in ("version", "model", "options", "column", "keep", "part_rows")
        if getattr(begun, name) != getattr(wanted, name)
    ] + ["files"] * (before != now)
    if changed:
        raise PhraseloomError(
            f"{name_of(out.path)} was begun with other {' and '.join(changed)};"
            " give a new folder with --out, or --force to do all of it again"
        )


def plan_groups(manifest: Manifest) -> Iterator[Group]:
    """What readers read, and the parts that it makes; the same whenever it is asked."""
    first, size = 0, manifest.part_rows
    files: list[InputFile] = []
    for file in manifest.files:
        files.append(file)
        rows = sum(file.rows for file in files)
        if rows and (rows >= size or file is manifest.files[-1]):
            whole, rest = divmod(rows, size)
            sizes = [size] * whole + [rest] * bool(rest)
            yield Group(files, dict(enumerate(sizes, start=first)))
            first, files = first + len(sizes), []
