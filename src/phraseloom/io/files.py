"""Which files some paths stand for, and the text of a file that is one document."""

import os
import re
import stat
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from phraseloom.errors import ReadingError
from phraseloom.io.arrow import is_address, list_files
from phraseloom.io.compressed import STANDARD_INPUT, display_name, kind_of, read_bytes
from phraseloom.text.document import Source

PARQUET = ".parquet"
ROW_KINDS = {".jsonl", ".ndjson", ".json", ".csv", ".tsv", PARQUET}
"""Files that hold a document a row; so do those that have a twin (see `target_of`)."""
_MARKDOWN = {".md", ".markdown"}
_PAGES = {".html", ".htm", ".xhtml"}
_KNOWN = {*ROW_KINDS, *_MARKDOWN, *_PAGES, ".txt", ".text", ".src", ".conllu", ".pdf", ".docx"}
_NO_INPUT = {"_manifest.json", "_set_aside.jsonl", "_set_aside", "_unfinished"}
"""What lies beside the parts of a folder of Parquet that we wrote."""
_SOURCE_NAME = re.compile(r"(?<![a-z])(src|source)(?![a-z])")
_TARGET_NAME = re.compile(r"(?<![a-z])(trg|tgt|target)(?![a-z])")
_TARGETS_OF = {"src": ("trg", "tgt"), "source": ("target",)}


class Input(NamedTuple):
    """A file to read, and its path below what the caller named: where its result goes."""

    path: Path
    below: Path


class Inputs(NamedTuple):
    """What some paths stand for."""

    files: list[Input]
    ignored: list[Path]
    """Files in the directories whose kind is not known."""
    problems: list[ReadingError]
    """What in the directories cannot be read."""


def find_inputs(paths: Iterable[Path]) -> Inputs:
    """Files in the order of the paths; a directory stands for all below it that can be read.

    A file named by itself is read whatever its name, as plain text if that says nothing. Of a
    directory hidden files and directories are left out, links to directories are not followed, and
    targets are read with their sources (see `target_of`). What is here is not elsewhere: neither a
    directory ``s3:`` nor anything below it is an address.
    """
    inputs = Inputs([], [], [])
    for path in paths:
        if os.path.isdir(path):  # unlike the method of a path, it never raises
            _look_into(_as_local(path), inputs)
        elif is_address(path) and os.path.lexists(path):
            inputs.files.append(Input(_as_local(path), Path(path.name)))
        elif is_address(path):
            _look_elsewhere(path, inputs)
        else:
            below = "stdin" if path == STANDARD_INPUT else path.name
            inputs.files.append(Input(path, Path(below)))
    return inputs


def _as_local(path: Path) -> Path:
    """A path that is no address, whatever its first directory is called."""
    return Path(os.path.abspath(path)) if is_address(path) else path


def _look_into(directory: Path, inputs: Inputs) -> None:
    """Find the files below a directory, without a call for each level: there may be thousands."""
    waiting = [directory]
    while waiting:
        folder = waiting.pop()
        try:
            folders, names = _list(folder)
        except OSError as error:
            name = display_name(folder)
            inputs.problems.append(ReadingError(f"cannot list {name}: {error.strerror}"))
            continue
        waiting += [folder / name for name in sorted(folders, reverse=True)]
        for name in sorted(names):
            file = _as_local(folder / name)
            if kind_of(file) not in _KNOWN:
                inputs.ignored.append(file)
            elif problem := _opening_problem(file):
                inputs.problems.append(problem)
            elif source_of(file) is None:
                below = (folder / name).relative_to(directory)
                inputs.files.append(Input(file, below))


def _list(folder: Path) -> tuple[list[str], list[str]]:
    """Names of the directories in a directory, and of what else is in it; no links to directories.

    Raises:
        OSError: it cannot be listed.
    """
    folders, names = [], []
    with os.scandir(folder) as entries:
        for entry in entries:
            if not _is_input(entry.name):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            elif not os.path.isdir(entry):
                names.append(entry.name)
    return folders, names


def _is_input(name: str) -> bool:
    return not name.startswith(".") and name not in _NO_INPUT


def _look_elsewhere(address: Path, inputs: Inputs) -> None:
    for file in list_files(address):
        if file == address:
            inputs.files.append(Input(file, Path(file.name)))
        elif kind_of(file) in _KNOWN:
            inputs.files.append(Input(file, file.relative_to(address)))
        else:
            inputs.ignored.append(file)


def _opening_problem(file: Path) -> ReadingError | None:
    """Why a file of a directory cannot be opened; a pipe might make us wait for ever."""
    try:
        is_file = stat.S_ISREG(file.stat().st_mode)
    except OSError as error:
        return ReadingError(f"cannot read {display_name(file)}: {error.strerror}")
    if is_file:
        return None
    return ReadingError(f"{display_name(file)} is no file but a pipe or device; name it to read it")


def target_of(file: Path) -> Path | None:
    """The file of keyphrases beside a file of documents, told by its name: ``trg`` for ``src``."""
    match = _SOURCE_NAME.search(file.name)
    return _twin(file, match, _TARGETS_OF[match[1]]) if match else None


def source_of(file: Path) -> Path | None:
    """The file of documents beside a file of keyphrases, told by its name."""
    match = _TARGET_NAME.search(file.name)
    return _twin(file, match, ("src", "source")) if match else None


def _twin(file: Path, match: re.Match[str], words: Sequence[str]) -> Path | None:
    for word in words:
        twin = file.with_name(file.name[: match.start()] + word + file.name[match.end() :])
        if os.path.isfile(twin):
            return twin
    return None


def has_rows(file: Path, column: str | None = None) -> bool:
    """Whether a file may hold any number of documents; standard input does if a column is named."""
    if file == STANDARD_INPUT:
        return column is not None
    return kind_of(file) in ROW_KINDS or target_of(file) is not None


def read_source(file: Path) -> Source:
    """Text, and title if it has one, of a file that is one document, or of standard input.

    Raises:
        ReadingError: it cannot be read, or may hold several.
    """
    if os.path.isdir(file) or has_rows(file):
        raise ReadingError(f"{display_name(file)} may hold many documents; give a file with one")
    content, kind, name = read_bytes(file), kind_of(file), display_name(file)
    if kind in {".pdf", ".docx"}:
        from phraseloom.io.office import docx_source, pdf_source  # here: start-up time

        return (pdf_source if kind == ".pdf" else docx_source)(content, name)
    text = decode(content, name)
    if kind in _MARKDOWN | _PAGES:
        from phraseloom.io.markup import html_source, markdown_source  # here: start-up time

        return (html_source if kind in _PAGES else markdown_source)(text, name)
    return Source(text)


def read_phrases(file: Path) -> list[str]:
    """The lines of a text file that are not blank.

    Raises:
        ReadingError: it cannot be read, or has none.
    """
    lines = decode(read_bytes(file), display_name(file)).splitlines()
    phrases = [line.strip() for line in lines if line.strip()]
    if not phrases:
        raise ReadingError(f"no phrases in {display_name(file)}; write one a line")
    return phrases


def decode(content: bytes, name: str) -> str:
    """Text of UTF-8 bytes, or of UTF-16 that begins with its mark; its line ends are kept."""
    is_wide = content.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
    try:
        text = content.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        before = content.count(b"\n", 0, error.start)
        line = f" in line {before + 1}" if before else ""
        raise ReadingError(
            f"{name} is not UTF-8 (byte {error.start}{line}); convert it first, for example:"
            f" iconv -f {'UTF-16' if is_wide else 'LATIN1'} -t UTF-8"
        ) from None
    if "\0" in text[:1024]:
        raise ReadingError(f"{name} is no text; .txt, .md, .html, .pdf and .docx can be read")
    return text
