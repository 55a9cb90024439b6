"""Documents in the rows of JSON lines and of CSV files; a bad row does not spoil the others."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from phraseloom.errors import ReadingError
from phraseloom.reading.named import Named, decode, readable
from phraseloom.text.document import Source

Row = Mapping[str, Any]

_USUAL_COLUMNS = ("text", "abstract", "document", "body")
_LONGEST_CELL = 1 << 30
_DELIMITERS = ",;\t"  # spreadsheets write semicolons where the comma is in the numbers


def read_json_lines(
    lines: Iterable[bytes], name: str, column: str | None
) -> Iterator[Named | ReadingError]:
    """One document a line, named by its number; empty lines are left out."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            place = f"{name}:{number}"
            try:
                yield Named(place, _source(_parse(line, place), place, column))
            except ReadingError as problem:
                yield problem


def read_csv(
    file: Iterable[bytes], name: str, column: str | None
) -> Iterator[Named | ReadingError]:
    """One document a row under a line of column names; each is named by the line it ends on.

    What divides the columns is what the names have most of: commas, semicolons or tabs.
    """
    csv.field_size_limit(_LONGEST_CELL)  # the usual limit is shorter than a paper
    lines = (decode(line, f"{name}:{number}") for number, line in enumerate(file, start=1))
    try:
        header = next(lines, "")
    except ReadingError as problem:
        yield problem
        return
    rows = csv.DictReader(chain([header], lines), delimiter=max(_DELIMITERS, key=header.count))
    try:
        if column is not None and column not in (rows.fieldnames or ()):
            yield ReadingError(_no_column(name, column, rows.fieldnames or ()))
            return
        for row in rows:
            place = f"{name}:{rows.line_num}"
            try:
                yield Named(place, _source(row, place, column))
            except ReadingError as problem:
                yield problem
    except csv.Error as error:
        yield ReadingError(f"{name}:{rows.line_num}: {error}; the rest is left out")
    except ReadingError as problem:
        yield ReadingError(f"{problem}; the rest is left out")


def _parse(line: bytes, place: str) -> Row:
    try:
        row = json.loads(decode(line, place))
    except (ValueError, RecursionError) as error:
        raise ReadingError(f"{place}: not JSON ({error}); write one object a line") from None
    if not isinstance(row, dict):
        raise ReadingError(f"{place}: not a JSON object; write one object a line")
    return row


def _source(row: Row, place: str, column: str | None) -> Source:
    wanted = _USUAL_COLUMNS if column is None else (column,)
    found = next((each for each in wanted if row.get(each) is not None), None)
    if found is None:
        if empty := next((each for each in wanted if each in row), None):
            raise ReadingError(f"{place}: {empty} is empty")
        raise ReadingError(_no_column(place, column, row.keys()))
    if not isinstance(row[found], str):
        raise ReadingError(f"{place}: {found} is not a string")
    title = row.get("title")
    is_apart = isinstance(title, str) and found != "title"
    return Source(readable(row[found]), readable(title) if is_apart and title else "")


def _no_column(place: str, column: str | None, known: Iterable[object]) -> str:
    wanted = " or ".join(_USUAL_COLUMNS) if column is None else column
    there = ", ".join(str(each) for each in known if each is not None) or "nothing"
    return f"{place}: no column {wanted}, only {there}; name the one to read with --column"
