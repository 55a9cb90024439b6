"""What pyarrow is for: Parquet files, and files elsewhere, such as ``s3://bucket/papers``.

The address of a file elsewhere is kept as a Path, which makes ``s3:/bucket/papers`` of it.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

from phraseloom.errors import PhraseloomError, ReadingError, import_extra
from phraseloom.text.words import replace_surrogates

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:")
_PARQUET_ROWS = 1024  # that are read at a time
_PARQUET_BYTES = 64 << 20  # if they are not that many rows
_LARGEST_TABLE = 512 << 20  # of which several copies are made


def import_arrow() -> Any:
    """The package pyarrow.

    Raises:
        MissingExtraError: it is not installed.
    """
    import_extra("pyarrow.fs", "Parquet", "parquet")
    import_extra("pyarrow.parquet", "Parquet", "parquet")
    return import_extra("pyarrow", "Parquet", "parquet")


def is_address(path: Path) -> bool:
    """Whether a file is elsewhere: its path begins with ``s3:`` or the like."""
    return len(path.parts) > 1 and _SCHEME.fullmatch(path.parts[0]) is not None


def name_of(path: Path) -> str:
    """A path or an address as people write it."""
    return str(path).replace(":/", "://", 1) if is_address(path) else str(path)


def find_filesystem(path: Path) -> tuple[Any, str]:
    """Where a path or an address leads: a file system of pyarrow, and the path in there.

    Raises:
        ReadingError: there is no such file system, or pyarrow cannot be told the path.
    """
    pa = import_arrow()
    if (shown := replace_surrogates(name_of(path))) != name_of(path):
        raise ReadingError(f"the name of {shown} is not UTF-8; rename it")
    if not is_address(path):
        return pa.fs.LocalFileSystem(), os.path.abspath(path)
    scheme, *rest = path.parts
    address = f"{scheme}//{'/' if scheme == 'file:' else ''}{'/'.join(rest)}"
    try:
        return pa.fs.FileSystem.from_uri(address)
    except (OSError, ValueError, ImportError) as error:
        raise ReadingError(f"cannot reach {address}: {first_line(error)}") from None


def first_line(error: BaseException) -> str:
    """What an error says, in one line."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def list_files(address: Path) -> list[Path]:
    """The files at or below an address in order; hidden ones are left out.

    Raises:
        ReadingError: there is nothing, or it cannot be listed.
    """
    pa = import_arrow()
    system, root = find_filesystem(address)
    try:
        if system.get_file_info(root).type != pa.fs.FileType.Directory:
            return [address]
        found = system.get_file_info(pa.fs.FileSelector(root, recursive=True))
    except OSError as error:
        raise ReadingError(f"cannot list {name_of(address)}: {first_line(error)}") from None
    names = (file.path[len(root) :].lstrip("/") for file in found if file.is_file)
    return [address / name for name in sorted(names) if not re.search(r"(^|/)[._]", name)]


@contextmanager
def opened_parquet(file: Path) -> Iterator[Any]:
    """A Parquet file, open for reading.

    Raises:
        ReadingError: it cannot be read, there or in the body.
    """
    pa = import_arrow()
    system, path = find_filesystem(file)
    try:
        with system.open_input_file(path) as stream:
            yield pa.parquet.ParquetFile(stream)
    except (OSError, pa.ArrowException) as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else None
        reason = reason or f"{first_line(error)}; is it a complete Parquet file?"
        raise ReadingError(f"cannot read {name_of(file)}: {reason}") from None


def read_tables(file: Path) -> Iterator[Any]:
    """The rows of a Parquet file as tables of about a thousand each, or fewer if they are large.

    Raises:
        ReadingError: it cannot be read, or two of its columns have the same name.
    """
    pa = import_arrow()
    with opened_parquet(file) as parquet:
        check_names(parquet.schema_arrow.names, file)
        for group in range(parquet.num_row_groups):
            rows = _rows_at_once(parquet, group)
            yield from map(
                pa.Table.from_batches, _gather(parquet.iter_batches(rows, row_groups=[group]))
            )


def check_names(names: Sequence[str], file: Path) -> None:
    """Refuse a file in which two columns have the same name: a row would have one of them.

    Raises:
        ReadingError: two have.
    """
    if len({*names}) < len(names):
        raise ReadingError(f"{name_of(file)} has two columns of the same name; rename one")


def _rows_at_once(parquet: Any, group: int) -> int:
    """How many rows can be unpacked together, whatever is in them.

    A value that many rows share is stored once, so that some hundred bytes may unpack to gigabytes;
    but none is larger than its column. One that Arrow keeps as a dictionary is not unpacked.
    """
    pa, metadata, schema = import_arrow(), parquet.metadata.row_group(group), parquet.schema_arrow
    shared = {field.name for field in schema if pa.types.is_dictionary(field.type)}
    columns = [metadata.column(place) for place in range(metadata.num_columns)]
    size = sum(c.total_uncompressed_size for c in columns if c.path_in_schema not in shared)
    return min(_PARQUET_ROWS, max(1, _PARQUET_BYTES // max(1, 4 * size)))


def _gather(batches: Iterable[Any]) -> Iterator[list[Any]]:
    """Batches, as many together as make a table."""
    waiting: list[Any] = []
    rows = size = 0
    for batch in batches:
        waiting.append(batch)
        rows, size = rows + len(batch), size + batch.nbytes
        if rows >= _PARQUET_ROWS or size >= _PARQUET_BYTES:
            yield waiting
            waiting, rows, size = [], 0, 0
    if waiting:
        yield waiting


def to_rows(table: Any, name: str, first: int = 1) -> list[dict[str, Any] | ReadingError]:
    """The rows of a table, or what is wrong with one of them.

    Args:
        table: some rows of a file.
        name: of the file.
        first: number of the first of them.
    """
    try:
        return cast(list[dict[str, Any] | ReadingError], table.to_pylist())
    except Exception:  # as many kinds as there are types of columns
        return [_to_row(table, row, f"{name}:{first + row}") for row in range(len(table))]


def _to_row(table: Any, row: int, place: str) -> dict[str, Any] | ReadingError:
    cells = {}
    for name in table.column_names:
        try:
            cells[name] = _to_python(table[name][row])
        except Exception as error:
            return ReadingError(f"{place}: {name:.60} cannot be read ({first_line(error):.200})")
    return cells


def _to_python(cell: Any) -> Any:
    try:
        return cell.as_py()
    except Exception:  # such as a date after the year 9999, which is text then
        return cell.cast(import_arrow().string()).as_py()


def cut_tables(tables: Iterator[Any], sizes: Iterable[int]) -> Iterator[Any]:
    """The same rows as tables of given sizes; what is missing at the end is missing there too.

    Of a table that would be too large, what stands there is a ReadingError.
    """
    waiting = import_arrow().table({})
    for size in sizes:
        pieces, rows, weight = [], 0, 0
        while rows < size:
            table = waiting if len(waiting) else next(tables, None)
            if table is None:
                break
            piece, waiting = table.slice(0, size - rows), table.slice(size - rows)
            rows, weight = rows + len(piece), weight + piece.nbytes
            if weight <= _LARGEST_TABLE:
                pieces.append(piece)
            else:
                pieces.clear()
        yield _joined(pieces, rows, weight)


def _joined(pieces: Sequence[Any], rows: int, weight: int) -> Any:
    pa = import_arrow()
    if weight > _LARGEST_TABLE:
        return ReadingError(
            f"{rows:,} rows together have more than {_LARGEST_TABLE >> 20} MB; take fewer"
            " --part-rows and a new folder"
        )
    return pa.concat_tables(pieces) if pieces else pa.table({})


class Folder:
    """A directory of files that are whole or not there, here or elsewhere; it can be pickled."""

    def __init__(self, path: Path) -> None:
        self.path = path if is_address(path) else Path(os.path.abspath(path))

    def __reduce__(self) -> tuple[type["Folder"], tuple[Path]]:
        return Folder, (self.path,)

    def list(self, below: str = "") -> list[str]:
        """Names of the files of a directory in it, in order; none if there is no such directory."""
        pa = import_arrow()
        system, root = find_filesystem(self.path / below)
        with self._explained("list", below):
            selector = pa.fs.FileSelector(root, allow_not_found=True)
            return sorted(file.base_name for file in system.get_file_info(selector) if file.is_file)

    def read(self, name: str) -> bytes | None:
        """All of a file; none if it is not there."""
        system, path = find_filesystem(self.path / name)
        with self._explained("read", name):
            try:
                with system.open_input_stream(path, compression=None) as stream:
                    return bytes(stream.readall())
            except FileNotFoundError:
                return None

    def write(self, name: str, content: bytes, *, aside: str) -> None:
        """Write a file: into a directory ``aside``, under a name of its own, then renamed."""
        system, path = find_filesystem(self.path / name)
        _, new = find_filesystem(self.path / aside / uuid4().hex)
        with self._explained("write", name):
            for directory in (os.path.dirname(path), os.path.dirname(new)):
                system.create_dir(directory, recursive=True)
            with system.open_output_stream(new, compression=None) as stream:
                stream.write(content)
            system.move(new, path)

    def delete(self, name: str) -> None:
        """Delete a file or a directory with all that is in it, if it is there."""
        pa = import_arrow()
        system, path = find_filesystem(self.path / name)
        with self._explained("delete", name):
            if system.get_file_info(path).type == pa.fs.FileType.Directory:
                system.delete_dir(path)
            elif system.get_file_info(path).is_file:
                system.delete_file(path)

    @contextmanager
    def claimed(self, who: str = "process") -> Iterator[None]:
        """Keep others on this machine, and where files are locked, from writing into it meanwhile.

        It is made if it is not there, and removed again if nothing has been written into it.

        Raises:
            PhraseloomError: it cannot be made, or someone else is writing into it.
        """
        if is_address(self.path):
            yield
            return
        is_new = not self.path.exists()
        with self._explained("write", ""):
            self.path.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_RDONLY)
        try:
            flock(handle, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise PhraseloomError(
                f"another {who} is writing into {self.path}; wait for it, or end it"
            ) from None
        except OSError:
            pass  # a file system without locks
        try:
            yield
        finally:
            if is_new:
                with suppress(OSError):  # it is no longer empty
                    self.path.rmdir()
            os.close(handle)

    @contextmanager
    def _explained(self, what: str, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            place = name_of(self.path / name)
            reason = error.strerror or first_line(error)
            raise PhraseloomError(f"cannot {what} {place}: {reason}") from error
