"""Rows of CSV files. What cannot be read as a row is told, and the rows after it are read."""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from pathlib import Path

from phraseloom.errors import ReadingError
from phraseloom.io.compressed import display_name, kind_of, read_lines
from phraseloom.io.files import decode

MAX_COLUMNS = 1_000
"""A row takes as many cells as there are names, however short it is."""
_DELIMITERS = ",;\t"  # spreadsheets write semicolons where the comma is in the numbers
_SEPARATOR_LINES = {f"sep={mark}" for mark in _DELIMITERS} | {"sep="}  # a tab is stripped
_LONGEST_CELL = 64 << 20

Cells = dict[str, str | None]


def read_csv(path: Path) -> Iterator[tuple[int, Cells | ReadingError]]:
    """Rows under a line of column names; each is named by the line it ends on.

    What divides the columns is what the names have most of: commas, semicolons or tabs.

    Raises:
        ReadingError: the names cannot be read, are too many, or two are the same.
    """
    csv.field_size_limit(_LONGEST_CELL)  # the usual limit is shorter than a paper
    name, lines = display_name(path), _Lines(path)
    filled = (line for line in lines if line.strip())
    header = next(filled, "")
    if header.rstrip() in _SEPARATOR_LINES:  # of Excel's own
        header = next(filled, "")
    if not header:
        return
    text: Iterator[str] = lines
    before = lines.number - 1
    if "\r" in header.removesuffix("\r\n"):  # as old Macs end their lines
        header, *others = header.splitlines(keepends=True)
        text = chain(others, (part for line in lines for part in line.splitlines(keepends=True)))
    marks = _DELIMITERS[::-1] if kind_of(path) == ".tsv" else _DELIMITERS  # if there is only one
    reader = csv.reader(chain([header], text), delimiter=max(marks, key=header.count))
    names: list[str] | None = None
    while True:
        begun = before + reader.line_num + 1
        try:
            cells = next(reader)
            problem = lines.take_problem(begun)
        except StopIteration:
            return
        except csv.Error as error:
            cells, problem = [], ReadingError(f"{name}:{before + reader.line_num}: {error}")
        line = before + reader.line_num
        if names is None:
            names = _check_names(cells, problem, name)
        elif problem is not None:
            yield line, problem
        elif cells:
            yield line, _to_row(names, cells, f"{name}:{line}")


class _Lines:
    """Lines of a file as text; what is wrong with those of a row is told when it is asked for."""

    def __init__(self, path: Path) -> None:
        self.number = 0
        self._lines = read_lines(path)
        self._name = display_name(path)
        self._problem: ReadingError | None = None
        self._has_ended = False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines, None)
        if line is None:
            self._has_ended = True
            raise StopIteration
        self.number += 1
        try:
            return decode(line, f"{self._name}:{self.number}")
        except ReadingError as problem:
            self._problem = self._problem or problem
            return line.decode(errors="replace")

    def take_problem(self, begun: int) -> ReadingError | None:
        """What is wrong with the row that began at a line, if anything is."""
        problem, self._problem = self._problem, None
        if self._has_ended:  # within a row: the reader looks for the end of a cell
            return ReadingError(
                f"{self._name}:{begun}: a cell begins with a quotation mark that is never closed,"
                " so that all lines after it belong to it; close it"
            )
        return problem


def _check_names(cells: Sequence[str], problem: ReadingError | None, name: str) -> list[str]:
    """The names of the columns, without those of empty ones at the end."""
    if problem is not None:
        raise problem
    names = list(cells)
    if names.count("") > 1:
        while names and not names[-1]:
            names.pop()
    if len(names) > MAX_COLUMNS:
        raise ReadingError(
            f"{name} has {len(names):,} columns, more than {MAX_COLUMNS:,}; leave some out"
        )
    twice = [shown for shown, times in Counter(names).items() if times > 1]
    if twice:
        raise ReadingError(f"{name} has two columns of the name {twice[0]!r:.60}; rename one")
    return names


def _to_row(names: Sequence[str], cells: Sequence[str], place: str) -> Cells | ReadingError:
    """Cells by their names; those that are lacking are none."""
    if any(cell.strip() for cell in cells[len(names) :]):
        return ReadingError(
            f"{place} has {len(cells)} cells, but there are {len(names)} names of columns;"
            " put quotation marks around cells with a comma in them, or add a name"
        )
    return dict(zip_longest(names, cells[: len(names)]))
