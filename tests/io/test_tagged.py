"""Tagged documents come out of whatever they are kept in; what is guessed or mended is told."""

import csv
import json
import unicodedata
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


GERMAN = "Titel;Volltext;Schlagwörter\r\nKiste;Schiffe im Hafen;Schiffe, Hafen\r\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("excel", GERMAN.encode("utf-8-sig")),
        ("ansi", GERMAN.encode("cp1252")),
        ("unicode text", GERMAN.replace(";", "\t").encode("utf-16")),
        ("old mac", GERMAN.replace("\r\n", "\r").encode()),
        ("told by Excel what divides", f"sep=;\r\n{GERMAN}".encode("utf-8-sig")),
        ("umlauts of two letters", unicodedata.normalize("NFD", GERMAN).encode()),
        ("capitals and blanks", GERMAN.replace("Schlagwörter", " SCHLAGWÖRTER ").encode()),
    ],
)
def test_what_spreadsheets_write_is_read(tmp_path: Path, name: str, content: bytes) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes(content)

    [document] = read_tagged([file], ColumnNames(keywords="Schlagwörter", title="Titel")).documents

    assert document.source.title == "Kiste"
    assert document.source.text == "Schiffe im Hafen"
    assert document.keywords == ("Schiffe", "Hafen")


def test_a_spreadsheet_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(b"PK")

    with pytest.raises(CorpusError, match=r"a\.xlsx is a spreadsheet; save it as CSV"):
        read_tagged([tmp_path / "a.xlsx"])


def test_texts_in_another_language_are_told() -> None:
    german = (
        "Die Kiste und der Brief sind nicht mit dem Schiff in den Hafen gekommen, weil es so war. "
    )
    rows = [{"text": f"{german * 3}{n}", "keywords": "Hafen"} for n in range(3)]
    english = {"text": "The box is in the harbour, and the letter was not on the ship. " * 3}

    assert "most texts are probably German" in tag_rows(rows).remarks[-1]
    mixed = [rows[0], *({**english, "keywords": "box", "title": str(n)} for n in range(2))]
    assert not [remark for remark in tag_rows(mixed).remarks if "German" in remark]


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

    (tmp_path / "one.key").write_bytes("text\ncaf\xe9\n".encode("cp1252"))
    (tmp_path / "two.txt").write_bytes("The text called caf\xe9.".encode("cp1252"))

    documents, remarks = read_tagged([tmp_path])

    assert sorted(document.id for document in documents) == ["one", "two"]
    assert documents[0].keywords == ("text", "caf\xe9")
    assert documents[1].keywords == ("text", "called", "name")
    assert documents[1].source.text == "The text called caf\xe9."
    assert sum("read as Windows-1252" in line for line in remarks) == 2
    [left_out] = [line for line in remarks if "1 texts without keywords left out" in line]
    assert left_out.endswith("three.txt")


def test_brackets_without_end_are_a_keyword() -> None:
    brackets = "[" * 100_000
    documents, _ = tag_rows([{"text": "words", "keywords": f"{brackets}; b"}])
    assert documents[0].keywords == (brackets, "b")


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([{"text": "words", "date": "1900"}], "no column of keywords among text, date"),
        ([{"keywords": "a; b"}], "no column of texts"),
        ([], "documents is empty"),
        ([{"text": None, "keywords": "a"}] * 3, "documents:1: no text, and so with all rows"),
    ],
)
def test_what_is_missing_is_named(rows: list[dict[str, str | None]], problem: str) -> None:
    with pytest.raises(CorpusError, match=problem):
        tag_rows(rows)


LONG = "Logbooks of whaling ships, with a photograph tag on each, " * 3


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        (
            "nohead.csv",
            f'"Box","{LONG}","ships; sails"\n' * 3,
            r"Logbooks of w\S+.*no header row\?",
        ),
        ("headed.csv", "text,keywords\n", r"headed\.csv has a header and no rows"),
        ("empty.csv", "", r"empty\.csv is empty"),
        ("empty.jsonl", "\n", r"empty\.jsonl is empty"),
    ],
)
def test_what_is_wrong_with_a_table_is_told_in_short(
    tmp_path: Path, name: str, content: str, problem: str
) -> None:
    (tmp_path / name).write_text(content)

    with pytest.raises(CorpusError, match=problem) as raised:
        read_tagged([tmp_path / name])
    assert len(str(raised.value)) < 250 + len(str(tmp_path))


def test_a_folder_without_texts_is_told(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="holds no texts that can be read"):
        read_tagged([tmp_path])


def test_keywords_may_be_a_set() -> None:
    assert tag_rows([{"text": "words", "keywords": {"b", "a"}}]).documents[0].keywords == ("a", "b")


def test_mended_files_keep_their_names_in_messages(tmp_path: Path) -> None:
    rows = [{"text": "caf\xe9", "keywords": "a"}, {"keywords": "b"}]
    file = tmp_path / "latin.jsonl"
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    file.write_bytes("\n".join([*lines, "{no JSON"]).encode("cp1252"))
    source = tmp_path / "train_src.txt"
    source.write_bytes("caf\xe9 one\ntwo\n".encode("cp1252"))
    target = tmp_path / "train_trg.txt"
    target.write_text("one\n")

    remarks = read_tagged([file]).remarks
    with pytest.raises(CorpusError) as raised:
        read_tagged([source])

    assert any(line.startswith(f"{file}:3: not valid JSON") for line in remarks)
    assert str(raised.value).startswith(f"{target} ends before line 2 of {source}")
