"""Each term of the score alone, against its definition in words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phraseloom.search.constraints import History, dissimilarity, normalise_length, sibling_ranks
from phraseloom.slots import SEP, Phrase
from tests.search.naive import naive_dissimilarity

SLOTS = 7
phrases = st.lists(st.integers(2, SLOTS - 1), min_size=1, max_size=4).map(tuple)


@pytest.mark.parametrize(
    ("words", "alpha", "expected"),
    [(1, 0.0, -3.0), (7, 0.0, -3.0), (1, 1.0, -3.0), (2, 1.0, -18 / 7), (7, 2.0, -0.75)],
)
def test_length_penalty_is_its_formula(words: int, alpha: float, expected: float) -> None:
    assert normalise_length(-3.0, words, alpha) == pytest.approx(expected)
    assert normalise_length(np.array([-3.0]), words, alpha) == pytest.approx(expected)


@given(st.lists(st.floats(-9, 0), min_size=1, max_size=9))
def test_a_rank_counts_the_siblings_that_come_first(log_probs: list[float]) -> None:
    ranks = sibling_ranks(np.array([log_probs]))[0].tolist()

    for i, mine in enumerate(log_probs):
        before = [j for j, its in enumerate(log_probs) if its > mine or (its == mine and j < i)]
        assert ranks[i] == len(before)


def test_ranks_of_one_hypothesis_do_not_depend_on_another() -> None:
    log_probs = np.random.default_rng(0).normal(size=(2, 3, 5)).astype(np.float32)

    ranks = sibling_ranks(log_probs)

    assert ranks.dtype == np.float32
    for b, k in np.ndindex(2, 3):
        assert ranks[b, k].tolist() == sibling_ranks(log_probs[b, k]).tolist()


@given(phrases, st.lists(phrases, max_size=3))
def test_dissimilarity_counts_what_was_decoded_before(
    phrase: Phrase, earlier: list[Phrase]
) -> None:
    history = History([SLOTS, SLOTS])
    for other in earlier:
        history.add(1, other)
    words = np.array([[phrase]])  # (B, K, C)
    pairs = [
        history.has_pair(np.array([1]), np.array([[first]]), np.array([[[second]]])).sum()
        for first, second in zip(phrase, phrase[1:], strict=False)
    ]

    shared_words = float(history.has_word(np.array([1]), words).sum())
    value = dissimilarity(shared_words, float(sum(pairs)), len(phrase))

    assert value == pytest.approx(naive_dissimilarity(phrase, earlier))
    assert 0 <= value <= 1
    assert not history.has_word(np.array([0]), words).any()


@pytest.mark.parametrize(
    ("phrase", "earlier", "expected"),
    [
        ((2, 3), [], 1.0),
        ((2,), [(2, 3)], 0.0),
        ((4,), [(2, 3)], 1.0),
        ((2, 3), [(2, 3)], 0.0),
        ((3, 2), [(2, 3)], 0.5),  # both words, not the pair
        ((2, 4), [(2, 3)], 0.75),
        ((3, 4), [(2, 3), (4, 5)], 0.5),  # a pair does not reach across two phrases
    ],
)
def test_dissimilarity_by_hand(phrase: Phrase, earlier: list[Phrase], expected: float) -> None:
    assert naive_dissimilarity(phrase, earlier) == pytest.approx(expected)


def test_words_and_pairs_are_looked_up_in_their_own_document() -> None:
    history = History([SLOTS, SLOTS, SLOTS])
    for document, phrase in ((1, (2, 3)), (1, (5,)), (2, (3, 2))):
        history.add(document, phrase)
    rows = np.array([1, 2])
    words = np.array([[[2, 3, 5]], [[2, 3, 5]]])

    assert history.phrases == [[], [(2, 3), (5,)], [(3, 2)]]
    assert history.has_word(rows, words).tolist() == [[[True, True, True]], [[True, True, False]]]
    assert history.has_pair(rows, np.array([[2], [3]]), words).tolist() == [
        [[False, True, False]],
        [[True, False, False]],
    ]
    assert not history.has_pair(rows, np.array([[SEP], [SEP]]), words).any()
