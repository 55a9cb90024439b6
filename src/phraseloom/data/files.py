"""Files as corpora come: plain or packed with gzip, xz or zstandard, read line by line."""

import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from phraseloom.errors import CorpusError

_PACKINGS = (".gz", ".xz", ".zst")


def without_packing(name: str) -> str:
    """Drop the suffix of a compressed file.

    >>> without_packing("train.jsonl.xz")
    'train.jsonl'
    """
    packing = next((suffix for suffix in _PACKINGS if name.lower().endswith(suffix)), "")
    return name[: len(name) - len(packing)]


def stem_of(file: Path) -> str:
    """Name of a file without what its format adds: ``valid`` for ``valid.jsonl.xz``."""
    return Path(without_packing(file.name)).stem


def open_lines(file: Path) -> Iterator[bytes]:
    """Unpack a file and give its lines, with their ends, as they are read."""
    number = 0
    try:
        with _open(file) as lines:
            for number, line in enumerate(lines, start=1):  # noqa: B007  # for the message below
                yield line
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CorpusError(
            f"cannot read {file} after line {number}: {reason}; is the file complete?"
        ) from None


def bad_byte_line(content: bytes, error: UnicodeDecodeError) -> int:
    """Line, from one, of the byte that could not be decoded."""
    return content.count(b"\n", 0, error.start) + 1


def _open(file: Path) -> IO[bytes]:
    suffix = file.suffix.lower()
    if suffix == ".gz":
        return cast(IO[bytes], gzip.open(file))
    if suffix == ".xz":
        return lzma.open(file)
    if suffix == ".zst":
        return _open_zstandard(file)
    return file.open("rb")


def _open_zstandard(file: Path) -> IO[bytes]:
    try:
        import zstandard  # here: an optional dependency
    except ImportError:
        raise CorpusError(f"{file}: run: pip install zstandard") from None
    try:
        return io.BufferedReader(zstandard.open(file, "rb"))
    except zstandard.ZstdError as error:
        raise OSError(str(error)) from None
