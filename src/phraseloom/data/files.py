"""Files as corpora come: plain or packed with gzip, xz or zstandard, read line by line."""

import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

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
    return io.BufferedReader(_ZstandardStream(file, zstandard))


class _ZstandardStream(io.RawIOBase):
    """Unpacked bytes of a file; unlike the library's own reader, it notices one that is cut off."""

    def __init__(self, file: Path, zstandard: Any) -> None:
        self._packed = file.open("rb")
        self._new_frame = zstandard.ZstdDecompressor().decompressobj
        self._failure = zstandard.ZstdError
        self._frame = self._new_frame()
        self._is_between = True  # two frames: here a file may end
        self._unpacked = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # Buffer, from 3.12 on
        while not self._unpacked:
            packed = self._packed.read(1 << 16)
            if not packed:
                if not self._is_between:
                    raise EOFError("compressed file ended early")
                return 0
            self._unpacked = memoryview(self._unpack(packed))
        size = min(len(buffer), len(self._unpacked))
        buffer[:size] = self._unpacked[:size]
        self._unpacked = self._unpacked[size:]
        return size

    def _unpack(self, packed: bytes) -> bytes:
        parts = []
        while packed:
            try:
                parts.append(self._frame.decompress(packed))
            except self._failure as error:
                raise OSError(str(error)) from None
            self._is_between = self._frame.eof
            packed = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame = self._new_frame()
        return b"".join(parts)

    def close(self) -> None:
        self._packed.close()
        super().close()
