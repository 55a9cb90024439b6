"""What must hold of the numbers given to words, labels, n-grams and known phrases."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gensim.models.fasttext import ft_ngram_hashes
from hypothesis import given
from hypothesis import strategies as st

from phraseloom.errors import CheckpointError
from phraseloom.network.lexicon import (
    OUTSIDE,
    Glossary,
    Labels,
    Lexicon,
    PhraseCounts,
    Vocabulary,
    ngram_ids,
    stem_runs,
)
from tests.builders import make_lexicon

WORDS = ["tree", "graph", "node", "edge"]
OFTEN, SELDOM = PhraseCounts(90, 98), PhraseCounts(3, 1000)
encodable = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def test_frequent_words_come_first_and_ties_are_alphabetical() -> None:
    vocab = Vocabulary.from_counts(WORDS, [2, 7, 2, 9], size=10)

    assert vocab.words == ("edge", "graph", "node", "tree")


def test_the_cap_keeps_the_most_frequent() -> None:
    vocab = Vocabulary.from_counts(WORDS, [2, 7, 2, 9], size=3)

    assert vocab.words == ("edge", "graph", "node")
    assert len(vocab) == 3


def test_counts_of_one_word_add_up_and_unseen_words_are_left_out() -> None:
    vocab = Vocabulary.from_counts(["graph", "tree", "graph", "leaf"], [2, 3, 2, 0], size=10)

    assert vocab.words == ("graph", "tree")


def test_words_without_counts_and_vocabularies_without_words_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        Vocabulary.from_counts(WORDS, [1, 2], size=10)
    with pytest.raises(ValueError, match="at least one word"):
        Vocabulary.from_counts(WORDS, [1, 2, 3, 4], size=0)


@given(st.dictionaries(st.text(max_size=4), st.integers(1, 5), min_size=1), st.integers(1, 9))
def test_ids_and_words_are_inverse(counts: dict[str, int], size: int) -> None:
    vocab = Vocabulary.from_counts(list(counts), counts.values(), size)

    assert vocab.ids(vocab.words).tolist() == list(range(len(vocab)))
    assert vocab.ids(counts).tolist() == [
        OUTSIDE if (word_id := vocab.id(word)) is None else word_id for word in counts
    ]
    assert {word for word in counts if vocab.id(word) is not None} == set(vocab.words)


def test_the_order_in_which_words_are_given_changes_nothing() -> None:
    forth = Vocabulary.from_counts(WORDS, [1, 1, 1, 1], size=2)
    back = Vocabulary.from_counts(WORDS[::-1], [1, 1, 1, 1], size=2)

    assert forth == back


def test_a_word_listed_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        Vocabulary(("graph", "graph"))


def test_unseen_labels_share_the_unknown_entry() -> None:
    labels = Labels.of(["nsubj", "obj", "nsubj"])

    assert labels.names == ("<unknown>", "nsubj", "obj")
    assert labels.ids(["obj", "dobj", "nsubj", "<unknown>"]).tolist() == [2, 0, 1, 0]
    assert [labels.id(name) for name in ("obj", "dobj")] == [2, 0]
    assert len(labels) == 3


def test_labels_begin_with_the_unknown_one() -> None:
    with pytest.raises(ValueError, match="<unknown>"):
        Labels(("nsubj", "obj"))


def test_a_word_has_the_level_of_the_best_phrase_that_it_is_a_part_of() -> None:
    glossary = Glossary(
        {
            "vector": SELDOM,
            "vector machin": SELDOM,
            "support vector machin": OFTEN,
            "machin": PhraseCounts(1, 1),  # too few to be known
        }
    )
    features = glossary.features([["a", "support", "vector", "machin"]]).tolist()

    often, seldom = OFTEN.level(), SELDOM.level()
    assert often > seldom > 0
    assert features == [
        [0, 0, 0, 0],
        [0, often, 0, 0],
        [seldom, seldom, often, 0],
        [0, 0, often, often],
    ]


def test_no_known_phrase_crosses_the_end_of_a_sentence() -> None:
    glossary = Glossary({"graph network": OFTEN})

    assert glossary.features([["graph", "network"]]).any()
    assert not glossary.features([["graph"], ["network"]]).any()


def test_the_vote_of_a_counted_document_is_taken_back() -> None:
    glossary = Glossary({"graph": PhraseCounts(3, 4), "network": PhraseCounts(3, 4)})

    features = glossary.features([["graph", "network"]], own={"graph"})

    assert features[:, 0].tolist() == [PhraseCounts(2, 3).level(), PhraseCounts(3, 3).level()]


def test_without_a_glossary_every_feature_is_zero() -> None:
    assert Glossary().features([["graph"], [], ["a", "b"]]).tolist() == [[0] * 4] * 3
    assert Glossary().features([]).shape == (0, 4)


def test_the_more_often_a_phrase_is_a_keyphrase_where_it_occurs_the_higher_its_level() -> None:
    levels = [PhraseCounts(count, 100).level() for count in range(1, 101)]

    assert levels[0] == 0
    assert levels == sorted(levels)
    assert len(set(levels)) > 5


def test_runs_are_all_of_up_to_five_words() -> None:
    stems = list("abcdefg")

    runs = list(stem_runs(stems))

    assert len(runs) == 7 + 6 + 5 + 4 + 3
    assert all(joined == " ".join(stems[start:end]) for joined, start, end in runs)
    assert max(end - start for _, start, end in runs) == 5


@given(encodable, st.integers(1, 4), st.integers(0, 4), st.integers(1, 3_000_000))
def test_ngrams_agree_with_gensim(word: str, min_n: int, more: int, buckets: int) -> None:
    ids = ngram_ids(word, min_n=min_n, max_n=min_n + more, buckets=buckets)

    assert ids.tolist() == ft_ngram_hashes(word, min_n, min_n + more, buckets)


@pytest.mark.parametrize("word", ["graph", "naïve", "граф", "図", "🕸️", "<digit>", ""])
def test_ngrams_agree_with_gensim_beyond_ascii(word: str) -> None:
    ids = ngram_ids(word, min_n=3, max_n=6, buckets=100_000)

    assert ids.tolist() == ft_ngram_hashes(word, 3, 6, 100_000)


def test_a_lone_surrogate_has_ngrams_like_any_character() -> None:
    assert len(ngram_ids("\ud800", min_n=3, max_n=6, buckets=1000)) == 1


def test_without_buckets_there_are_no_ngrams() -> None:
    ids = ngram_ids("graph", min_n=3, max_n=6, buckets=0)

    assert ids.dtype == np.int64
    assert len(ids) == 0


def test_cached_ngrams_cannot_be_overwritten() -> None:
    ids = ngram_ids("graph", min_n=3, max_n=6, buckets=1000)

    with pytest.raises(ValueError, match="read-only"):
        ids[0] = 0


def test_ngrams_depend_on_the_spelling_and_stay_below_the_buckets() -> None:
    lexicon = make_lexicon()

    assert lexicon.ngrams("graph").tolist() != lexicon.ngrams("grape").tolist()
    assert max(lexicon.ngrams("extraordinarily")) < lexicon.buckets


def test_edge_types_are_the_loop_and_each_relation_both_ways() -> None:
    lexicon = make_lexicon()

    assert lexicon.edge_types == 1 + len(lexicon.relations) + len(lexicon.relations)


def test_without_a_name_a_style_is_the_first() -> None:
    lexicon = make_lexicon(styles=("authors", "readers"))

    assert [lexicon.style_id(name) for name in (None, "authors", "readers")] == [0, 0, 1]
    assert make_lexicon().style_id("anything") == 0


def test_a_saved_lexicon_comes_back_equal(tmp_path: Path) -> None:
    plain = make_lexicon(styles=("authors", "readers"))
    glossary = Glossary({"graph": SELDOM, "naïve bay": OFTEN}, frozenset(["a", "b"]))
    for lexicon in (plain, replace(plain, glossary=glossary)):
        lexicon.save(tmp_path / "lexicon.json")

        assert Lexicon.load(tmp_path / "lexicon.json") == lexicon


@pytest.mark.parametrize(
    "damage", ["", "{", '{"words": []}', '{"words": ["a", "a"]}', "[]", "[" * 100_000]
)
def test_a_damaged_file_is_named(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "lexicon.json"
    path.write_text(damage, encoding="utf-8")

    with pytest.raises(CheckpointError, match=r"lexicon\.json"):
        Lexicon.load(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"nowhere\.json"):
        Lexicon.load(tmp_path / "nowhere.json")
