"""Tagged documents come out of whatever they are kept in; what is guessed or mended is told."""

import csv
import json
from pathlib import Path

import pytest

from phraseloom.errors import CorpusError
from phraseloom.io.tagged import ColumnNames, read_tagged, tag_rows

ROWS = [
    {"Name": f"Box {i}", "Notes": f"A text of some words about ships and sails, number {i}."}
    for i in range(4)
]


def write_table(path: Path, *, encoding: str = "utf-8", delimiter: str = ",") -> Path:
    with path.open("w", encoding=encoding, newline="") as file:
        table = csv.DictWriter(file, ["Name", "Notes", "Subject terms"], delimiter=delimiter)
        table.writeheader()
        for row in [*ROWS, ROWS[0]]:
            table.writerow({**row, "Subject terms": "ships | caf\xe9 sails"})
    return path


def test_a_table_in_an_old_encoding_with_rows_that_repeat(tmp_path: Path) -> None:
    file = write_table(tmp_path / "a.csv", encoding="cp1252", delimiter=";")

    documents, remarks = read_tagged([file])

    assert [document.source.title for document in documents] == [row["Name"] for row in ROWS]
    assert {document.keywords for document in documents} == {("ships", "caf\xe9 sails")}
    told = "\n".join(remarks)
    assert "text from 'Notes', title from 'Name', keywords from 'Subject terms'" in told
    assert "divided by '|'" in told
    assert "read as Windows-1252" in told
    assert "1 documents stand there twice" in told


def test_columns_may_be_named(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    row = {"a": "A title", "b": "A text.", "c": ["one", "two"], "keywords": "no"}
    file.write_text(json.dumps(row) + "\n")

    [document] = read_tagged([file], ColumnNames("b", "a", "c")).documents

    assert (document.source.title, document.keywords) == ("A title", ("one", "two"))


def test_a_folder_of_texts_with_keywords_beside_them(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        (tmp_path / f"{name}.txt").write_text(f"The text called {name}.")
    for name in ("one", "two"):
        (tmp_path / f"{name}.key").write_text("text\ncalled; name\n")

    documents, remarks = read_tagged([tmp_path])

    assert sorted(document.id for document in documents) == ["one", "two"]
    assert documents[0].keywords == ("text", "called", "name")
    [left_out] = [line for line in remarks if "1 texts without keywords left out" in line]
    assert left_out.endswith("three.txt")


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([{"text": "words", "date": "1900"}], "no column of keywords among text, date"),
        ([{"keywords": "a; b"}], "no column of texts"),
        ([], "documents is empty"),
    ],
)
def test_what_is_missing_is_named(rows: list[dict[str, str]], problem: str) -> None:
    with pytest.raises(CorpusError, match=problem):
        tag_rows(rows)
