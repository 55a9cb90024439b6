"""Files of several kinds as texts: which files a path stands for, and what they say."""

import io
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

from phraseloom.errors import ReadingError
from phraseloom.reading.markup import html_source, markdown_source
from phraseloom.reading.named import Named, decode, readable
from phraseloom.reading.office import docx_source, pdf_source
from phraseloom.reading.rows import read_csv, read_json_lines
from phraseloom.text.document import Source

STANDARD_INPUT = Path("-")

_TEXTS = {".txt", ".text"}
_MARKDOWN = {".md", ".markdown"}
_PAGES = {".html", ".htm", ".xhtml"}
_JSON_LINES = {".jsonl", ".ndjson"}
_KNOWN = {*_TEXTS, *_MARKDOWN, *_PAGES, *_JSON_LINES, ".csv", ".pdf", ".docx"}


class Input(NamedTuple):
    """A file to read, and its path below what the caller named: where its result goes."""

    path: Path
    below: Path


class Inputs(NamedTuple):
    """What some paths stand for."""

    files: list[Input]
    ignored: list[Path]
    """Files in the directories whose kind is not known."""


def find_inputs(paths: Iterable[Path]) -> Inputs:
    """Files in the order of the paths; a directory stands for all below it that can be read.

    A file named by itself is read whatever its name, as plain text if that says nothing. Hidden
    files and directories are left out, and links to directories are not followed.

    Raises:
        ReadingError: a directory may not be listed.
    """
    files: list[Input] = []
    ignored: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(Input(path, Path("stdin" if path == STANDARD_INPUT else path.name)))
            continue
        for file in _visible_files(path):
            if file.suffix.lower() in _KNOWN:
                files.append(Input(file, file.relative_to(path)))
            else:
                ignored.append(file)
    return Inputs(files, ignored)


def has_rows(path: Path, column: str | None) -> bool:
    """Whether a file may hold any number of documents; standard input does if a column is named."""
    if path == STANDARD_INPUT:
        return column is not None
    return path.suffix.lower() in _JSON_LINES | {".json", ".csv"}


def read_file(path: Path, column: str | None = None) -> Iterator[Named | ReadingError]:
    """The documents of a file, or what is wrong with it; rows are read as they are asked for.

    Args:
        path: of the file, or ``-`` for standard input: plain text, or JSON lines if a column is
            named.
        column: of the text, in JSON lines and CSV.
    """
    name = "stdin" if path == STANDARD_INPUT else readable(str(path))
    try:
        with _open(path) as file:
            if not has_rows(path, column):
                yield Named(name, _source(file.read(), path.suffix.lower(), name))
            elif path.suffix.lower() == ".csv":
                yield from read_csv(file, name, column)
            else:
                yield from read_json_lines(file, name, column)
    except OSError as error:
        yield ReadingError(f"cannot read {name}: {error.strerror or error}")
    except ReadingError as problem:
        yield problem


def _open(path: Path) -> IO[bytes]:
    if path == STANDARD_INPUT:
        return io.BytesIO(sys.stdin.buffer.read())  # closing it leaves standard input open
    return path.open("rb")


def _source(content: bytes, suffix: str, name: str) -> Source:
    if suffix == ".pdf":
        return pdf_source(content, name)
    if suffix == ".docx":
        return docx_source(content, name)
    text = decode(content, name)
    if suffix in _MARKDOWN:
        return markdown_source(text)
    return html_source(text) if suffix in _PAGES else Source(text)


def _visible_files(directory: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(directory, onerror=_refuse):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        yield from (Path(folder) / each for each in sorted(names) if not each.startswith("."))


def _refuse(error: OSError) -> None:
    raise ReadingError(f"cannot list {error.filename}: {error.strerror}; give files instead")
