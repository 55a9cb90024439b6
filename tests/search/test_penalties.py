"""Each term of the score alone, against its definition in words."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from phraseloom.search.penalties import (
    SaidGrams,
    dissimilarity,
    normalise_length,
    sibling_ranks,
)
from phraseloom.search.step import Phrase
from tests.search.naive import naive_dissimilarity

SLOTS = 7
phrases = st.lists(st.integers(2, SLOTS - 1), min_size=1, max_size=4).map(tuple)


def test_length_penalty_is_its_formula() -> None:
    log_probs, words = torch.tensor([-3.0, -3.0, -3.0]), torch.tensor([1.0, 2.0, 7.0])

    torch.testing.assert_close(normalise_length(log_probs, words, alpha=0.0), log_probs)
    torch.testing.assert_close(
        normalise_length(log_probs, words, alpha=1.0), torch.tensor([-3.0, -3 * 6 / 7, -1.5])
    )
    torch.testing.assert_close(
        normalise_length(log_probs, words, alpha=2.0), torch.tensor([-3.0, -3 * 36 / 49, -0.75])
    )


@given(st.lists(st.floats(-9, 0), min_size=1, max_size=9))
def test_a_rank_counts_the_siblings_that_come_first(log_probs: list[float]) -> None:
    ranks = sibling_ranks(torch.tensor([log_probs], dtype=torch.float64))[0].tolist()

    for i, mine in enumerate(log_probs):
        before = [j for j, its in enumerate(log_probs) if its > mine or (its == mine and j < i)]
        assert ranks[i] == len(before)


def test_ranks_of_one_hypothesis_do_not_depend_on_another() -> None:
    log_probs = torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(0))

    ranks = sibling_ranks(log_probs)

    for d in range(2):
        for k in range(3):
            torch.testing.assert_close(ranks[d, k], sibling_ranks(log_probs[d, k]))


@given(phrases, st.lists(phrases, max_size=3))
def test_dissimilarity_counts_what_was_said(phrase: Phrase, said: list[Phrase]) -> None:
    grams = SaidGrams.of([[], said], SLOTS)
    words = sum(bool(grams.words[1, word]) for word in phrase)
    pairs = sum(bool(grams.pairs[1, a, b]) for a, b in pairwise(phrase))

    value = dissimilarity(torch.tensor(words), torch.tensor(pairs), torch.tensor(len(phrase)))

    assert value.item() == pytest.approx(naive_dissimilarity(phrase, said))
    assert 0 <= value.item() <= 1
    assert not grams.words[0].any()


@pytest.mark.parametrize(
    ("phrase", "said", "expected"),
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
def test_dissimilarity_by_hand(phrase: Phrase, said: list[Phrase], expected: float) -> None:
    assert naive_dissimilarity(phrase, said) == pytest.approx(expected)


def test_look_ups_of_said_words_and_pairs() -> None:
    grams = SaidGrams.of([[(2, 3), (5,)], [(3, 2)]], SLOTS)
    slots = torch.tensor([[[2, 3, 5]], [[2, 3, 5]]])
    words = torch.tensor([[[4, 2]], [[2, 3]]])

    assert grams.has_word(slots).tolist() == [[[True, True, True]], [[True, True, False]]]
    assert grams.has_pair(words, slots).tolist() == [[[False, True, False]], [[True, False, False]]]
    assert not grams.has_pair(words[:, :, :0], slots).any()
