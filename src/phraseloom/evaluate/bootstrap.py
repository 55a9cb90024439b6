"""How far a score may be trusted: documents are drawn again, with replacement, many times."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from phraseloom.evaluate.rankings import Array
from phraseloom.evaluate.report import Report, finish

_AT_ONCE = 64  # resamples held in memory together
_TAILS = (2.5, 97.5)  # percentiles that bound 95 % of the resamples


class Interval(NamedTuple):
    """Bounds of the middle 95 % of the resampled values."""

    low: float
    high: float


class Difference(NamedTuple):
    """One system's value minus another's on the same documents."""

    value: float
    interval: Interval
    p_value: float
    """Two-sided: how often resampled differences do not keep their sign, doubled."""


def intervals(report: Report, *, resamples: int = 1000, seed: int = 0) -> dict[str, Interval]:
    """95 % interval of each value of a report, by the percentile bootstrap over documents."""
    return {key: _middle(values) for key, values in _resample(report, resamples, seed).items()}


def compare(
    report: Report, against: Report, *, resamples: int = 1000, seed: int = 0
) -> dict[str, Difference]:
    """Difference between two systems for each value, by the paired bootstrap.

    Both reports must score the same documents in the same order: each resample draws the same
    documents for the two.
    """
    if report.documents != against.documents:
        raise ValueError("the two reports do not score the same documents")
    ours = _resample(report, resamples, seed)
    theirs = _resample(against, resamples, seed)
    return {
        key: Difference(
            value=report.values[key] - against.values[key],
            interval=_middle(ours[key] - theirs[key]),
            p_value=_p_value(ours[key] - theirs[key]),
        )
        for key in report.values
    }


def _resample(report: Report, resamples: int, seed: int) -> Mapping[str, Array]:
    """Every value of a report in each resampled set of documents, ``(R,)``."""
    generator = np.random.default_rng(seed)
    documents = report.documents
    table = np.stack(list(report.columns.values()), axis=1)  # (D, C)
    sums = []
    for start in range(0, resamples, _AT_ONCE):
        drawn = np.stack(
            [
                np.bincount(generator.integers(documents, size=documents), minlength=documents)
                for _ in range(min(_AT_ONCE, resamples - start))
            ]
        )  # (r, D): how often each document was drawn
        sums.append(drawn.astype(np.float64) @ table)  # (r, C)
    totals = dict(zip(report.columns, np.concatenate(sums).T, strict=True))
    return finish(totals, documents)


def _middle(values: Array) -> Interval:
    low, high = np.percentile(values, _TAILS)
    return Interval(float(low), float(high))


def _p_value(differences: Array) -> float:
    """One is added above and below, so that no finite number of resamples proves a zero."""
    tail = min(np.sum(differences <= 0), np.sum(differences >= 0))
    return float(min(1.0, 2 * (tail + 1) / (len(differences) + 1)))
