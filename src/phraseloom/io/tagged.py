"""Documents that someone has tagged, out of whatever they are kept in.

Tables, JSON lines, the text pairs of the literature, and folders of texts with a file of keywords
beside each. Columns and what divides keywords are guessed; every guess is told, and so is all that
was mended or dropped.
"""

import codecs
import json
import os
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from phraseloom.errors import CorpusError, ReadingError, shown
from phraseloom.io.compressed import (
    display_name,
    kind_of,
    read_lines,
    stem_of,
    without_compression,
)
from phraseloom.io.files import PARQUET, find_inputs, has_rows, read_phrases, read_source, target_of
from phraseloom.io.records import TEXT_COLUMNS, CorpusDocument, read_columns
from phraseloom.text.document import Source
from phraseloom.text.language import foreign_look
from phraseloom.text.words import normalise, replace_surrogates

_TITLES = ("title", "name", "headline", "heading")
_KEYWORDS = ("keyword", "keyphrase", "key phrase", "tag", "subject", "descriptor", "catchphrase")
_KEY_SUFFIXES = (".key", ".keys", ".keywords", ".kwd", ".tags")
_SEPARATORS = (";", "|", "\n", ",")
SPREADSHEETS = {".xlsx", ".xlsm", ".xls", ".ods", ".numbers"}
_BINARY = {PARQUET, ".pdf", ".docx"}
_WIDE = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE
_SAMPLE = 50  # rows that columns are guessed by, and texts that the language is told by
_SHOWN = 3  # bad rows that are told one by one
_LONGEST_NAME = 60  # characters; what is longer and stands where columns have names is a text
_SHOWN_NAME = 30

Row = Mapping[str, Any]
NumberedRow = tuple[int, Row | ReadingError]


class ColumnNames(NamedTuple):
    """What the columns are called; none: to be guessed."""

    text: str | None = None
    title: str | None = None
    keywords: str | None = None


GUESSED = ColumnNames()


class Tagged(NamedTuple):
    """Documents, each once, and a line about everything that was guessed, mended or dropped."""

    documents: list[CorpusDocument]
    remarks: list[str]


def read_tagged(paths: Sequence[Path], names: ColumnNames = GUESSED) -> Tagged:
    """Read tagged documents from files and folders.

    Raises:
        CorpusError: there is nothing to read, or no column of texts or keywords.
    """
    remarks: list[str] = []
    documents: list[CorpusDocument] = []
    for path in paths:
        if not os.path.exists(path):
            raise CorpusError(f"there is no {display_name(path)}; check the name")
        if kind_of(path) in SPREADSHEETS:
            raise CorpusError(f"{display_name(path)} is a spreadsheet; save it as CSV in UTF-8")
        inputs = find_inputs([path])
        if not inputs.files:
            empty = ReadingError(f"{display_name(path)} holds no texts that can be read")
            problem = next(iter(inputs.problems), empty)
            raise CorpusError(f"{problem}; give a table, or a folder of texts with their keywords")
        remarks += [str(problem) for problem in inputs.problems]
        singles = [file.path for file in inputs.files if not has_rows(file.path)]
        for file in inputs.files:
            if has_rows(file.path):
                documents += _read_rows(file.path, names, remarks)
        if singles:
            documents += _read_texts(singles, remarks)
    return _finish(documents, remarks)


def tag_rows(rows: Iterable[Row], names: ColumnNames = GUESSED) -> Tagged:
    """Rows that are in memory already, such as dictionaries or those of a data frame."""
    remarks: list[str] = []
    return _finish(_documents(_number(rows), "documents", names, remarks), remarks)


def _number(rows: Iterable[Row]) -> Iterator[tuple[int, Row]]:
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping) or not all(isinstance(name, str) for name in row):
            raise CorpusError(
                f"document {number} must be a row with the names of its columns, such as"
                f" {{'text': ..., 'keywords': [...]}}, not {shown(row)}"
            )
        yield number, row


def _finish(documents: Iterable[CorpusDocument], remarks: list[str]) -> Tagged:
    """Each document once; and what there is to say of them all."""
    merged = _merge_repeats(list(documents), remarks)
    looks = [look for d in merged[:_SAMPLE] if (look := foreign_look(d.source.text))]
    if 2 * len(looks) > len(merged[:_SAMPLE]):
        remarks.append(
            f"most texts are {looks[0]}; phraseloom parses English, so only their words and what"
            " your people list of them can be learned from"
        )
    return Tagged(merged, remarks)


def _read_rows(path: Path, names: ColumnNames, remarks: list[str]) -> list[CorpusDocument]:
    with TemporaryDirectory() as scratch:
        mended = as_utf8(path, Path(scratch), remarks)
        try:
            rows = map(partial(_tell_original, Path(scratch), path), read_columns(mended))
            first = next(rows, None)
            if first is None:
                has_header = any(map(bytes.strip, read_lines(mended)))
                nothing = "has a header and no rows" if has_header else "is empty"
                raise CorpusError(f"{display_name(path)} {nothing}; export it again")
            return list(_documents(chain([first], rows), display_name(path), names, remarks))
        except ReadingError as problem:
            raise CorpusError(_name_original(str(problem), Path(scratch), path)) from None


def _tell_original(scratch: Path, path: Path, row: NumberedRow) -> NumberedRow:
    """The same row, its problem told of the file that was mended."""
    number, content = row
    if isinstance(content, ReadingError):
        content = ReadingError(_name_original(str(content), scratch, path))
    return number, content


def _name_original(problem: str, scratch: Path, path: Path) -> str:
    """What is wrong with a mended copy of a file, or with its twin, told of the file itself."""
    for copy in scratch.iterdir():
        is_own = copy.name == without_compression(path.name)
        original = path if is_own else path.with_name(copy.name)
        problem = problem.replace(display_name(copy), display_name(original))
    return problem


def as_utf8(path: Path, scratch: Path, remarks: list[str]) -> Path:
    """The file, or a copy in UTF-8: of UTF-16, and of lines that are read as Windows-1252."""
    files = [path, *filter(None, [target_of(path)])]
    if kind_of(path) in _BINARY or all(map(_is_utf8, chain.from_iterable(map(read_lines, files)))):
        return path
    bad = 0
    for file in files:
        with (scratch / without_compression(file.name)).open("wb") as copy:
            lines = read_lines(file)
            first = next(lines, b"")
            if first.startswith(_WIDE):  # whose lines do not end where those of bytes do
                parts = codecs.iterdecode(chain([first], lines), "utf-16", "replace")
                copy.writelines(part.encode() for part in parts)
                continue
            for line in chain([first], lines):
                bad += not _is_utf8(line)
                copy.write(line if _is_utf8(line) else line.decode("cp1252", "replace").encode())
    if bad:
        remarks.append(f"{display_name(path)}: {bad} lines are not UTF-8; read as Windows-1252")
    return scratch / without_compression(path.name)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _documents(
    rows: Iterable[NumberedRow],
    place: str,
    names: ColumnNames,
    remarks: list[str],
) -> Iterator[CorpusDocument]:
    stream = iter(rows)
    sample = list(islice(stream, _SAMPLE))
    good = [row for _, row in sample if not isinstance(row, ReadingError)]
    if not good:
        first = next((str(row) for _, row in sample), f"{place} is empty")
        raise CorpusError(first)
    chosen = _guess(good, names, place)
    cells = [row.get(chosen.keywords or "") for row in good]
    separator = _guess_separator(cells)
    named = ((what, name) for what, name in chosen._asdict().items() if name)
    told = [f"{what} from {name!r:.{_LONGEST_NAME}}" for what, name in named]
    told += [f"keywords divided by {separator!r}"] * isinstance(cells[0], str)
    remarks.append(f"{place}: {', '.join(told)}")
    problems, read = [], 0
    for line, row in chain(sample, stream):
        try:
            if isinstance(row, ReadingError):
                raise row
            yield _document(row, chosen, separator, f"{place}:{line}", f"{place}-{line}")
            read += 1
        except ReadingError as problem:
            problems.append(str(problem))
    if not read:
        raise CorpusError(f"{problems[0]}, and so with all rows of {place}; check its columns")
    remarks += [f"{problem}; left out" for problem in problems[:_SHOWN]]
    if len(problems) > _SHOWN:
        remarks.append(f"{place}: {len(problems) - _SHOWN} more rows left out")


def _guess(rows: Sequence[Row], names: ColumnNames, place: str) -> ColumnNames:
    """Which columns hold what, by their names, and the text by its length if no name tells."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    some_columns = _shown_columns(columns)
    names = ColumnNames(
        *(
            name and _find_column(name, columns, what, place)
            for what, name in names._asdict().items()
        )
    )
    lowered = {
        name.lower().replace("_", " ").strip(): name
        for name in reversed(columns)
        if len(name) <= _LONGEST_NAME
    }
    keywords = names.keywords or next(
        (lowered[name] for mark in _KEYWORDS for name in lowered if mark in name), None
    )
    if keywords is None:
        raise CorpusError(
            f"{place}: no column of keywords among {some_columns}; name it with --keywords COLUMN"
        )
    title = names.title or next((lowered[name] for name in _TITLES if name in lowered), None)
    text = names.text or next((lowered[name] for name in TEXT_COLUMNS if name in lowered), None)
    others = [name for name in columns if name not in (title, keywords)]
    text = text or max(others, key=lambda name: _mean_length(rows, name), default=None)
    if text is None or text == keywords:
        raise CorpusError(
            f"{place}: no column of texts among {some_columns}; name it with --text COLUMN"
        )
    return ColumnNames(text, None if title == text else title, keywords)


def _find_column(name: str, columns: Sequence[str], what: str, place: str) -> str:
    """The column that is meant, however its letters are written."""
    if name in columns:
        return name
    for column in columns:
        if _plain(column) == _plain(name):
            return column
    raise CorpusError(
        f"{place}: no column {name!r:.60} for --{what}, only {_shown_columns(columns)}"
    )


def _shown_columns(columns: Sequence[str]) -> str:
    """The first names; where one is a whole text, a table has no line of names at all."""
    shown = ", ".join(
        name if len(name) <= _SHOWN_NAME else f"{name[:_SHOWN_NAME]}…" for name in columns[:12]
    )
    is_header = max(map(len, columns), default=0) <= _LONGEST_NAME
    return shown if is_header else f"{shown} (no header row? write one above it)"


def _plain(name: str) -> str:
    """A name without what eyes do not see: case, blanks around it, two ways to write an umlaut."""
    return unicodedata.normalize("NFC", name).strip().casefold()


def _mean_length(rows: Sequence[Row], name: str) -> float:
    cells = [row.get(name) for row in rows]
    return sum(len(cell) for cell in cells if isinstance(cell, str)) / len(rows)


def _guess_separator(cells: Sequence[object]) -> str:
    """What stands in most of the cells; a comma only if nothing else does, as names have some."""
    strings = [cell for cell in cells if isinstance(cell, str)]
    found = Counter({mark: sum(mark in cell.strip() for cell in strings) for mark in _SEPARATORS})
    others = [mark for mark in _SEPARATORS[:-1] if found[mark]]
    if others:
        return max(others, key=found.__getitem__)
    return "," if found[","] else ";"


def _document(
    row: Row, columns: ColumnNames, separator: str, place: str, id: str
) -> CorpusDocument:
    text, title = (_string(row, name, place) for name in (columns.text, columns.title))
    if not normalise(text + title).strip():
        raise ReadingError(f"{place}: no text")
    own = row.get("id")
    keywords = _keywords(row.get(columns.keywords or ""), separator, place)
    return CorpusDocument(
        id if own in (None, "") else str(own), "own", Source(text, title), keywords
    )


def _string(row: Row, name: str | None, place: str) -> str:
    value = row.get(name) if name else None
    if isinstance(value, list) and all(isinstance(token, str) for token in value):
        value = " ".join(value)
    if value is not None and not isinstance(value, str):
        raise ReadingError(f"{place}: {name} is not a string")
    return replace_surrogates(value or "")


def _keywords(value: object, separator: str, place: str) -> tuple[str, ...]:
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError, RecursionError):  # else a keyword in brackets
            value = json.loads(value)
    if isinstance(value, set | frozenset):
        value = sorted(value, key=str)
    parts = value.split(separator) if isinstance(value, str) else value or []
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise ReadingError(f"{place}: keywords are neither a string nor a list of strings")
    phrases = (" ".join(replace_surrogates(part).split()) for part in parts)
    return tuple(dict.fromkeys(filter(None, phrases)))


def _read_texts(files: Sequence[Path], remarks: list[str]) -> Iterator[CorpusDocument]:
    """Files of one text each, with a file of keywords beside it."""
    lacking, mended, read = [], list[str](), 0
    for file in files:
        keys = _keys_of(file)
        if keys is None:
            lacking.append(display_name(file))
            continue
        with TemporaryDirectory() as scratch:
            try:
                lines = read_phrases(as_utf8(keys, Path(scratch), mended))
                source = read_source(as_utf8(file, Path(scratch), mended))
            except ReadingError as problem:
                told = _name_original(str(problem), Path(scratch), file)
                remarks.append(f"{told}; left out")
                continue
        read += 1
        parts = [part.strip() for line in lines for part in line.split(";")]
        yield CorpusDocument(stem_of(file), "own", source, tuple(filter(None, parts)))
    remarks += mended[:_SHOWN]
    if len(mended) > _SHOWN:
        remarks.append(f"{len(mended) - _SHOWN} more files are not UTF-8; read as Windows-1252")
    if not read:
        raise CorpusError(
            f"{lacking[0] if lacking else files[0]} has no file of keywords beside it; name it"
            f" {Path(files[0].name).stem}{_KEY_SUFFIXES[0]}, with one keyword a line"
        )
    if lacking:
        remarks.append(f"{len(lacking)} texts without keywords left out, such as {lacking[0]}")


def _keys_of(file: Path) -> Path | None:
    """The file of keywords beside a text, or in a folder ``keys`` beside the text's."""
    stem = stem_of(file)
    for folder in (file.parent, file.parent / "keys", file.parent.parent / "keys"):
        for suffix in _KEY_SUFFIXES:
            if (keys := folder / f"{stem}{suffix}").is_file():
                return keys
    return None


def _merge_repeats(documents: Sequence[CorpusDocument], remarks: list[str]) -> list[CorpusDocument]:
    """Each text once, with the keywords of all its copies."""
    by_text: dict[str, CorpusDocument] = {}
    for document in documents:
        key = " ".join(normalise("\n".join(document.source)).lower().split())
        first = by_text.setdefault(key, document)
        if first is not document:
            both = tuple(dict.fromkeys((*first.keywords, *document.keywords)))
            by_text[key] = first._replace(keywords=both)
    if repeats := len(documents) - len(by_text):
        remarks.append(f"{repeats} documents stand there twice; each is taken once")
    return list(by_text.values())
