"""Ranked lists set against their targets: the arrays from which the metrics are computed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phraseloom.evaluate.phrases import Judged, Phrase

Array = NDArray[np.float64]
Part = Literal["present", "absent", "all"]
PARTS: tuple[Part, ...] = ("present", "absent", "all")

_ALPHA = 0.5  # of α-NDCG: what a target loses in worth each time it is met again


class Lists(NamedTuple):
    """One part of a document: the targets, and the predictions set against them."""

    targets: list[Phrase]
    returned: list[Phrase]
    """All valid predictions, best first."""
    unique: list[Phrase]
    """The same without later repeats."""


@dataclass(frozen=True, slots=True)
class Rankings:
    """Lists of D documents as arrays; rank runs along the second axis, padded with zeros to L."""

    hits: Array
    """1 where the prediction is a target, ``(D, L)``."""
    gains: Array
    """α-NDCG gain of each prediction where it stands, ``(D, L)``."""
    ideal_gains: Array
    """α-NDCG gains of the same predictions in greedy order, ``(D, L)``."""
    predicted: Array
    """Number of unique predictions, ``(D,)``."""
    targets: Array
    """Number of targets, ``(D,)``."""


def split_parts(document: Judged) -> dict[Part, Lists]:
    """Part targets and predictions by whether their stems stand in a row in the source."""
    source = f" {document.source} "
    targets, unique = document.targets, list(dict.fromkeys(document.predictions))
    is_present = {p: f" {p} " in source for p in (*targets, *unique)}

    def keep(phrases: Iterable[Phrase], present: bool) -> list[Phrase]:
        return [phrase for phrase in phrases if is_present[phrase] is present]

    everything = (targets, document.predictions, unique)
    return {
        "present": Lists(*(keep(phrases, True) for phrases in everything)),
        "absent": Lists(*(keep(phrases, False) for phrases in everything)),
        "all": Lists(list(targets), list(document.predictions), unique),
    }


def rank(lists: Sequence[Lists]) -> Rankings:
    """Set the unique predictions of each document against its targets."""
    length = max((len(one.unique) for one in lists), default=0)
    hits, gains, ideal_gains = (np.zeros((len(lists), length)) for _ in range(3))
    for i, one in enumerate(lists):
        wanted = set(one.targets)
        hits[i, : len(one.unique)] = [phrase in wanted for phrase in one.unique]
        relevant = find_relevant(one.unique, one.targets)
        if any(relevant):
            row, ideal_row = alpha_gains(relevant), ideal_alpha_gains(relevant)
            gains[i, : len(row)] = row
            ideal_gains[i, : len(ideal_row)] = ideal_row
    return Rankings(
        hits=hits,
        gains=gains,
        ideal_gains=ideal_gains,
        predicted=np.array([len(one.unique) for one in lists], dtype=np.float64),
        targets=np.array([len(one.targets) for one in lists], dtype=np.float64),
    )


def find_relevant(predictions: Iterable[Phrase], targets: Sequence[Phrase]) -> list[list[int]]:
    """For each prediction the targets it is a substring of, by their place in the list.

    A substring of characters, not of words: that is how the literature's script has it.

    >>> find_relevant(["graph", "tree"], ["graph model", "hypergraph"])
    [[0, 1], []]
    """
    return [[t for t, target in enumerate(targets) if p in target] for p in predictions]


def alpha_gains(relevant: Sequence[Sequence[int]]) -> list[float]:
    """Gain of each prediction: a target met for the n-th time is worth ``0.5 ** (n - 1)``.

    >>> alpha_gains([[0], [0, 1], []])
    [1.0, 1.5, 0.0]
    """
    worth: dict[int, float] = {}
    gains = []
    for targets in relevant:
        gains.append(sum(worth.get(t, 1.0) for t in targets))
        for t in targets:
            worth[t] = worth.get(t, 1.0) * (1 - _ALPHA)
    return [float(gain) for gain in gains]


def ideal_alpha_gains(relevant: Sequence[Sequence[int]]) -> list[float]:
    """Gains of the same predictions when the one that gains most always comes next.

    >>> ideal_alpha_gains([[0], [0, 1], []])
    [2.0, 0.5]
    """
    left = [targets for targets in relevant if targets]  # the others gain nothing, in any place
    worth = {t: 1.0 for targets in left for t in targets}
    gains = []
    while left:
        offers = [sum(worth[t] for t in targets) for targets in left]
        best = max(range(len(left)), key=offers.__getitem__)  # the first of equals
        gains.append(offers[best])
        for t in left.pop(best):
            worth[t] *= 1 - _ALPHA
    return gains
