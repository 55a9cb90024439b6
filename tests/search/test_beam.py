"""The beam: a table plays the decoder, and a wide beam finds what brute force finds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from phraseloom.config import SearchConfig
from phraseloom.search.beam import Hypothesis, choose_best, score_of
from phraseloom.search.constraints import Seed
from phraseloom.search.decode import Query, Trace, find_phrases
from phraseloom.slots import EOS, FIRST_WORD, SEP, Phrase
from tests.search.decoders import (
    Distribution,
    History,
    Row,
    TableDecoder,
    log_row,
    random_distribution,
)
from tests.search.naive import (
    all_phrases,
    naive_dissimilarity,
    naive_normalise,
    naive_seed_penalty,
)
from tests.search.samples import DIVERSE, PLAIN, TEXTS, change, count_slots, phrases_of, search

NEXT_WORD = [  # rows: after a phrase began, then after each word
    # SEP   EOS    a     b     c
    [0.05, 0.05, 0.50, 0.40, 0.00],
    [0.20, 0.10, 0.10, 0.55, 0.05],
    [0.50, 0.30, 0.10, 0.00, 0.10],
    [0.10, 0.60, 0.20, 0.10, 0.00],
]
A, B, C = range(FIRST_WORD, 5)
TEXT = [[A, B, C, A], [B, A, A]]
WIDE = change(PLAIN, beam_width=200, max_phrases=5, alpha=1.0)


def probs_after(prefix: Phrase) -> list[float]:
    return NEXT_WORD[prefix[-1] - 1 if prefix else 0]


def look_up(document: int, history: History, prefix: Phrase) -> Row:
    return log_row(probs_after(prefix))


def probability(phrase: Phrase) -> float:
    steps = [probs_after(phrase[:i])[word] for i, word in enumerate(phrase)]
    end = probs_after(phrase)
    return math.prod(steps) * (end[SEP] + end[EOS])


def search_table(
    distribution: Distribution, config: SearchConfig, *, slots: int = 5, limit: int | None = None
) -> list[Hypothesis]:
    decoder = TableDecoder([slots], distribution)
    return find_phrases(decoder, [Query(TEXT)], config, limit=limit)[0]


def best_phrases(config: SearchConfig, count: int) -> list[Phrase]:
    """Score all phrases, take the best, again and again."""
    possible = [phrase for phrase in all_phrases(TEXT, 5, config) if probability(phrase) > 0]
    best: list[Phrase] = []
    for _ in range(count):
        totals = {
            phrase: naive_normalise(math.log(probability(phrase)), len(phrase), config.alpha)
            + config.lambda1 * naive_dissimilarity(phrase, best)
            for phrase in possible
            if phrase not in best
        }
        best.append(max(totals, key=totals.__getitem__))
    return best


@pytest.mark.parametrize("mode", ["free", "extractive"])
@pytest.mark.parametrize("lambda1", [0.0, 0.7])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_wide_beam_finds_what_brute_force_finds(mode: str, lambda1: float, alpha: float) -> None:
    config = change(WIDE, mode=mode, lambda1=lambda1, alpha=alpha)

    hypotheses = search_table(look_up, config)

    assert phrases_of(hypotheses) == best_phrases(config, 5)
    for hypothesis in hypotheses:
        end = probs_after(hypothesis.slots)
        log_prob, share = math.log(probability(hypothesis.slots)), end[EOS] / (end[SEP] + end[EOS])
        assert hypothesis.log_prob == pytest.approx(log_prob)
        assert hypothesis.end_prob == pytest.approx(share)
        normalised = naive_normalise(log_prob, len(hypothesis.slots), alpha)
        assert hypothesis.score == pytest.approx(math.exp(normalised))


@pytest.mark.parametrize(
    "seeds",
    [
        [Seed(frozenset({C}), 1)],
        [Seed(frozenset({B, C}), 2)],
        [Seed(frozenset({A}), 3), Seed(frozenset({C}), 1)],
        [Seed(frozenset(), 2)],
    ],
)
def test_seeds_hold_back_what_shares_no_word_with_them(seeds: list[Seed]) -> None:
    config = change(WIDE, mode="extractive")
    totals = {
        phrase: naive_normalise(math.log(probability(phrase)), len(phrase), 1.0)
        - naive_seed_penalty(phrase, seeds)
        for phrase in all_phrases(TEXT, 5, config)
        if probability(phrase) > 0
    }

    queries = [Query(TEXT, seeds=seeds)]
    [hypotheses] = find_phrases(TableDecoder([5], look_up), queries, config)

    assert phrases_of(hypotheses) == sorted(totals, key=lambda phrase: -totals[phrase])[:5]
    for hypothesis in hypotheses:
        expected = math.exp(totals[hypothesis.slots])
        assert hypothesis.score == pytest.approx(expected, rel=1e-4)


@given(st.integers(0, 10**6))
@hypothesis_settings(max_examples=25)
def test_width_one_takes_the_best_continuation_each_time(seed: int) -> None:
    distribution = random_distribution(count_slots(TEXTS), seed)
    config = change(PLAIN, beam_width=1, max_phrases=1)

    for document, hypotheses in enumerate(search(TEXTS, config, seed=seed)):
        phrase: Phrase = ()
        while len(phrase) < config.max_words:
            sep, eos, *words = map(math.exp, distribution(document, (), phrase))
            if phrase and sep + eos > max(words):
                break
            phrase = (*phrase, FIRST_WORD + words.index(max(words)))
        assert phrases_of(hypotheses) == [phrase]


def test_the_end_is_sep_and_eos_together() -> None:
    """After a, b has 0.25 and each end 0.2: apart they lose, together they win."""
    after = {(): [0.0, 0.0, 1.0, 0.0], (A,): [0.2, 0.2, 0.35, 0.25]}

    def row(document: int, history: History, prefix: Phrase) -> Row:
        return log_row(after.get(prefix, [0.5, 0.5, 0.0, 0.0]))

    config = change(WIDE, beam_width=1, alpha=0.0, max_phrases=1)
    [hypothesis] = search_table(row, config, slots=4)

    assert hypothesis.slots == (A,)
    assert hypothesis.log_prob == pytest.approx(math.log(0.4))


def test_diversity_prefers_what_was_not_decoded_before() -> None:
    plain = search_table(look_up, WIDE)
    diverse = search_table(look_up, change(WIDE, lambda1=5.0))

    assert plain[0] == diverse[0]._replace(total=plain[0].total)
    assert diverse[0].total == pytest.approx(plain[0].total + 5)
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

    def row(document: int, history: History, prefix: Phrase) -> Row:
        return log_row(after.get(prefix, [0.1, 0.1, 0.3, 0.3, 0.2]))

    config = change(WIDE, beam_width=2, alpha=0.0, max_phrases=1)
    [without] = search_table(row, config)
    [penalised] = search_table(row, change(config, lambda2=1.0))

    assert without.slots[0] == A
    assert penalised.slots == (B, A)
    assert penalised.sibling_rank == 0


def test_of_equals_the_lower_slot_comes_first() -> None:
    even = (-2.0,) * 8
    config = change(PLAIN, max_words=1, max_phrases=6, beam_width=2)

    hypotheses = search_table(lambda document, history, prefix: even, config, slots=8)

    assert phrases_of(hypotheses) == [(2,), (3,), (4,), (5,), (6,), (7,)]


def test_a_document_stops_once_nothing_alive_can_win() -> None:
    sure, unsure = math.log(0.95), math.log(0.01)

    def write_one_word(document: int, history: History, prefix: Phrase) -> Row:
        """Surely the next word that is in no phrase yet, then surely the end."""
        likely = SEP if prefix else FIRST_WORD + len(history)
        return tuple(sure if slot == likely else unsure for slot in range(7))

    decoders = [TableDecoder([7], write_one_word) for _ in range(2)]
    config = change(DIVERSE, beam_width=20, max_words=6)

    quick = find_phrases(decoders[0], [Query([])], config)
    traced = find_phrases(decoders[1], [Query([])], config, trace=Trace(1))

    assert quick == traced
    assert phrases_of(quick[0]) == [(2,), (3,), (4,), (5,)]
    assert decoders[0].calls < 0.5 * decoders[1].calls


@given(
    st.lists(
        st.lists(st.sampled_from([-math.inf, -2.0, -1.0, 0.0, 0.5]), min_size=6, max_size=6),
        min_size=1,
        max_size=3,
    ),
    st.integers(1, 8),
)
def test_the_best_of_each_row_are_chosen_the_first_of_equals(
    totals: list[list[float]], count: int
) -> None:
    expected = []
    for row, values in enumerate(totals):
        allowed = [column for column in range(6) if values[column] > -math.inf]
        best = sorted(allowed, key=lambda column: -values[column])[:count]
        expected += [6 * row + column for column in best]

    assert choose_best(np.array(totals), count).tolist() == expected


def test_a_score_is_above_zero_and_at_most_one() -> None:
    assert score_of(math.log(0.3)) == pytest.approx(0.3)
    assert score_of(0.1) == 1.0
    assert 0 < score_of(-1e9) < 1e-300
