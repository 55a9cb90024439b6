"""Whatever a document stands in, it is read alike, and no row is lost in silence."""

import gzip
import json
import logging
import tracemalloc
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from phraseloom.errors import CorpusError, ReadingError
from phraseloom.io import records
from phraseloom.io.arrow import read_tables
from phraseloom.io.records import (
    SAID_PER_FILE,
    CorpusReader,
    Record,
    count_lines,
    keywords_of,
    read_corpus,
    read_records,
)
from phraseloom.text.document import Source
from tests.io.samples import write

CORPORA = Path(__file__).parents[1] / "fixtures" / "corpora"
ROWS = CORPORA / "rows.jsonl"


def read_all(path: Path, column: str | None = None) -> list[Record]:
    records = []
    for record in read_records(path, column=column):
        assert isinstance(record, Record), record
        records.append(record)
    return records


def problem_of(path: Path, column: str | None = None) -> str:
    try:
        [problem] = read_records(path, column=column)
    except ReadingError as error:
        problem = error
    assert isinstance(problem, ReadingError)
    assert path.name in str(problem)
    assert "\n" not in str(problem)
    return str(problem)


def test_a_file_of_another_kind_is_one_document(tmp_path: Path) -> None:
    for name, content in {"a.txt": "Graphs.", "a.md": "*Graphs.*", "a.html": "<p>Graphs."}.items():
        file = write(tmp_path / name, content)
        assert read_all(file) == [Record(str(file), None, "a", Source("Graphs."), {})]
    packed = write(tmp_path / "b.md.gz", gzip.compress(b"*Graphs.*"))
    assert read_all(packed)[0].source == Source("Graphs.")
    assert "not UTF-8" in problem_of(write(tmp_path / "bad.txt", b"\xff"))


def test_rows_know_their_number_their_line_and_their_id(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": 7, "text": "One."},
        {"title": "T", "abstract": "Two \ud800."},
        {"text": ""},
    ]
    lines = "\n\n".join(json.dumps(row) for row in rows)
    file = write(tmp_path / "a.jsonl", lines)
    assert read_all(file) == [
        Record(f"{file}:1", 1, "7", Source("One."), rows[0]),
        Record(f"{file}:3", 2, "a-3", Source("Two \ufffd.", "T"), rows[1]),
        Record(f"{file}:5", 3, "a-5", Source(""), rows[2]),
    ]


def test_a_bad_row_has_a_number_too(tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", '{"text": "One"}\noops\n{"text": "Three"}\n')
    rows = [record.row for record in read_records(file) if isinstance(record, Record)]
    assert rows == [1, 3]


def test_csv_rows_may_have_line_ends_and_long_cells(tmp_path: Path) -> None:
    long = "graph " * 30_000
    file = write(tmp_path / "a.csv", f'id,title,body of it\nx,T,"One,\ntwo"\n,,{long}, ,\n')
    first, second = read_all(file, "body of it")
    columns = {"id": "x", "title": "T", "body of it": "One,\ntwo"}
    assert first == Record(f"{file}:3", 1, "x", Source("One,\ntwo", "T"), columns)
    assert second[:4] == (f"{file}:4", 2, "a-4", Source(long))


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_columns_may_be_divided_as_a_spreadsheet_does(tmp_path: Path, mark: str) -> None:
    file = write(tmp_path / "a.csv", f'title{mark}body\nT{mark}"One, two; three"\n')
    assert read_all(file)[0].source == Source("One, two; three", "T")


def test_lines_of_text_pair_up_with_their_targets(tmp_path: Path) -> None:
    records = read_all(CORPORA / "pairs_src.txt")
    assert [record.source for record in records] == [
        Source("a loom holds <digit> threads .", "looms and threads ."),
        Source("no title here , only a body"),
    ]
    assert [keywords_of(record.columns, "") for record in records] == [
        ("loom", "threads", "weaving machines"),
        ("body",),
    ]
    source = write(tmp_path / "documents", " " * 200_000 + "a <eos> b\n")
    target = write(tmp_path / "phrases", "b;\n")
    [record] = read_records(source, target=target)
    assert isinstance(record, Record)
    assert record.source == Source("b", "a")


@pytest.mark.parametrize(
    ("documents", "phrases", "message"),
    [
        ("one\ntwo\n", "1\n", r"x.trg.txt ends before line 2 of .*x.src.txt"),
        ("one\ntwo\n", "1\n2\n3\n", r"x.src.txt ends before line 3 of .*x.trg.txt"),
        ("a <eos> b <eos> c\n", "1\n", "x.src.txt:1: expected one document, title <eos> text"),
        ("one\n", "a <eos> b\n", "x.trg.txt:1: expected keyphrases with ';'"),
        ("one\n", '{"keywords": []}\n', "x.trg.txt:1: expected keyphrases with ';'"),
    ],
)
def test_pairs_that_do_not_fit_are_refused(
    tmp_path: Path, documents: str, phrases: str, message: str
) -> None:
    source = write(tmp_path / "x.src.txt", documents)
    target = write(tmp_path / "x.trg.txt", phrases)
    with pytest.raises(CorpusError, match=message):
        list(read_corpus(source, strict=True))
    with pytest.raises(CorpusError, match=r"give its source file .*x\.src\.txt"):
        list(read_corpus(target))


@pytest.mark.parametrize("name", ["text", "abstract", "document", "body"])
def test_the_usual_columns_need_not_be_named(tmp_path: Path, name: str) -> None:
    row = {"title": "T", "page": 4, name: "Text."}
    assert read_all(write(tmp_path / "a.jsonl", json.dumps(row)))[0].source == Source("Text.", "T")
    csv = write(tmp_path / "a.csv", f"title,page,{name}\nT,4,Text.\n")
    assert read_all(csv)[0].source == Source("Text.", "T")


def test_the_column_of_the_title_can_be_the_text(tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", '{"title": "T", "text": "x"}')
    assert read_all(file, "title")[0].source == Source("T")


def test_a_row_without_its_text_is_refused(tmp_path: Path) -> None:
    assert "text is empty" in problem_of(write(tmp_path / "a.jsonl", '{"text": null}\n'))
    assert "text is empty" in problem_of(write(tmp_path / "a.csv", "id,text\n1\n"))
    assert "only title, page; name" in problem_of(
        write(tmp_path / "b.jsonl", '{"title": "T", "page": 1}')
    )
    [missing] = [problem_of(write(tmp_path / "b.csv", "text\n" + "x\n" * 9), "body")]
    assert "b.csv: no column body, only text; name" in missing, "said once, not for every row"


def test_a_bad_row_does_not_spoil_the_others(tmp_path: Path) -> None:
    lines = [b'{"t": "One"}', b"{oops", b"[1]", b'{"t": "\xff"}', b'{"t": 4}', b'{"u": ""}', b"["]
    deep = b'{"t": ' + b"[" * 100_000
    file = write(tmp_path / "a.jsonl", b"\n".join([*lines, deep, b'{"t": "Two"}']))
    records = list(read_records(file, column="t"))
    assert [r.source.text for r in records if isinstance(r, Record)] == ["One", "Two"]
    messages = [str(record) for record in records if isinstance(record, ReadingError)]
    parts = ["not valid JSON", "not a JSON object", "not UTF-8", "t is not a string", "--column"]
    parts += ["not valid JSON over several lines", "not valid JSON"]
    for number, (part, message) in enumerate(zip(parts, messages, strict=True), start=2):
        assert f"a.jsonl:{number}" in message
        assert part in message


def write_parquet(path: Path, columns: dict[str, Any], **settings: Any) -> Path:
    parquet.write_table(pa.table(columns), path, **settings)
    return path


def test_a_cell_of_parquet_that_cannot_be_read_spoils_no_other_row(tmp_path: Path) -> None:
    """A date after the year 9999 is text; a text that is not UTF-8 is told."""
    bad = pa.array([b"one", b"\xff", b"three"]).cast(pa.binary())
    columns = {
        "text": pa.Array.from_buffers(pa.string(), 3, bad.buffers()),
        "day": pa.array([4_000_000, 1, 2], pa.date32()),
    }
    first, second, third = read_records(write_parquet(tmp_path / "a.parquet", columns))
    assert isinstance(first, Record) and isinstance(third, Record)
    assert first.columns == {"text": "one", "day": "12921-08-18"}
    assert third.source == Source("three")
    assert "a.parquet:2: text cannot be read ('utf-8'" in str(second)


def test_of_parquet_no_column_is_lost(tmp_path: Path) -> None:
    table = pa.table([["one"], ["two"]], names=["text", "text"])
    parquet.write_table(table, tmp_path / "a.parquet")
    assert "two columns of the same name; rename one" in problem_of(tmp_path / "a.parquet")


@pytest.mark.parametrize("store_schema", [True, False])
def test_few_rows_of_parquet_are_held_if_they_are_large(tmp_path: Path, store_schema: bool) -> None:
    large = pa.array(["graph " * 100_000])
    shared = pa.DictionaryArray.from_arrays(pa.array([0] * 600, pa.int32()), large)
    columns = {"text": shared, "n": list(range(600))}
    file = write_parquet(tmp_path / "a.parquet", columns, store_schema=store_schema)
    assert file.stat().st_size < 50_000
    tables = list(read_tables(file))
    assert [n for table in tables for n in table["n"].to_pylist()] == [*range(600)]
    assert max(table.nbytes for table in tables) < 85 << 20
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_records(file)) == 600
        assert tracemalloc.get_traced_memory()[1] < 120 << 20
    finally:
        tracemalloc.stop()


def test_a_text_that_no_line_could_hold_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "_LONGEST_TEXT", 1 << 20)
    file = write_parquet(tmp_path / "a.parquet", {"text": ["x" * (1 << 20) + "x"]})
    assert "text has more than 1 MB" in problem_of(file)


def test_a_name_that_is_not_utf8_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ReadingError, match="b\ufffd.parquet is not UTF-8; rename it"):
        list(read_records(tmp_path / "b\udcff.parquet"))


def test_what_spoils_the_rest_of_a_file_is_raised(tmp_path: Path) -> None:
    wide = write(tmp_path / "wide.csv", "\ufefftext\nOne\n".encode("utf-16-le"))
    with pytest.raises(ReadingError, match="iconv -f UTF-16"):
        list(read_records(wide))
    cut = gzip.compress(b'{"text": "x"}\n' * 9_999)[:-20]
    with pytest.raises(ReadingError, match="is the file complete"):
        list(read_records(write(tmp_path / "cut.jsonl.gz", cut)))


def test_rows_of_every_kind_make_a_corpus() -> None:
    first, second, third, hub, prmu = read_corpus(ROWS, strict=True)

    assert (first.id, first.origin) == ("a1", "looms")
    assert first.source.title == "Weaving graphs on a hand-built loom"
    assert first.source.text.startswith("We weave")
    assert first.keywords == ("graph weaving", "hand built looms", "textile art")
    assert (second.id, second.origin) == ("rows-2", "rows")
    assert second.keywords == ("sorting", "letters", "colours")
    assert third.id == "7"
    assert third.source == Source("C++ templates make C++ programs quick.")
    assert hub.source == Source("a graph of tokens .")
    assert hub.keywords == ("graph", "text networks")
    assert prmu.keywords == ("rivers", "bending")


def test_csv_can_be_a_corpus(tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", 'id,set,text,keywords\n7,s,"Looms, old.",looms; old\n')
    [document] = read_corpus(file, strict=True)
    assert document == ("7", "s", Source("Looms, old."), ("looms", "old"))


def test_a_plain_text_is_a_document_without_keyphrases(tmp_path: Path) -> None:
    file = write(tmp_path / "letter.txt", "\ufeffDear reader,\n{ this is not JSON }\n")
    [document] = read_corpus(file)
    assert document == ("letter", "letter", Source("Dear reader,\n{ this is not JSON }\n"), ())


BAD_LINES = {
    "not valid JSON": b'{"title": "cut off',
    "not UTF-8": b'{"title": "caf\xe9", "text": "t", "keywords": []}',
    "one object a line": b"[1, 2]",
    "over several lines": b"[",
    "no column text": b'{"keywords": [], "title": "t"}',
    "no text": b'{"title": " \\u0000", "text": "\\n", "keywords": []}',
    "no column keywords": b'{"text": "t"}',
    "title is not a string": b'{"title": 3, "text": "t", "keywords": []}',
    "keywords is neither": b'{"text": "t", "keywords": [1]}',
    "keyphrases is neither": b'{"text": "t", "keyphrases": {"a": "b"}}',
}


@pytest.mark.parametrize("problem", BAD_LINES)
def test_a_bad_line_of_a_corpus_is_skipped_aloud_or_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, problem: str
) -> None:
    good = b'{"text": "t", "keywords": []}\n'
    file = write(tmp_path / "bad.jsonl", good + b"\n" + BAD_LINES[problem] + b"\n" + good)
    reader = CorpusReader([file])

    assert [document.id for document in reader] == ["bad-1", "bad-4"]
    assert reader.skipped == 1
    assert "bad.jsonl:3" in caplog.text
    assert problem in caplog.text
    assert "1 documents skipped" in caplog.text
    with pytest.raises(CorpusError, match=rf"bad.jsonl:3.*{problem}.*without --strict"):
        list(read_corpus(file, strict=True))


def test_of_many_bad_rows_of_a_corpus_the_first_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("no row\n" * 500 + '{"abstract": "A text.", "keywords": []}\n')
    reader = CorpusReader([path])
    assert len(list(reader)) == 1
    assert reader.skipped == 500
    assert len(caplog.records) == SAID_PER_FILE + 1
    assert "500 documents skipped" in caplog.text


def test_a_text_that_cannot_be_read_is_skipped_aloud(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path / "old.txt", b"first\ncaf\xe9")
    write(tmp_path / "blank.txt", b" \n\n")
    write(tmp_path / "rows.txt", b'{"text": "x", "keywords": []}\n')

    assert list(read_corpus(tmp_path)) == []
    assert "old.txt is not UTF-8 (byte 9 in line 2)" in caplog.text
    assert "blank.txt: no text" in caplog.text
    assert "rows.txt looks like JSON lines; end its name in .jsonl" in caplog.text


def test_a_directory_is_read_in_order_and_says_what_it_ignores(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("b.txt", "a.txt", "picture.png", ".hidden.txt"):
        write(tmp_path / name, name)
    with caplog.at_level(logging.WARNING):
        names = [document.id for document in read_corpus(tmp_path)]

    assert names == ["a", "b"]
    assert "picture.png" in caplog.text
    assert "hidden" not in caplog.text


def test_a_corpus_is_there_whole_or_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("missing.jsonl", "empty"):
        with pytest.raises(CorpusError, match=name):
            list(read_corpus(tmp_path / name))
    (tmp_path / "loop.txt").symlink_to("loop.txt")
    with pytest.raises(CorpusError, match=r"loop.txt.*; move it out of"):
        list(read_corpus(tmp_path))
    cut = write(tmp_path / "cut.jsonl.gz", gzip.compress(ROWS.read_bytes())[:-20])
    with pytest.raises(CorpusError, match="is the file complete"):
        list(read_corpus(cut))


@given(st.text(), st.text(), st.lists(st.text()))
def test_any_unicode_is_read_or_reported(title: str, body: str, keywords: list[str]) -> None:
    import tempfile

    line = json.dumps({"title": title, "abstract": body, "keywords": keywords})
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "any.jsonl"
        file.write_text(line, encoding="utf-8")
        reader = CorpusReader([file])
        documents = list(reader)

    assert len(documents) + reader.skipped == 1
    for document in documents:
        assert document.source == Source(body, title)
        "".join([*document.source, *document.keywords]).encode()  # no lone surrogates


def test_lone_surrogates_become_replacement_characters(tmp_path: Path) -> None:
    row = '{"text": "a\\ud800b", "keywords": ["\\udfff x"], "id": "\\ud800"}'
    [document] = read_corpus(write(tmp_path / "s.jsonl", row))
    assert (document.source.text, document.keywords) == ("a\ufffdb", ("\ufffd x",))
    assert document.id == "\ufffd"


def test_lines_are_counted_as_documents_are_read(tmp_path: Path) -> None:
    assert count_lines(ROWS) == 5
    assert count_lines(CORPORA / "pairs_src.txt") == 2
    assert count_lines(write(tmp_path / "a.txt", "one\ntwo\n")) == 1
