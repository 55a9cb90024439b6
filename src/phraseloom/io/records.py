"""The one reader of documents: rows of Parquet, JSON lines, CSV or text pairs, and other files.

A row has its text in the column ``text`` or another of `TEXT_COLUMNS`, and may have
``title``, ``id``, ``set``, keyphrases in ``keywords`` or a column of that meaning, and any others.
No line is lost in silence.
"""

import json
import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from phraseloom.errors import CorpusError, ReadingError
from phraseloom.io.arrow import opened_parquet, read_tables, to_rows
from phraseloom.io.compressed import display_name, kind_of, read_lines, stem_of
from phraseloom.io.delimited import read_csv
from phraseloom.io.files import (
    PARQUET,
    decode,
    find_inputs,
    has_rows,
    read_source,
    source_of,
    target_of,
)
from phraseloom.text.document import Source
from phraseloom.text.words import normalise, replace_surrogates

logger = logging.getLogger(__name__)

SAID_PER_FILE = 10
"""Bad rows of a file that are said one by one; the others are counted."""

Columns = Mapping[str, Any]
Row = tuple[int, Columns | ReadingError]
"""Its line, and what it holds or what is wrong with it."""

TEXT_COLUMNS = (
    *("text", "abstract", "document", "body"),
    *("content", "description", "summary", "fulltext"),
)
"""Where the text of a row is looked for, in this order, if no column is named."""
READ_COLUMNS = (*TEXT_COLUMNS, "title", "id")
"""What is read of a row, if no column is named."""
_KEYWORD_COLUMNS = ("keywords", "keyword", "keyphrases")
_SPLIT_COLUMNS = ("extractive_keyphrases", "abstractive_keyphrases")
_TABLES = {".csv", ".tsv", PARQUET}
_LONGEST_TEXT = 64 << 20
_ROWS_AT_ONCE = 16


class Record(NamedTuple):
    """A document of a file, and where it stands there."""

    name: str
    """For people: ``paper.pdf``, or ``papers.jsonl:12`` for the row on line 12."""
    row: int | None
    """Number of the row, from 1; none if the file is one document."""
    id: str
    """The row's own, else made of the names of the file and the line."""
    source: Source
    columns: Columns
    """All that the row holds; those that were read as text and title too."""


class CorpusDocument(NamedTuple):
    """One document of a corpus with the keyphrases that someone gave it."""

    id: str
    origin: str
    """The set it belongs to: the row's ``set``, else the name of the file."""
    source: Source
    keywords: tuple[str, ...]


def read_records(
    path: Path, *, column: str | None = None, target: Path | None = None
) -> Iterator[Record | ReadingError]:
    """The documents of a file, read as they are asked for, or what is wrong with one of them.

    Args:
        path: of the file, or ``-`` for standard input: plain text, or JSON lines if a column is
            named.
        column: of the text, if the file has rows; without it, one of the usual names.
        target: file with the keyphrases, if the documents are lines of text; without it, a twin
            beside the file (see `target_of`).

    Raises:
        ReadingError: the rest of the file cannot be read.
    """
    if target is not None:
        yield from to_records(path, read_pair(path, target), column=column)
        return
    if has_rows(path, column):
        yield from to_records(path, read_columns(path), column=column)
        return
    name = display_name(path)
    try:
        yield Record(name, None, stem_of(path), read_source(path), {})
    except ReadingError as problem:
        yield problem


def to_records(
    path: Path, rows: Iterable[Row], *, column: str | None, first: int = 1
) -> Iterator[Record | ReadingError]:
    """Each row of a file as a document, or what is wrong with it; they are numbered from ``first``.

    Raises:
        ReadingError: no row of the file can have a text.
    """
    is_to_check = first == 1 and kind_of(path) in _TABLES  # all rows have the same columns
    for number, (line, columns) in enumerate(rows, start=first):
        place = f"{display_name(path)}:{line}"
        if isinstance(columns, ReadingError):
            yield columns
            continue
        if is_to_check:
            is_to_check = False
            _text_columns(columns, display_name(path), column)
        try:
            source = _source(columns, place, column)
            own = columns.get("id")
            id = f"{stem_of(path)}-{line}" if own in (None, "") else replace_surrogates(str(own))
            yield Record(place, number, id, source, columns)
        except ReadingError as problem:
            yield problem


def read_columns(path: Path) -> Iterator[Row]:
    """The rows of a file, each with its line, or what is wrong with one of them.

    Raises:
        ReadingError: the rest of the file cannot be read.
    """
    if (target := target_of(path)) is not None:
        return read_pair(path, target)
    if kind_of(path) == PARQUET:
        return _read_parquet(path)
    return read_csv(path) if kind_of(path) in _TABLES else _read_json_lines(path)


def _read_parquet(path: Path) -> Iterator[Row]:
    name, first = display_name(path), 1
    for table in read_tables(path):
        for start in range(0, len(table), _ROWS_AT_ONCE):  # a cell of a dictionary may be large
            yield from enumerate(to_rows(table.slice(start, _ROWS_AT_ONCE), name, first), first)
            first += len(table.slice(start, _ROWS_AT_ONCE))


def _read_json_lines(path: Path) -> Iterator[Row]:
    for number, line in enumerate(read_lines(path), start=1):
        if line.strip():
            try:
                yield number, _parse_json(line, f"{display_name(path)}:{number}")
            except ReadingError as problem:
                yield number, problem


def _parse_json(line: bytes, place: str) -> Columns:
    try:
        columns = json.loads(decode(line, place))
    except (ValueError, RecursionError) as error:
        hint = "over several lines" if line.strip() in (b"[", b"{") else f"({error})"
        raise ReadingError(f"{place}: not valid JSON {hint}; write one object a line") from None
    if not isinstance(columns, dict):
        raise ReadingError(f"{place}: not a JSON object; write one object a line")
    try:
        "".join(columns).encode()
    except UnicodeEncodeError:
        return {replace_surrogates(name): value for name, value in columns.items()}
    return columns


def read_pair(source: Path, target: Path) -> Iterator[Row]:
    """Rows of two text files, as the one2seq repositories have them.

    Args:
        source: a line a document, ``title <eos> text``.
        target: its keyphrases, with ``;`` between them, on the same line.

    Raises:
        ReadingError: one has more lines than the other.
    """
    pairs = zip_longest(read_lines(source), read_lines(target))
    for number, (text, phrases) in enumerate(pairs, start=1):
        if text is None or phrases is None:
            short, long = (source, target) if text is None else (target, source)
            raise ReadingError(
                f"{display_name(short)} ends before line {number} of {display_name(long)};"
                " they must pair up"
            )
        try:
            columns = _split_eos(text, f"{display_name(source)}:{number}")
            place = f"{display_name(target)}:{number}"
            keywords = decode(phrases, place)
            if "<eos>" in keywords or keywords.startswith('{"'):
                raise ReadingError(f"{place}: expected keyphrases with ';' between them")
            yield number, {**columns, "keywords": keywords.replace("<peos>", "")}
        except ReadingError as problem:
            yield number, problem


def _split_eos(line: bytes, place: str) -> Columns:
    """Title and text of a line, or its text alone."""
    first, *rest = (part.strip() for part in decode(line, place).split("<eos>"))
    if len(rest) > 1:
        raise ReadingError(f"{place}: expected one document, title <eos> text")
    return {"title": first, "text": rest[0]} if rest else {"text": first}


def _source(columns: Columns, place: str, column: str | None) -> Source:
    names = _text_columns(columns, place, column)
    text = next(filter(None, (_text(columns, name, place) for name in names)), "")
    title = "" if column == "title" else _text(columns, "title", place) or ""
    if not text and not title and all(columns[name] is None for name in names):
        raise ReadingError(f"{place}: {names[0]} is empty")
    return Source(text, title)


def _text_columns(columns: Columns, place: str, column: str | None) -> list[str]:
    """Names of the columns in which the text may be."""
    wanted = TEXT_COLUMNS if column is None else (column,)
    names = [name for name in wanted if name in columns]
    if not names:
        others = ", ".join(columns) or "nothing"
        raise ReadingError(
            f"{place}: no column {' or '.join(wanted)}, only {others};"
            " name the one to read with --column"
        )
    return names


def _text(columns: Columns, name: str, place: str) -> str | None:
    """Content of a column: a string, or the list of its tokens."""
    value = columns.get(name)
    if isinstance(value, list) and all(isinstance(token, str) for token in value):
        value = " ".join(value)
    if value is not None and not isinstance(value, str):
        raise ReadingError(f"{place}: {name} is not a string")
    if value is not None and len(value) > _LONGEST_TEXT:
        raise ReadingError(f"{place}: {name} has more than {_LONGEST_TEXT >> 20} MB; split it")
    return None if value is None else replace_surrogates(value)


def keywords_of(columns: Columns, place: str) -> tuple[str, ...]:
    """Keyphrases of a row: a list, or a string with ``;`` between them.

    Raises:
        ReadingError: there is no column of them, or something else in it.
    """
    names = [name for name in _KEYWORD_COLUMNS if name in columns][:1]
    names = names or [name for name in _SPLIT_COLUMNS if name in columns]
    if not names:
        raise ReadingError(f"{place}: no column keywords or keyphrases")
    phrases: list[str] = []
    for name in names:
        value = columns[name] or []
        values = value.split(";") if isinstance(value, str) else value
        if not isinstance(values, list) or not all(isinstance(part, str) for part in values):
            raise ReadingError(f"{place}: {name} is neither a list of strings nor one with ';'")
        phrases += values
    return tuple(filter(None, (replace_surrogates(phrase).strip() for phrase in phrases)))


class CorpusReader:
    """Iterates over the documents of files and directories, in a fixed order.

    The first bad rows of a file are logged with file and line, all are counted in ``skipped``; a
    strict reader raises CorpusError instead, and every reader for a file that is not there whole.
    """

    def __init__(self, paths: Sequence[Path], *, strict: bool = False) -> None:
        self.files = [file for path in paths for file in corpus_files(Path(path))]
        self.skipped = 0
        self._strict = strict

    def __iter__(self) -> Iterator[CorpusDocument]:
        self.skipped = 0
        for file in self.files:
            before = self.skipped
            try:
                yield from self._read(read_records(file), stem_of(file))
            except ReadingError as problem:
                raise CorpusError(str(problem)) from None
            if self.skipped > before:
                logger.warning("%s: %d documents skipped", file, self.skipped - before)

    def _read(
        self, records: Iterable[Record | ReadingError], origin: str
    ) -> Iterator[CorpusDocument]:
        before = self.skipped
        for record in records:
            try:
                if isinstance(record, ReadingError):
                    raise record
                yield _corpus_document(record, origin)
            except ReadingError as problem:
                if self._strict:
                    raise CorpusError(f"{problem}; mend it, or read without --strict") from None
                if self.skipped - before < SAID_PER_FILE:
                    logger.warning("%s; skipped", problem)
                self.skipped += 1


def _corpus_document(record: Record, origin: str) -> CorpusDocument:
    if not any(normalise(part).strip() for part in record.source):
        raise ReadingError(f"{record.name}: no text")
    if record.row is None and record.source.text.startswith('{"'):
        raise ReadingError(f"{record.name} looks like JSON lines; end its name in .jsonl")
    keywords = () if record.row is None else keywords_of(record.columns, record.name)
    own = record.columns.get("set")
    origin = origin if own in (None, "") else replace_surrogates(str(own))
    return CorpusDocument(record.id, origin, record.source, keywords)


def read_corpus(path: Path, *, strict: bool = False) -> Iterator[CorpusDocument]:
    """Stream the documents of a file or a directory; see CorpusReader for what bad rows do."""
    return iter(CorpusReader([path], strict=strict))


def corpus_files(path: Path) -> list[Path]:
    """Files of a corpus in reading order: the path itself, or what a directory holds.

    Files of a directory that are of no known kind are named in the log.

    Raises:
        CorpusError: there are none, or not all of them can be read.
    """
    if not os.path.exists(path):
        raise CorpusError(f"no corpus at {path}; check the path")
    if (source := source_of(path)) is not None:
        raise CorpusError(f"{path} holds targets; give its source file {source} instead")
    inputs = find_inputs([path])
    if inputs.problems:
        raise CorpusError(f"{inputs.problems[0]}; move it out of {path}")
    for file in inputs.ignored:
        logger.warning("%s: not a corpus file by its name; ignored", file)
    if not inputs.files:
        raise CorpusError(
            f"no corpus files in {path}; expected .jsonl, .csv, .txt or src/trg pairs"
        )
    return [file.path for file in inputs.files]


def corpus_name(path: Path) -> str:
    """Name of a corpus in tables: that of its directory, or of its file without suffixes."""
    return path.name if path.is_dir() else stem_of(path)


def count_lines(file: Path) -> int:
    """Documents that a file can hold at most: what a progress bar counts towards."""
    if kind_of(file) == PARQUET:
        with opened_parquet(file) as parquet:
            return int(parquet.metadata.num_rows)
    return sum(1 for line in read_lines(file) if not line.isspace()) if has_rows(file) else 1
