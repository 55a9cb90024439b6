"""A decoder without a network: a function from what was decoded so far to log-probabilities."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phraseloom.search.constraints import Floats, Ints
from phraseloom.slots import FIRST_WORD, Phrase

History = tuple[Phrase, ...]
Row = tuple[float, ...]
Distribution = Callable[[int, History, Phrase], Row]
"""Log-probability of each slot of a document after a prefix, given the phrases before it."""


@dataclass(frozen=True)
class Prefixes:
    """A state that remembers every word, and so finds out if it is handed on to the wrong one."""

    documents: tuple[int, ...]
    history: tuple[History, ...]
    prefixes: tuple[tuple[Phrase, ...], ...]  # of each document, each hypothesis

    def select(self, parents: Ints) -> "Prefixes":
        prefixes = tuple(
            tuple(row[parent] for parent in chosen)
            for row, chosen in zip(self.prefixes, parents.tolist(), strict=True)
        )
        return Prefixes(self.documents, self.history, prefixes)


@dataclass
class TableDecoder:
    """Plays the decoder; ``calls`` counts the hypotheses that it was asked about."""

    slots: Sequence[int]
    distribution: Distribution
    dtype: Any = np.float64
    calls: int = 0

    def begin(self, documents: Sequence[int], history: Sequence[Sequence[Phrase]]) -> Prefixes:
        empty = (((),),) * len(documents)
        return Prefixes(tuple(documents), tuple(map(tuple, history)), empty)

    def advance(self, words: Ints, state: Prefixes) -> tuple[Floats, Prefixes]:
        most = max(self.slots[document] for document in state.documents)
        log_probs = np.full((*words.shape, most), -math.inf, dtype=self.dtype)
        prefixes = tuple(
            tuple(
                (*prefix, word) if word >= FIRST_WORD else prefix
                for word, prefix in zip(*row, strict=True)
            )
            for row in zip(words.tolist(), state.prefixes, strict=True)
        )
        for b, document in enumerate(state.documents):
            for k, prefix in enumerate(prefixes[b]):
                row = self.distribution(document, state.history[b], prefix)
                log_probs[b, k, : self.slots[document]] = row
                self.calls += 1
        return log_probs, Prefixes(state.documents, state.history, prefixes)

    def edge_weights(self, state: Prefixes) -> list[NDArray[Any]]:
        """An edge for each phrase before this one, so that a trace shows which moment it is of."""
        return [np.full(len(phrases), float(b)) for b, phrases in enumerate(state.history)]


def random_distribution(slots: Sequence[int], seed: int, sharpness: float = 2.0) -> Distribution:
    """Random log-probabilities that depend on the whole history, and on nothing else.

    A document is known by its number of slots, not by its number in the batch.
    """

    @cache
    def distribution(document: int, history: History, prefix: Phrase) -> Row:
        dice = random.Random(repr((seed, slots[document], history, prefix)))
        logits = [dice.gauss(0, sharpness) for _ in range(slots[document])]
        mass = math.log(sum(map(math.exp, logits)))
        return tuple(logit - mass for logit in logits)

    return distribution


def log_row(probs: Sequence[float]) -> Row:
    """Natural logs, ``-inf`` of zero."""
    return tuple(math.log(prob) if prob else -math.inf for prob in probs)
