"""Sentences of corpora come out in the form that documents have."""

import json
from pathlib import Path

import pytest

from phraseloom.data.prepare import PrepareOptions, prepare_corpus
from phraseloom.data.sentences import read_sentences, words_of
from phraseloom.errors import CorpusError


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Client/server <digit> x", ["client", "server", "<digit>", "x"]),
        ("In 2021, 3.5 (GHz)!", ["in", "<digit>", ",", "3.5", "(", "ghz", ")", "!"]),
        ("  \n", []),
        ("naïve 図🕸", ["naïve", "図", "🕸"]),
    ],
)
def test_raw_text_is_cut_into_words(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_a_raw_corpus_gives_titles_and_bodies(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    rows = [{"title": f"Title {i}", "abstract": "Some text.", "keywords": []} for i in "ab"]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    body = ["some", "text", "."]
    assert list(read_sentences([path])) == [["title", "a"], body, ["title", "b"], body]


def test_a_prepared_corpus_gives_its_sentences(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    row = {"title": "Two graphs", "abstract": "We draw them. They share 12 nodes.", "keywords": []}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    prepare_corpus([path], tmp_path / "prepared", PrepareOptions(processes=1))

    assert list(read_sentences([tmp_path / "prepared"])) == [
        ["two", "graphs"],
        ["we", "draw", "them", "."],
        ["they", "share", "<digit>", "nodes", "."],
    ]


def test_a_missing_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no corpus at"):
        list(read_sentences([tmp_path / "nowhere.jsonl"]))


def test_a_corpus_whose_preparation_was_stopped_is_not_taken_for_a_raw_one(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "signature.json").write_text("{}", encoding="utf-8")
    with pytest.raises(CorpusError, match="phraseloom prepare"):
        list(read_sentences([tmp_path]))
