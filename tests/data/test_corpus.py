"""Corpora in every format give the same kind of document, and no line is lost in silence."""

import gzip
import json
import logging
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from phraseloom.data.corpus import CorpusReader, count_lines, read_corpus
from phraseloom.errors import CorpusError
from phraseloom.text.document import Source

CORPORA = Path(__file__).parents[1] / "fixtures" / "corpora"
ROWS = CORPORA / "rows.jsonl"


def test_rows_of_every_kind_are_read() -> None:
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


@pytest.mark.parametrize("given_file", ["pairs_src.txt", ""])
def test_a_source_file_is_read_with_its_targets(given_file: str) -> None:
    documents = [d for d in read_corpus(CORPORA / given_file) if d.origin == "pairs_src"]

    assert [d.source for d in documents] == [
        Source("a loom holds <digit> threads .", "looms and threads ."),
        Source("no title here , only a body"),
    ]
    assert [d.keywords for d in documents] == [("loom", "threads", "weaving machines"), ("body",)]


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
@pytest.mark.parametrize("share", [1.0, 0.6])
def test_packed_files_read_like_plain_ones_and_cut_ones_are_refused(
    tmp_path: Path, suffix: str, share: float
) -> None:
    packers: dict[str, Callable[[bytes], bytes]] = {
        ".gz": gzip.compress,
        ".xz": lzma.compress,
        ".zst": zstandard.compress,
    }
    packed = packers[suffix](ROWS.read_bytes())
    file = tmp_path / f"rows.jsonl{suffix}"
    file.write_bytes(packed[: round(share * len(packed))])

    if share == 1:
        assert list(read_corpus(file)) == list(read_corpus(ROWS))
    else:
        with pytest.raises(CorpusError, match="rows.jsonl.*is the file complete"):
            list(read_corpus(file))


def test_a_plain_text_file_is_one_document_without_a_title(tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("\ufeffDear reader,\n{ this is not JSON }\n", encoding="utf-8")
    [document] = read_corpus(file)

    assert document.source == Source("Dear reader,\n{ this is not JSON }\n")
    assert (document.id, document.keywords) == ("letter", ())


BAD_LINES = {
    "not valid JSON": b'{"title": "cut off',
    "not valid UTF-8": b'{"title": "caf\xe9", "text": "t", "keywords": []}',
    "one object a line": b"[1, 2]",
    "over several lines": b"[",
    "no title, abstract": b'{"keywords": []}',
    "no text": b'{"title": " \\u0000", "text": "\\n", "keywords": []}',
    "no keywords": b'{"title": "t"}',
    "title is not a string": b'{"title": 3, "keywords": []}',
    "keywords is neither": b'{"title": "t", "keywords": [1]}',
    "keyphrases is neither": b'{"title": "t", "keyphrases": {"a": "b"}}',
}


@pytest.mark.parametrize("problem", BAD_LINES)
def test_a_bad_line_is_skipped_aloud_or_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, problem: str
) -> None:
    good = b'{"title": "t", "keywords": []}\n'
    file = tmp_path / "bad.jsonl"
    file.write_bytes(good + b"\n" + BAD_LINES[problem] + b"\n" + good)
    reader = CorpusReader([file])

    assert [document.id for document in reader] == ["bad-1", "bad-4"]
    assert reader.skipped == 1
    assert "bad.jsonl:3: " in caplog.text
    assert problem in caplog.text
    assert "1 documents skipped" in caplog.text
    with pytest.raises(CorpusError, match=rf"bad.jsonl:3: .*{problem}"):
        list(read_corpus(file, strict=True))


def test_a_text_file_that_is_not_utf8_is_reported_with_its_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "old.txt").write_bytes(b"fine\nna\xefve\n")
    (tmp_path / "blank.txt").write_bytes(b" \n\n")

    assert list(read_corpus(tmp_path)) == []
    assert "old.txt:2: not valid UTF-8" in caplog.text
    assert "blank.txt:1: no text" in caplog.text


def test_a_directory_is_read_in_order_and_says_what_it_ignores(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("b.txt", "a.txt", "picture.png", ".hidden.txt"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        names = [document.id for document in read_corpus(tmp_path)]

    assert names == ["a", "b"]
    assert "picture.png" in caplog.text
    assert "hidden" not in caplog.text


def test_pairs_of_unequal_length_are_refused(tmp_path: Path) -> None:
    source, target = tmp_path / "x.src.txt", tmp_path / "x.trg.txt"
    source.write_text("one\ntwo\n", encoding="utf-8")
    target.write_text("1\n", encoding="utf-8")
    with pytest.raises(CorpusError, match="ends before line 2"):
        list(read_corpus(source))
    target.write_text("1\n2\n3\n", encoding="utf-8")
    with pytest.raises(CorpusError, match="more lines"):
        list(read_corpus(source))
    with pytest.raises(CorpusError, match=r"give its source file .*x\.src\.txt"):
        list(read_corpus(target))


@pytest.mark.parametrize("name", ["missing.jsonl", "empty"])
def test_a_path_without_a_corpus_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(CorpusError, match=name):
        list(read_corpus(tmp_path / name))


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
    file = tmp_path / "s.jsonl"
    file.write_text('{"text": "a\\ud800b", "keywords": ["\\udfff x"]}', encoding="utf-8")
    [document] = read_corpus(file)

    assert document.source.text == "a\ufffdb"
    assert document.keywords == ("\ufffd x",)


def test_lines_are_counted_as_documents_are_read() -> None:
    assert count_lines(ROWS) == 5
    assert count_lines(CORPORA / "pairs_src.txt") == 2
