"""Bytes of files, plain or compressed with gzip, xz or zstandard, and standard input; in bounds."""

import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from phraseloom.errors import ReadingError, import_extra
from phraseloom.io.arrow import find_filesystem, is_address, name_of
from phraseloom.text.words import replace_surrogates

STANDARD_INPUT = Path("-")
_COMPRESSIONS = (".gz", ".xz", ".zst")
_MAX_LINE = 64 << 20  # bytes, unpacked: more is a trap, not a text
_MAX_FILE = 256 << 20  # pictures in it included
_OFFICE = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", rb"{\rtf")  # .odt, .epub, .xlsx; .doc, .xls; .rtf
_READ_ELSEWHERE = {".docx", ".pdf"}
_DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError)


def without_compression(name: str) -> str:
    """Drop the suffix of a compressed file.

    >>> without_compression("train.jsonl.xz")
    'train.jsonl'
    """
    suffix = next((suffix for suffix in _COMPRESSIONS if name.lower().endswith(suffix)), "")
    return name[: len(name) - len(suffix)]


def kind_of(file: Path) -> str:
    """What the name says of the content: ``.jsonl`` for ``valid.JSONL.xz``."""
    return Path(without_compression(file.name)).suffix.lower()


def stem_of(file: Path) -> str:
    """Name of a file without what its format adds: ``valid`` for ``valid.jsonl.xz``."""
    return Path(without_compression(file.name)).stem


def display_name(file: Path) -> str:
    """Name of a file in messages and results, which can be printed whatever its bytes are."""
    return "stdin" if file == STANDARD_INPUT else replace_surrogates(name_of(file))


def read_lines(file: Path) -> Iterator[bytes]:
    """Lines of a file with their ends, unpacked as they are asked for.

    Raises:
        ReadingError: it cannot be opened, is damaged, or has a line that no document has.
    """
    number = 0
    try:
        with _opened(file) as stream:
            while line := stream.readline(_MAX_LINE + 1):
                number += 1
                if len(line) > _MAX_LINE:
                    raise ReadingError(
                        f"{display_name(file)}:{number} has more than {_MAX_LINE >> 20} MB;"
                        " write one document a line"
                    )
                yield line
    except _DAMAGE as error:
        raise _damaged(file, f" after line {number}" if number else "", error) from None


def read_bytes(file: Path) -> bytes:
    """All of a file, unpacked.

    Raises:
        ReadingError: it cannot be opened, is damaged, too large, or of an office program.
    """
    try:
        with _opened(file) as stream:
            content = stream.read(_MAX_FILE + 1)
    except _DAMAGE as error:
        raise _damaged(file, "", error) from None
    if len(content) > _MAX_FILE:
        name = display_name(file)
        raise ReadingError(f"{name} has more than {_MAX_FILE >> 20} MB; split it")
    if content.startswith(_OFFICE) and kind_of(file) not in _READ_ELSEWHERE:
        raise ReadingError(
            f"{display_name(file)} cannot be read as text; give it as .docx, .pdf, .html or .txt, a"
            " table as .csv"
        )
    return content


def _damaged(file: Path, where: str, error: Exception) -> ReadingError:
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    if isinstance(error, OSError) and error.errno is not None:  # not the content is at fault
        return ReadingError(f"cannot read {display_name(file)}{where}: {reason}")
    return ReadingError(f"cannot read {display_name(file)}{where}: {reason}; is the file complete?")


@contextmanager
def _opened(file: Path) -> Iterator[IO[bytes]]:
    if file == STANDARD_INPUT:
        if sys.stdin is None:  # closed by who started us
            raise ReadingError("cannot read stdin: it is closed; name a file, or pipe a text")
        yield sys.stdin.buffer
    else:
        with _open(file) as stream:
            yield stream


def _open(file: Path) -> IO[bytes]:
    suffix = file.suffix.lower()
    packed: Any = _open_elsewhere(file) if is_address(file) else file
    if suffix == ".gz":
        return cast(IO[bytes], gzip.open(packed))
    if suffix == ".xz":
        return lzma.open(packed)
    if suffix == ".zst":
        zstandard = import_extra("zstandard", "a .zst file", "train")
        stream = packed.open("rb") if packed is file else packed
        return io.BufferedReader(_ZstandardStream(stream, zstandard))
    return cast(IO[bytes], packed.open("rb") if packed is file else packed)


def _open_elsewhere(file: Path) -> IO[bytes]:
    system, path = find_filesystem(file)
    return io.BufferedReader(system.open_input_file(path))


class _ZstandardStream(io.RawIOBase):
    """Unpacked bytes of a file; unlike the library's own reader, it notices one that is cut off."""

    def __init__(self, packed: IO[bytes], zstandard: Any) -> None:
        self._packed = packed
        self._new_frame = zstandard.ZstdDecompressor().decompressobj
        self._failure = zstandard.ZstdError
        self._frame = self._new_frame()
        self._is_between = True  # two frames: here a file may end
        self._unpacked = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # Buffer, from 3.12 on
        while not self._unpacked:
            packed = self._packed.read(1 << 12)  # which may unpack to 128 MB
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
