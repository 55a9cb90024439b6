"""A table plays the decoder; a beam as wide as the text is deep finds what brute force finds."""

import math
from dataclasses import replace

import pytest

from phraseloom.search.beam import find_phrases
from phraseloom.search.settings import Count, Settings
from phraseloom.search.step import EOS, FIRST_WORD, SEP, Phrase
from tests.search.decoders import Decoder, Row, Said
from tests.search.naive import all_phrases, naive_dissimilarity, naive_normalise

NEXT_WORD = [  # rows: after a phrase began, then after each word
    # SEP   EOS    a     b     c
    [0.05, 0.05, 0.50, 0.40, 0.00],
    [0.20, 0.10, 0.10, 0.55, 0.05],
    [0.50, 0.30, 0.10, 0.00, 0.10],
    [0.10, 0.60, 0.20, 0.10, 0.00],
]
A, B, C = range(FIRST_WORD, 5)
TEXT = [[A, B, C, A], [B, A, A]]
WIDE = Settings(
    mode="free",
    width=200,
    max_words=3,
    max_phrases=5,
    alpha=1.0,
    lambda1=0.0,
    lambda2=0.0,
    order="decoding",
    stop=1.0,
    floor=0.0,
)


def probs_after(prefix: Phrase) -> list[float]:
    return NEXT_WORD[prefix[-1] - 1 if prefix else 0]


def look_up(document: int, said: Said, prefix: Phrase) -> Row:
    return tuple(math.log(p) if p else -math.inf for p in probs_after(prefix))


def probability(phrase: Phrase) -> float:
    steps = [probs_after(phrase[:i])[word] for i, word in enumerate(phrase)]
    end = probs_after(phrase)
    return math.prod(steps) * (end[SEP] + end[EOS])


def best_phrases(settings: Settings, count: int) -> list[Phrase]:
    """Score all phrases, take the best, again and again."""
    possible = [y for y in all_phrases(TEXT, 5, settings) if probability(y) > 0]
    said: list[Phrase] = []
    for _ in range(count):
        scored = {
            y: naive_normalise(math.log(probability(y)), len(y), settings.alpha)
            + settings.lambda1 * naive_dissimilarity(y, said)
            for y in possible
            if y not in said
        }
        said.append(max(scored, key=scored.__getitem__))
    return said


@pytest.mark.parametrize("mode", ["free", "extractive"])
@pytest.mark.parametrize("lambda1", [0.0, 0.7])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_wide_beam_finds_what_brute_force_finds(mode: str, lambda1: float, alpha: float) -> None:
    settings = replace(WIDE, mode=mode, lambda1=lambda1, alpha=alpha)  # type: ignore[arg-type]

    found = find_phrases(Decoder([5], look_up), [TEXT], settings, Count.by_model())[0]

    assert [each.slots for each in found] == best_phrases(settings, 5)
    for each in found:
        end = probs_after(each.slots)
        assert math.isclose(math.exp(each.log_prob), probability(each.slots), rel_tol=1e-5)
        assert math.isclose(each.end_prob, end[EOS] / (end[SEP] + end[EOS]), rel_tol=1e-5)


def test_the_end_is_sep_and_eos_together() -> None:
    """After a, b has 0.25 and each end 0.2: apart they lose, together they win."""
    after = {(): [0.0, 0.0, 1.0, 0.0], (A,): [0.2, 0.2, 0.35, 0.25]}

    def row(document: int, said: Said, prefix: Phrase) -> Row:
        probs = after.get(prefix, [0.5, 0.5, 0.0, 0.0])
        return tuple(math.log(p) if p else -math.inf for p in probs)

    settings = replace(WIDE, width=1, alpha=0.0, max_phrases=1)
    found = find_phrases(Decoder([4], row), [[]], settings, Count.by_model())[0]

    assert [each.slots for each in found] == [(A,)]
    assert math.isclose(found[0].log_prob, math.log(0.4), rel_tol=1e-5)


def test_diversity_prefers_what_was_not_said() -> None:
    decoder = Decoder([5], look_up)
    plain = find_phrases(decoder, [TEXT], WIDE, Count.by_model())[0]
    diverse = find_phrases(decoder, [TEXT], replace(WIDE, lambda1=5.0), Count.by_model())[0]

    assert plain[0] == replace(diverse[0], total=diverse[0].total - 5)
    assert diverse[1].dissimilarity > plain[1].dissimilarity


def test_siblings_keep_an_unlikely_word_out_of_the_beam() -> None:
    """Two likely children of a crowd out the best child of b, unless siblings are penalised."""
    after: dict[Phrase, list[float]] = {
        (): [0.0, 0.0, 0.6, 0.4, 0.0],
        (A,): [0.0, 0.0, 0.0, 0.5, 0.5],
        (B,): [0.0, 0.0, 0.6, 0.2, 0.2],
        (A, B): [0.1, 0.1, 0.4, 0.4, 0.0],
        (A, C): [0.1, 0.1, 0.4, 0.4, 0.0],
        (B, A): [0.5, 0.5, 0.0, 0.0, 0.0],
    }

    def row(document: int, said: Said, prefix: Phrase) -> Row:
        probs = after.get(prefix, [0.1, 0.1, 0.3, 0.3, 0.2])
        return tuple(math.log(p) if p else -math.inf for p in probs)

    settings = replace(WIDE, width=2, alpha=0.0, max_phrases=1)
    found = {
        lambda2: find_phrases(
            Decoder([5], row), [[]], replace(settings, lambda2=lambda2), Count.by_model()
        )[0][0]
        for lambda2 in (0.0, 1.0)
    }

    assert found[0.0].slots[0] == A
    assert found[1.0].slots == (B, A)
    assert found[1.0].sibling_rank == 0


def test_every_phrase_of_a_small_text_is_found_in_the_end() -> None:
    possible = {y for y in all_phrases(TEXT, 5, WIDE) if probability(y) > 0}
    for mode in ("free", "extractive"):
        settings = replace(WIDE, mode=mode)
        found = find_phrases(Decoder([5], look_up), [TEXT], settings, Count.exactly(100))[0]
        reachable = possible & all_phrases(TEXT, 5, settings)
        assert {each.slots for each in found} == reachable
        assert len(found) == len(reachable)
