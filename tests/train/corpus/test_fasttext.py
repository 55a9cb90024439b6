"""Learned and official vectors, held to what gensim computes, and what they are learned from."""

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gensim.models import FastText
from gensim.models.fasttext import save_facebook_model

from phraseloom.errors import CheckpointError, CorpusError
from phraseloom.train.corpus import fasttext
from phraseloom.train.corpus.fasttext import (
    FastTextSettings,
    read_official,
    read_sentences,
    split_words,
    train_vectors,
)
from phraseloom.train.corpus.prepare import PrepareOptions, prepare_corpus

SMALL = FastTextSettings(
    width=16, epochs=30, min_count=1, buckets=500, sample=0, rate=0.05, threads=1
)
TOPICS = (("wheel", "motor", "brake", "clutch"), ("salt", "pepper", "onion", "basil"))


@pytest.fixture
def sentences() -> list[list[str]]:
    """Each sentence speaks of one topic, in random words."""
    chance = random.Random(0)
    return [chance.choices(TOPICS[i % 2], k=8) for i in range(300)]


@pytest.fixture
def model() -> FastText:
    """A model of gensim's own, for the official formats."""
    text = [["Graph", "graph", "theory"], ["the", "Graph", "of", "2021", "Érdos"]]
    return FastText(text, vector_size=8, min_count=1, bucket=50, seed=1, workers=1)


def test_words_of_one_topic_come_to_be_neighbours(
    sentences: list[list[str]], tmp_path: Path
) -> None:
    vectors = train_vectors(sentences, SMALL, scratch=tmp_path)

    for topic in TOPICS:
        for word in topic:
            assert {near for near, _ in vectors.nearest(word, 3)} == set(topic) - {word}


def test_one_thread_and_one_seed_give_the_same_numbers(
    sentences: list[list[str]], tmp_path: Path
) -> None:
    first, second = (train_vectors(sentences, SMALL, scratch=tmp_path) for _ in range(2))
    other = train_vectors(sentences, replace(SMALL, seed=1), scratch=tmp_path)

    np.testing.assert_array_equal(first.matrix, second.matrix)
    np.testing.assert_array_equal(first.subwords, second.subwords)
    assert not np.array_equal(first.matrix, other.matrix)


@pytest.mark.parametrize("skip_gram", [True, False])
def test_either_model_can_be_trained(
    sentences: list[list[str]], tmp_path: Path, skip_gram: bool
) -> None:
    settings = replace(SMALL, skip_gram=skip_gram, threads=2, epochs=1)
    vectors = train_vectors(sentences, settings, scratch=tmp_path)

    assert set(vectors.words) == {word for topic in TOPICS for word in topic}
    assert vectors.matrix.shape == (8, 16)
    assert vectors.subwords.shape == (500, 16)
    assert np.isfinite(vectors.matrix).all()


def test_files_are_all_read_in_every_epoch(
    sentences: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fasttext, "_FILE_WORDS", 1000)
    reports: list[tuple[int, int]] = []
    settings = replace(SMALL, epochs=2)
    vectors = train_vectors(
        sentences, settings, scratch=tmp_path, on_progress=lambda *report: reports.append(report)
    )

    assert [done for done, _ in reports] == [0, 1000, 2000, 2400, 3400, 4400, 4800]
    assert {total for _, total in reports} == {4800}
    assert len(vectors) == 8


def test_the_text_leaves_nothing_behind(sentences: list[list[str]], tmp_path: Path) -> None:
    train_vectors(sentences, replace(SMALL, epochs=1), scratch=tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_rare_words_and_those_past_the_limit_live_by_their_subwords(tmp_path: Path) -> None:
    text = [["graph"] * 5, ["tree"] * 4, ["node"] * 3, ["rare"]]
    limited = train_vectors(text, replace(SMALL, min_count=2, keep=2), scratch=tmp_path)

    assert limited.words == ("graph", "tree")
    assert limited.of("rare").any()


def test_empty_and_odd_sentences_are_no_obstacle(tmp_path: Path) -> None:
    text = [[], ["  "], ["two words", "\ud800", "nul\0byte", "🕸️"]]
    vectors = train_vectors(text, SMALL, scratch=tmp_path)

    assert {"two", "words", "?", "🕸️"} <= set(vectors.words)


@pytest.mark.parametrize("text", [[], [[]], [["once"]]])
def test_too_little_text_is_refused(text: list[list[str]], tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no word occurs 2 times"):
        train_vectors(text, replace(SMALL, min_count=2), scratch=tmp_path)


def test_an_official_bin_file_gives_gensim_s_vectors(model: FastText, tmp_path: Path) -> None:
    save_facebook_model(model, str(tmp_path / "official.bin"))
    vectors = read_official(tmp_path / "official.bin")

    for word in ("graph", "theory", "unheard", "図"):
        np.testing.assert_allclose(vectors.of(word), model.wv[word], atol=1e-6)
    np.testing.assert_allclose(vectors.of("<digit>"), model.wv["2021"], atol=1e-6)
    assert len(vectors.subwords) == 50


@pytest.mark.parametrize("ending", [".vec", ".vec.gz"])
def test_an_official_vec_file_has_words_only(model: FastText, tmp_path: Path, ending: str) -> None:
    model.wv.save_word2vec_format(str(tmp_path / f"official{ending}"))
    vectors = read_official(tmp_path / f"official{ending}")

    np.testing.assert_allclose(vectors.of("theory"), model.wv["theory"], atol=1e-6)
    assert not vectors.of("unheard").any()


def test_a_word_in_our_spelling_wins_over_a_more_frequent_one(tmp_path: Path) -> None:
    path = tmp_path / "official.vec"
    path.write_text("4 1\nGraph 1\nGRAPH 2\ngraph 3\nTree 4\n", encoding="utf-8")

    vectors = read_official(path)

    assert vectors.words == ("graph", "tree")
    assert vectors.matrix.tolist() == [[3], [4]]
    assert read_official(path, keep=1).words == ("graph",)


@pytest.mark.parametrize("name", ["official.vec", "official.bin"])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.4])
def test_a_damaged_official_file_is_refused_by_name(
    model: FastText, tmp_path: Path, name: str, share: float
) -> None:
    path = tmp_path / name
    if name.endswith(".bin"):
        save_facebook_model(model, str(path))
    else:
        model.wv.save_word2vec_format(str(path))
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])

    with pytest.raises(CheckpointError, match=rf"{name} is no FastText file, or damaged"):
        read_official(path)


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
    assert split_words(text) == words


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
    (tmp_path / "shards").mkdir()
    (tmp_path / "shards" / "signature.json").write_text("{}", encoding="utf-8")
    with pytest.raises(CorpusError, match="phraseloom prepare"):
        list(read_sentences([tmp_path]))
