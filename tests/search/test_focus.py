"""A search limited to some phrases, or drawn to some words, equals brute force over all of them."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from phraseloom.search.beam import Focus, find_phrases
from phraseloom.search.ngrams import Ngrams
from phraseloom.search.seeds import FACTOR, Seed, weigh_seeds
from phraseloom.search.settings import Count
from phraseloom.search.step import Phrase
from tests.search.decoders import Decoder, random_distribution
from tests.search.naive import NaiveSearch, all_phrases, naive_normalise
from tests.search.test_brute_force import TEXT, WIDE, A, B, C, look_up, probability

phrases = st.lists(st.lists(st.integers(2, 6), min_size=1, max_size=3), max_size=5)


@given(st.lists(phrases, min_size=1, max_size=3), st.sampled_from(["free", "extractive"]))
@hypothesis_settings(max_examples=25)
def test_whole_segments_are_all_that_is_said(documents: list[list[list[int]]], mode: str) -> None:
    settings = replace(WIDE, mode=mode, width=4, lambda1=0.5, lambda2=0.2)  # type: ignore[arg-type]
    distribution = random_distribution([7] * len(documents), seed=1)
    decoder = Decoder([7] * len(documents), distribution)

    results = find_phrases(
        decoder, documents, settings, Count.exactly(9), focus=Focus(is_whole=True)
    )

    for document, found in enumerate(results):
        possible = {tuple(phrase) for phrase in documents[document]}
        expected = NaiveSearch(distribution, document, possible, settings).find(Count.exactly(9))
        assert [each.slots for each in found] == [each.slots for each in expected]
        assert {each.slots for each in found} == possible


def handicap(phrase: Phrase, seeds: list[Seed]) -> float:
    return math.log(FACTOR) * (1 - max(len({*phrase} & seed.slots) / seed.words for seed in seeds))


@pytest.mark.parametrize(
    "seeds",
    [
        [Seed(frozenset({C}), 1)],
        [Seed(frozenset({B, C}), 2)],
        [Seed(frozenset({A}), 3), Seed(frozenset({C}), 1)],
        [Seed(frozenset(), 2)],
    ],
)
def test_seeds_hold_back_what_they_have_nothing_in_common_with(seeds: list[Seed]) -> None:
    settings = replace(WIDE, mode="extractive")
    scores = {
        y: naive_normalise(math.log(probability(y)), len(y), 1.0) - handicap(y, seeds)
        for y in all_phrases(TEXT, 5, settings)
        if probability(y) > 0
    }

    found = find_phrases(
        Decoder([5], look_up), [TEXT], settings, Count.by_model(), focus=Focus(seeds=[seeds])
    )[0]

    best = sorted(scores, key=lambda y: -scores[y])[:5]
    assert [each.slots for each in found] == best
    for each in found:
        assert math.isclose(each.score, math.exp(scores[each.slots]), rel_tol=1e-4)


def test_an_unfinished_hypothesis_is_held_back_by_no_more_than_its_best_end() -> None:
    ngrams = Ngrams([[[A, B, C]], [[C, A]]], max_words=3)

    handicaps = weigh_seeds(ngrams, [[Seed(frozenset({C}), 1)], []])

    for document, prefix in ((0, (A,)), (0, (A, B)), (0, (B,)), (1, (A,))):
        node = document
        for slot in prefix:
            [node] = [
                child
                for child in range(len(ngrams.parents))
                if ngrams.parents[child] == node and ngrams.slots[child] == slot
            ]
        worst = math.log(FACTOR) if document == 0 else 0.0
        places = torch.tensor([[node]])
        both = handicaps.of(places, places[:, :, None])
        assert both.tolist() == [[[pytest.approx(worst), 0.0]]]  # ended, and going on


def test_a_phrase_that_only_leads_to_others_promises_theirs() -> None:
    ngrams = Ngrams([[[A, B]]], max_words=2, is_whole=True)

    handicaps = weigh_seeds(ngrams, [[Seed(frozenset({A}), 2)]])

    assert ngrams.ends.tolist() == [False, False, True]
    assert handicaps.open[:3].tolist() == pytest.approx([math.log(FACTOR) / 2] * 3)
