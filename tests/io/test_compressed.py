"""Compressed files read like plain ones; cut, damaged and endless ones are refused."""

import gzip
import io
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from phraseloom.errors import ReadingError
from phraseloom.io import compressed
from phraseloom.io.compressed import kind_of, read_bytes, read_lines, stem_of
from tests.io.samples import write

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.compress,
}
CONTENT = b"".join(b"%d graphs\r\n" % number for number in range(5_000)) + b"no end"


@pytest.mark.parametrize("suffix", PACKERS)
def test_lines_and_bytes_are_those_of_the_plain_file(tmp_path: Path, suffix: str) -> None:
    file = write(tmp_path / f"rows.jsonl{suffix}", PACKERS[suffix](CONTENT))
    assert read_bytes(file) == CONTENT
    assert list(read_lines(file)) == CONTENT.splitlines(keepends=True)
    assert (stem_of(file), kind_of(file)) == ("rows", ".jsonl")


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_a_file_that_is_cut_is_refused(tmp_path: Path, suffix: str) -> None:
    packed = PACKERS[suffix](CONTENT)
    file = write(tmp_path / f"rows.jsonl{suffix}", packed[: len(packed) * 6 // 10])
    with pytest.raises(ReadingError, match=r"rows.jsonl.*is the file complete"):
        list(read_lines(file))
    with pytest.raises(ReadingError, match=r"rows.jsonl.*is the file complete"):
        read_bytes(file)


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_a_file_that_is_something_else_is_refused(tmp_path: Path, suffix: str) -> None:
    file = write(tmp_path / f"rows.jsonl{suffix}", b"not packed")
    with pytest.raises(ReadingError, match="cannot read .*rows.jsonl"):
        list(read_lines(file))


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_line_or_a_file_without_an_end_is_refused(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compressed, "_MAX_LINE", 1 << 20)
    monkeypatch.setattr(compressed, "_MAX_FILE", 2 << 20)
    file = write(tmp_path / f"rows.jsonl{suffix}", PACKERS[suffix](b"x\n" + bytes(3 << 20)))
    lines = read_lines(file)
    assert next(lines) == b"x\n"
    with pytest.raises(ReadingError, match=":2 has more than 1 MB; write one document a line"):
        next(lines)
    with pytest.raises(ReadingError, match="has more than 2 MB; split it"):
        read_bytes(file)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReadingError, match=r"^cannot read .*none.txt: No such file or directory$"):
        read_bytes(tmp_path / "none.txt")
    with pytest.raises(ReadingError, match="Is a directory"):
        list(read_lines(tmp_path))


def test_standard_input_is_read_and_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(b"one\ntwo"))
    monkeypatch.setattr("sys.stdin", stream)
    assert list(read_lines(Path("-"))) == [b"one\n", b"two"]
    assert not stream.closed


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    with pytest.raises(Exception, match=r"\.zst file needs .* pip install '\.\[train\]'"):
        read_bytes(write(tmp_path / "a.zst", b"x"))
