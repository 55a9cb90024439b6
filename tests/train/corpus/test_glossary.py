"""A glossary counts what documents list; a counted document does not see its own vote."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from phraseloom.errors import CheckpointError
from phraseloom.network.lexicon import MAX_GLOSSARY_WORDS, Glossary, Lexicon, PhraseCounts
from phraseloom.train.corpus.examples import CorpusExamples
from phraseloom.train.corpus.glossary import count_glossary, load_glossary, save_glossary
from phraseloom.train.corpus.prepared import PreparedCorpus
from tests.builders import make_english_lexicon
from tests.train.corpus.chains import row
from tests.train.runs import write_corpus

ALONE, BEGINS, CONTINUES, ENDS = range(4)
MakeCorpus = Callable[..., PreparedCorpus]


@pytest.fixture
def make_corpus(tmp_path: Path) -> MakeCorpus:
    def make(*documents: tuple[str, list[str]]) -> PreparedCorpus:
        rows = [row(text, keywords) for text, keywords in documents]
        return PreparedCorpus.open(write_corpus(tmp_path / "corpus", rows))

    return make


def test_documents_that_list_a_phrase_are_counted_among_those_where_it_occurs(
    make_corpus: MakeCorpus,
) -> None:
    corpus = make_corpus(
        ("graph networks learn", ["graph network"]),
        ("a graph network", ["graph networks"]),
        ("graph network and graph network", ["graph"]),
        ("network graphs", ["network"]),
    )

    counts = count_glossary([corpus]).counts

    assert counts == {"graph network": PhraseCounts(2, 3)}  # the others are listed once


def test_phrases_longer_than_any_that_is_looked_for_are_not_kept(make_corpus: MakeCorpus) -> None:
    long = " ".join(f"w{letter}" for letter in "abcdefgh"[: MAX_GLOSSARY_WORDS + 1])

    assert not count_glossary([make_corpus((long, [long]), (long, [long]))]).counts


def features_of(corpus: PreparedCorpus, glossary: Glossary) -> list[list[list[int]]]:
    lexicon: Lexicon = replace(make_english_lexicon(), glossary=glossary)
    examples = CorpusExamples(corpus, lexicon, max_tokens=100, style_of={})
    return [examples[i].glossary_features.tolist() for i in range(len(corpus))]


def test_a_counted_document_has_the_features_of_one_that_was_not(make_corpus: MakeCorpus) -> None:
    documents = [("graph network", ["graph network"])] * 3 + [("graph network", ["graph"])] * 2
    corpus = make_corpus(*documents)
    glossary = count_glossary([corpus])

    for i, features in enumerate(features_of(corpus, glossary)):
        others = [document for j, document in enumerate(documents) if j != i]
        listed = sum("graph network" in keywords for _, keywords in others)
        assert features[0][BEGINS] == PhraseCounts(listed, len(others)).level()
        assert features[0][ALONE] == PhraseCounts(5 - 3 - (i >= 3), len(others)).level()


def test_a_document_that_was_not_counted_keeps_all_votes(make_corpus: MakeCorpus) -> None:
    counts = PhraseCounts(2, 3)
    glossary = Glossary({"graph network": counts}, frozenset(["another corpus"]))
    (features,) = features_of(make_corpus(("graph network", ["graph network"])), glossary)

    assert features[0][BEGINS] == features[1][ENDS] == features[1][CONTINUES] == counts.level()


def test_a_saved_glossary_comes_back_equal(tmp_path: Path) -> None:
    counts = {"graph": PhraseCounts(3, 1000), "naïve bay": PhraseCounts(90, 98)}
    glossary = Glossary(counts, frozenset(["a", "b"]))
    save_glossary(glossary, tmp_path / "glossary.json")

    assert load_glossary(tmp_path / "glossary.json") == glossary


@pytest.mark.parametrize("damage", ["", "[]", '{"phrases": ["a"], "listed": []}'])
def test_a_damaged_file_is_named_with_the_fix(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "broken.json"
    path.write_text(damage, encoding="utf-8")

    with pytest.raises(CheckpointError, match=r"broken\.json.*phraseloom glossary"):
        load_glossary(path)
    with pytest.raises(CheckpointError, match=r"nowhere\.json.*phraseloom glossary"):
        load_glossary(tmp_path / "nowhere.json")
