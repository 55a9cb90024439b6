"""How the hypotheses of beams become a list."""

import math
from typing import Any

import pytest

from phraseloom.search.beam import Hypothesis
from phraseloom.search.decode import DecodedList, ExpectedList, Query, find_phrases, new_list
from phraseloom.slots import Phrase
from tests.search.decoders import History, Row, TableDecoder, log_row
from tests.search.samples import (
    DIVERSE,
    EXTRACTIVE,
    PLAIN,
    TEXTS,
    change,
    phrases_of,
    scores_of,
    search,
)


def make_hypothesis(slots: Phrase, score: float, *, end_prob: float = 0.5) -> Hypothesis:
    return Hypothesis(
        number=1,
        slots=slots,
        log_prob=math.log(score),
        score=score,
        dissimilarity=1.0,
        sibling_rank=0,
        end_prob=end_prob,
        total=math.log(score),
    )


@pytest.mark.parametrize(
    ("order", "kind"),
    [("decoding", DecodedList), ("score", DecodedList), ("expected", ExpectedList)],
)
def test_the_order_says_which_list_it_is(order: str, kind: type[Any]) -> None:
    assert type(new_list(change(PLAIN, order=order), None)) is kind


def test_a_list_ends_after_the_phrase_whose_end_is_eos() -> None:
    endless = search(TEXTS, change(DIVERSE, max_phrases=8))
    for hypotheses in endless:
        assert len(hypotheses) == 8
        assert max(hypothesis.end_prob for hypothesis in hypotheses) > 0.5

    ended = search(TEXTS, change(DIVERSE, max_phrases=8, eos_threshold=0.5))
    for hypotheses, longer in zip(ended, endless, strict=True):
        last = next(i for i, hypothesis in enumerate(longer) if hypothesis.end_prob > 0.5)
        assert hypotheses == longer[: last + 1]


def test_numbers_follow_the_decoding_and_order_follows_the_setting() -> None:
    decoded = search(TEXTS, EXTRACTIVE)
    ranked = search(TEXTS, change(EXTRACTIVE, order="score"))

    assert decoded != ranked
    for first, second in zip(decoded, ranked, strict=True):
        assert [hypothesis.number for hypothesis in first] == [1, 2, 3, 4]
        assert second == sorted(first, key=lambda hypothesis: -hypothesis.score)


def test_phrases_below_the_least_score_are_left_out_but_for_the_best() -> None:
    expected = change(EXTRACTIVE, order="expected", max_phrases=8)
    whole = search(TEXTS, expected)
    for min_score in (0.05, 0.1, 1.0):
        cut = search(TEXTS, change(expected, min_score=min_score))
        for hypotheses, longer in zip(cut, whole, strict=True):
            above = [hypothesis for hypothesis in longer if hypothesis.score >= min_score]
            assert hypotheses == (above or longer[:1])
    many = search(TEXTS, change(expected, min_score=1.0), 5)
    assert [len(hypotheses) for hypotheses in many] == [5, 5, 5]


def test_a_phrase_that_is_second_twice_may_come_before_one_that_wins_once() -> None:
    """Phrase 3 is second in both beams, 2 wins the first and 4 the second."""
    rows = [(0.05, 0.05, 0.4, 0.35, 0.0), (0.05, 0.05, 0.0, 0.35, 0.5)]

    def distribution(document: int, history: History, prefix: Phrase) -> Row:
        row = (0.9, 0.1, 0.0, 0.0, 0.0) if prefix else rows[min(len(history), 1)]
        return log_row([max(prob, 1e-9) for prob in row])

    config = change(PLAIN, max_words=1, max_phrases=2, order="expected")
    [hypotheses] = find_phrases(TableDecoder([5], distribution), [Query([])], config, limit=3)

    assert phrases_of(hypotheses) == [(2,), (3,), (4,)]
    chances = [1 - (1 - prob) * (1 - 0.9 * prob) for prob in (0.4, 0.35)] + [0.9 * 0.5]
    assert scores_of(hypotheses) == pytest.approx(chances, abs=1e-4)


def test_diversity_lets_unlike_phrases_pass_those_that_repeat_words() -> None:
    chances = {(2, 3): 0.5, (3,): 0.4, (4,): 0.3}
    beam = [make_hypothesis(phrase, chance) for phrase, chance in chances.items()]

    def choose(lambda1: float) -> dict[Phrase, float]:
        phrase_list = ExpectedList(change(PLAIN, lambda1=lambda1), None)
        phrase_list.add(beam)
        return {hypothesis.slots: hypothesis.score for hypothesis in phrase_list.finish()}

    assert choose(0.0) == pytest.approx(chances)
    diverse = choose(1.0)
    assert list(diverse) == [(2, 3), (4,), (3,)]
    assert diverse == pytest.approx({(2, 3): 0.5, (4,): 0.3, (3,): 0.4 * math.exp(-1)})


def test_a_list_that_has_surely_ended_is_followed_no_further() -> None:
    phrase_list = ExpectedList(change(PLAIN, max_phrases=9), None)
    assert phrase_list.wants_more()

    phrase_list.add([make_hypothesis((2,), 0.5, end_prob=0.7)])
    assert phrase_list.wants_more()
    phrase_list.add([make_hypothesis((3,), 0.5, end_prob=0.7)])

    assert not phrase_list.wants_more()


def test_certain_phrases_keep_a_score_of_at_most_one() -> None:
    phrase_list = ExpectedList(PLAIN, None)
    phrase_list.add([make_hypothesis((2,), 1.0, end_prob=0.0)])
    phrase_list.add([make_hypothesis((3,), 1.0, end_prob=0.0)])

    assert all(0 < score <= 1 for score in scores_of(phrase_list.finish()))
