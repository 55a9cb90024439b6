"""Intervals and paired comparisons: seeded, centred, and never surer than the data."""

import numpy as np
import pytest

from phraseloom.evaluate.bootstrap import compare, intervals
from phraseloom.evaluate.phrases import Judged, judge_text
from phraseloom.evaluate.report import Report, finish, score_documents

KEY = "present.macro.f1@M"


def report(shares: list[float]) -> Report:
    """A document for each share of its ten targets that is found."""
    words = [f"w{i}" for i in range(10)]
    documents: list[Judged] = [
        judge_text(" ".join(words), words, words[: round(10 * share)]) for share in shares
    ]
    return score_documents(documents)


GOOD = report([0.9, 0.8, 1.0, 0.7, 0.9, 0.8, 1.0, 0.9] * 4)
BAD = report([0.3, 0.2, 0.4, 0.1, 0.3, 0.2, 0.4, 0.3] * 4)


def test_an_interval_holds_the_value_and_depends_on_the_seed_alone() -> None:
    found = intervals(GOOD, resamples=200, seed=3)

    low, high = found[KEY]
    assert low < GOOD.values[KEY] < high
    assert found == intervals(GOOD, resamples=200, seed=3)
    assert found != intervals(GOOD, resamples=200, seed=4)
    assert found.keys() == GOOD.values.keys()


def test_the_interval_of_a_mean_is_as_wide_as_theory_has_it() -> None:
    recalls = GOOD.columns["present.recall@M"]
    width = 2 * 1.96 * recalls.std() / np.sqrt(len(recalls))

    low, high = intervals(GOOD, resamples=2000)["present.macro.recall@M"]

    assert high - low == pytest.approx(width, rel=0.15)


def test_documents_that_are_all_alike_leave_no_doubt() -> None:
    low, high = intervals(report([0.5] * 5), resamples=50)[KEY]

    assert low == pytest.approx(high)


def test_a_clear_difference_has_a_small_p_value_and_a_sign() -> None:
    found = compare(GOOD, BAD, resamples=500)[KEY]

    assert found.value == pytest.approx(GOOD.values[KEY] - BAD.values[KEY])
    assert 0 < found.interval.low < found.value < found.interval.high
    assert found.p_value == pytest.approx(2 / 501)


def test_a_system_does_not_differ_from_itself() -> None:
    found = compare(GOOD, GOOD, resamples=100)[KEY]

    assert found == (0, (0, 0), 1)


def test_swapping_the_systems_turns_the_sign() -> None:
    there, back = compare(GOOD, BAD, resamples=100)[KEY], compare(BAD, GOOD, resamples=100)[KEY]

    assert there.value == -back.value
    assert there.interval.low == pytest.approx(-back.interval.high)
    assert there.p_value == back.p_value


def test_pairing_draws_the_same_documents_for_both() -> None:
    # always a tenth better, on documents that differ much: pairing leaves only the tenth
    shares = [0.1, 0.9, 0.3, 0.7, 0.5, 0.2, 0.8] * 3
    found = compare(report([s + 0.1 for s in shares]), report(shares), resamples=200)

    low, high = found["present.macro.recall@M"].interval
    assert low == pytest.approx(0.1) and high == pytest.approx(0.1)


def test_reports_on_different_documents_are_not_compared() -> None:
    with pytest.raises(ValueError, match="same documents"):
        compare(GOOD, report([0.5]))


def test_finishing_the_plain_sums_gives_the_values() -> None:
    totals = {name: np.atleast_1d(column.sum()) for name, column in GOOD.columns.items()}

    found = {key: float(value[0]) for key, value in finish(totals, GOOD.documents).items()}

    assert found == GOOD.values
