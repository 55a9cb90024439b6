"""Rows of CSV: what cannot be read as one is told, and the others are read."""

from pathlib import Path
from typing import Any

import pytest

from phraseloom.errors import ReadingError
from phraseloom.io.delimited import MAX_COLUMNS, read_csv
from tests.io.samples import write


def rows_of(path: Path, content: str | bytes) -> list[Any]:
    """Rows with their lines; of those that cannot be read, the message."""
    rows = read_csv(write(path, content))
    return [(line, str(row) if isinstance(row, ReadingError) else row) for line, row in rows]


def test_a_row_that_is_not_utf8_does_not_spoil_the_others(tmp_path: Path) -> None:
    content = b'text,id\none,1\n"na\xefve,\nof two lines",2\nthree,3\n\0,4\nfive,5\n'
    good, bad, third, null, fifth = rows_of(tmp_path / "a.csv", content)
    assert [good, third, fifth] == [
        (2, {"text": "one", "id": "1"}),
        (5, {"text": "three", "id": "3"}),
        (7, {"text": "five", "id": "5"}),
    ]
    assert bad[0] == 4 and "a.csv:3 is not UTF-8" in bad[1]
    assert null[0] == 6 and "a.csv:6 is no text" in null[1]


def test_a_row_that_is_no_csv_does_not_spoil_the_others(tmp_path: Path) -> None:
    good, bad, other = rows_of(tmp_path / "a.csv", "text\none\nt\rwo\nthree\n")
    assert [good[1], other] == [{"text": "one"}, (4, {"text": "three"})]
    assert "a.csv:3: new-line character" in bad[1]


def test_a_quotation_mark_that_is_never_closed_is_told(tmp_path: Path) -> None:
    good, bad = rows_of(tmp_path / "a.csv", 'text,id\n"one",1\n\n2,"two\n3,three\n4,four\n')
    assert good == (2, {"text": "one", "id": "1"})
    assert "a.csv:4: a cell begins with a quotation mark that is never closed" in bad[1]
    whole = rows_of(tmp_path / "b.csv", 'text,id\n"one",1\n2,"two"')
    assert [row for _, row in whole] == [{"text": "one", "id": "1"}, {"text": "2", "id": "two"}]
    with pytest.raises(ReadingError, match=r"c\.csv:1: .*never closed"):
        rows_of(tmp_path / "c.csv", 'text,"id\none,1\n')


def test_cells_without_a_name_are_told_unless_they_are_empty(tmp_path: Path) -> None:
    rows = rows_of(tmp_path / "a.csv", "text,id,,\none,1,,\ntwo, and a half,2\nfour\nfive,5, ,\n")
    assert [row for _, row in rows] == [
        {"text": "one", "id": "1"},
        rows[1][1],
        {"text": "four", "id": None},
        {"text": "five", "id": "5"},
    ]
    assert "a.csv:3 has 3 cells, but there are 2 names of columns; put quot" in rows[1][1]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("text,x,text", "two columns of the name 'text'; rename one"),
        ("text," + ",".join(map(str, range(MAX_COLUMNS))), "1,001 columns, more than 1,000"),
        ("te\udcfft", "a.csv:1 is not UTF-8"),
    ],
)
def test_names_that_would_lose_a_column_are_refused(
    tmp_path: Path, names: str, message: str
) -> None:
    with pytest.raises(ReadingError, match=message):
        rows_of(tmp_path / "a.csv", f"{names}\n1,2,3\n".encode(errors="surrogateescape"))


def test_lines_before_the_names_count(tmp_path: Path) -> None:
    assert rows_of(tmp_path / "a.csv", "\nsep=;\n\ntext;id\none, two;1\n") == [
        (5, {"text": "one, two", "id": "1"})
    ]
    assert rows_of(tmp_path / "empty.csv", "") == []


def test_columns_of_a_file_of_tabs_are_divided_by_tabs(tmp_path: Path) -> None:
    assert rows_of(tmp_path / "a.tsv", "text\none, two\n") == [(2, {"text": "one, two"})]
