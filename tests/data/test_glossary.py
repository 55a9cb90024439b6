"""A glossary counts what documents list, and marks words by it without telling them their own."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from phraseloom.data.cache import Corpus
from phraseloom.data.example import CorpusExamples
from phraseloom.data.glossary import LONGEST, Counts, Glossary, count_glossary
from phraseloom.data.lexicon import Lexicon
from phraseloom.errors import CheckpointError
from tests.builders import make_english_lexicon
from tests.data.chains import row
from tests.train.runs import write_corpus

ALONE, BEGINS, GOES_ON, ENDS = range(4)
OFTEN, SELDOM = Counts(90, 98), Counts(3, 1000)


@pytest.fixture
def corpus(tmp_path: Path) -> Callable[..., Corpus]:
    def make(*documents: tuple[str, list[str]]) -> Corpus:
        rows = [row(text, keywords) for text, keywords in documents]
        return Corpus.open(write_corpus(tmp_path / "corpus", rows))

    return make


def test_documents_that_list_a_phrase_are_counted_among_those_where_it_stands(
    corpus: Callable[..., Corpus],
) -> None:
    found = count_glossary(
        [
            corpus(
                ("graph networks learn", ["graph network"]),
                ("a graph network", ["graph networks"]),
                ("graph network and graph network", ["graph"]),
                ("network graphs", ["network"]),
            )
        ]
    )

    assert found.counts == {"graph network": Counts(2, 3)}  # the others are listed once


def test_phrases_longer_than_any_that_is_looked_for_are_not_kept(
    corpus: Callable[..., Corpus],
) -> None:
    long = " ".join(f"w{letter}" for letter in "abcdefgh"[: LONGEST + 1])
    found = count_glossary([corpus((long, [long]), (long, [long]))])

    assert not found.counts


def test_a_word_is_marked_by_the_best_phrase_that_it_is_a_part_of() -> None:
    glossary = Glossary(
        {
            "vector": SELDOM,
            "vector machin": SELDOM,
            "support vector machin": OFTEN,
            "machin": Counts(1, 1),  # too few to be known
        }
    )
    marks = glossary.mark([["a", "support", "vector", "machin"]]).tolist()

    often, seldom = OFTEN.level(), SELDOM.level()
    assert often > seldom > 0
    assert marks == [
        [0, 0, 0, 0],
        [0, often, 0, 0],
        [seldom, seldom, often, 0],
        [0, 0, often, often],
    ]


def test_no_phrase_crosses_the_end_of_a_sentence() -> None:
    glossary = Glossary({"graph network": OFTEN})

    assert glossary.mark([["graph", "network"]]).any()
    assert not glossary.mark([["graph"], ["network"]]).any()


def test_the_more_often_a_phrase_is_listed_where_it_stands_the_higher_its_level() -> None:
    levels = [Counts(listed, 100).level() for listed in range(1, 101)]

    assert levels[0] == 0
    assert levels == sorted(levels)
    assert len(set(levels)) > 5


def lexicon_with(glossary: Glossary) -> Lexicon:
    return replace(make_english_lexicon(), glossary=glossary)


def marks_of(corpus: Corpus, glossary: Glossary) -> list[list[list[int]]]:
    examples = CorpusExamples(corpus, lexicon_with(glossary), max_tokens=100, style_of={})
    return [examples[i].marks.tolist() for i in range(len(corpus))]


def test_a_document_that_was_counted_is_marked_as_if_it_had_not_been(
    corpus: Callable[..., Corpus],
) -> None:
    documents = [("graph network", ["graph network"])] * 3 + [("graph network", ["graph"])] * 2
    counted = corpus(*documents)
    glossary = count_glossary([counted])

    for i, marks in enumerate(marks_of(counted, glossary)):
        others = [document for j, document in enumerate(documents) if j != i]
        listed = sum("graph network" in keywords for _, keywords in others)
        assert marks[0][BEGINS] == Counts(listed, len(others)).level()
        assert marks[0][ALONE] == Counts(5 - 3 - (i >= 3), len(others)).level()


def test_a_document_that_was_not_counted_keeps_all_votes(corpus: Callable[..., Corpus]) -> None:
    glossary = Glossary({"graph network": Counts(2, 3)}, frozenset(["another corpus"]))
    (marks,) = marks_of(corpus(("graph network", ["graph network"])), glossary)

    assert marks[0][BEGINS] == marks[1][ENDS] == marks[1][GOES_ON] == Counts(2, 3).level()


def test_a_saved_glossary_comes_back_equal(tmp_path: Path) -> None:
    glossary = Glossary({"graph": SELDOM, "naïve bay": OFTEN}, frozenset(["a", "b"]))
    glossary.save(tmp_path / "glossary.json")

    assert Glossary.load(tmp_path / "glossary.json") == glossary


@pytest.mark.parametrize("damage", ["", "[]", '{"phrases": ["a"], "listed": []}'])
def test_a_damaged_file_is_named_with_the_fix(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "broken.json"
    path.write_text(damage, encoding="utf-8")

    with pytest.raises(CheckpointError, match=r"broken\.json.*phraseloom glossary"):
        Glossary.load(path)
    with pytest.raises(CheckpointError, match=r"nowhere\.json.*phraseloom glossary"):
        Glossary.load(tmp_path / "nowhere.json")
