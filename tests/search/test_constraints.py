"""A constraint allows what stands in the text and is not closed, and nothing else."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phraseloom.config import SearchConfig
from phraseloom.search.constraints import (
    SEED_FACTOR,
    Constraint,
    Continuations,
    Ints,
    NgramTrie,
    Seed,
    SeedPenalty,
    Unconstrained,
)
from phraseloom.slots import SEP, Phrase
from tests.search.naive import all_phrases
from tests.search.samples import PLAIN, change, segment_lists

A, B, C = 2, 3, 4
Documents = list[list[list[int]]]
documents_of_segments = st.lists(segment_lists, min_size=1, max_size=3)
lengths = st.tuples(st.integers(1, 3), st.integers(1, 3)).map(sorted)
phrase_sets = st.sets(st.lists(st.integers(2, 6), min_size=1, max_size=4).map(tuple), max_size=8)


def phrases_in(constraint: Constraint, document: int, slots: int) -> list[Phrase]:
    """Walk all that is allowed; every step must lead to some end."""
    phrases: list[Phrase] = []
    prefixes: list[tuple[Phrase, Ints]] = [((), constraint.start(np.array([document])))]
    while prefixes:
        grown: list[tuple[Phrase, Ints]] = []
        for prefix, node in prefixes:
            follow = constraint.follow(node, len(prefix), slots)
            (end, *words), (_, *nodes), (can_end, *mask) = (
                field[0, 0].tolist() for field in follow
            )
            assert end == SEP
            assert words == sorted(words) or constraint.dead in nodes
            if can_end:
                phrases.append(prefix)
            children = [
                ((*prefix, word), np.array([[child]]))
                for word, child, is_allowed in zip(words, nodes, mask, strict=True)
                if is_allowed
            ]
            assert can_end or children or not prefix
            grown += children
        prefixes = grown
    return phrases


def make(
    mode: str, documents: Documents, min_words: int, max_words: int
) -> tuple[Constraint, SearchConfig]:
    config = change(PLAIN, mode=mode, max_words=max_words)
    if mode == "free":
        return Unconstrained([7] * len(documents), min_words, max_words), config
    return NgramTrie(documents, min_words, max_words), config


@pytest.mark.parametrize("mode", ["free", "extractive"])
@given(documents=documents_of_segments, words=lengths)
def test_each_phrase_of_each_document_is_allowed_once(
    mode: str, documents: Documents, words: list[int]
) -> None:
    constraint, config = make(mode, documents, *words)

    for document, segments in enumerate(documents):
        allowed = phrases_in(constraint, document, slots=7)
        expected = all_phrases(segments, 7, config, min_words=words[0])
        assert sorted(allowed) == sorted(expected)
        assert constraint.phrases_left(document) == len(expected)


@pytest.mark.parametrize("mode", ["free", "extractive"])
@given(documents=documents_of_segments, words=lengths, closed=phrase_sets)
def test_what_is_closed_is_gone_and_so_is_what_only_led_to_it(
    mode: str, documents: Documents, words: list[int], closed: set[Phrase]
) -> None:
    constraint, config = make(mode, documents, *words)
    before = phrases_in(constraint, len(documents) - 1, slots=7)

    for phrase in (*closed, *closed):  # twice: what is closed stays so
        constraint.close(0, phrase)

    left = all_phrases(documents[0], 7, config, min_words=words[0]) - closed
    assert sorted(phrases_in(constraint, 0, slots=7)) == sorted(left)
    assert constraint.phrases_left(0) == len(left)
    if len(documents) > 1:
        assert phrases_in(constraint, len(documents) - 1, slots=7) == before


@given(st.lists(st.lists(st.integers(2, 6), max_size=4), max_size=5), lengths)
def test_of_candidates_nothing_but_the_whole_is_allowed(
    candidates: list[list[int]], words: list[int]
) -> None:
    trie = NgramTrie([candidates], *words, only_segments=True)

    expected = {tuple(c) for c in candidates if words[0] <= len(c) <= words[1]}
    assert sorted(phrases_in(trie, 0, slots=7)) == sorted(expected)


def test_nothing_crosses_a_segment_or_a_document() -> None:
    trie = NgramTrie([[[A, B], [C]], [[C, A]]], 1, 3)

    assert trie.find(0, (B, C)) == trie.dead
    assert trie.find(0, (C, A)) == trie.dead
    assert trie.find(1, (C, A)) != trie.dead


def test_dead_hypotheses_have_no_continuation() -> None:
    trie = NgramTrie([[[A, B]]], 1, 2)

    follow = trie.follow(np.array([[trie.dead, 0]]), 0, 4)

    assert follow.mask.tolist() == [[[False, False, False], [False, True, True]]]


def test_hypotheses_side_by_side_get_their_own_words() -> None:
    trie = NgramTrie([[[2, 3, 4], [2, 5]], [[3, 2]]], 1, 2)

    first = trie.follow(trie.start(np.array([1, 0])), 0, 6)
    assert _words(first) == [[[2, 3]], [[2, 3, 4, 5]]]

    second = trie.follow(first.nodes[:, 0, 1:3], 1, 6)
    assert _words(second) == [[[], [2]], [[3, 5], [4]]]


def _words(follow: Continuations) -> list[list[list[int]]]:
    """Words of each document, each hypothesis; ends left out."""
    return [
        [slots[1:][mask[1:]].tolist() for slots, mask in zip(*rows, strict=True)]
        for rows in zip(follow.slots, follow.mask, strict=True)
    ]


def test_the_trie_grows_in_proportion_to_the_text() -> None:
    words = np.random.default_rng(0).integers(2, 300, 20_000)
    text = [segment.tolist() for segment in np.array_split(words, 1300)]

    trie = NgramTrie([text], 1, 6)

    assert trie.dead <= 1 + 6 * len(words)
    assert trie.phrases_left(0) == trie.dead - 1


def test_all_phrases_are_counted_without_being_listed() -> None:
    constraint = Unconstrained([5, 4, 2], 1, 2)
    assert [constraint.phrases_left(document) for document in range(3)] == [12, 6, 0]

    many = Unconstrained([1000], 1, 20)
    many.close(0, (2,) * 20)
    assert many.phrases_left(0) == sum(998**length for length in range(1, 21)) - 1


@pytest.mark.parametrize(("document", "prefix"), [(0, (A,)), (0, (A, B)), (0, (B,)), (1, (A,))])
def test_an_unfinished_hypothesis_is_held_back_by_no_more_than_its_best_end(
    document: int, prefix: Phrase
) -> None:
    trie = NgramTrie([[[A, B, C]], [[C, A]]], 1, 3)
    penalty = SeedPenalty(trie, [[Seed(frozenset({C}), 1)], []])

    node = trie.find(document, prefix)

    worst = math.log(SEED_FACTOR) if document == 0 else 0.0
    ended_and_open = penalty.of(np.array([[[node, node]]]))
    assert ended_and_open.tolist() == [[[pytest.approx(worst), 0.0]]]


def test_a_prefix_promises_only_phrases_that_are_allowed() -> None:
    trie = NgramTrie([[[A, B]]], 1, 2, only_segments=True)

    penalty = SeedPenalty(trie, [[Seed(frozenset({A}), 2)]])

    assert trie.ends.tolist() == [False, False, True, False]
    assert penalty.open[:3].tolist() == pytest.approx([math.log(SEED_FACTOR) / 2] * 3)


def test_what_is_excluded_promises_nothing() -> None:
    trie = NgramTrie([[[A, C]]], 1, 2)
    trie.close(0, (A, C))
    trie.close(0, (C,))

    penalty = SeedPenalty(trie, [[Seed(frozenset({C}), 1)]])

    assert penalty.open[trie.find(0, (A,))] == pytest.approx(math.log(SEED_FACTOR))
