"""The terms of a hypothesis's score, as plain functions, and the history that they look at."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from phraseloom.slots import Phrase

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.floating[Any]]
"""In a search, float32: what the decoder gives."""

X = TypeVar("X", float, Floats)


def normalise_length(log_probs: X, words: int, alpha: float) -> X:
    r"""Length penalty, (S1): :math:`\Theta(y) = \log P(y) / ((5 + |y|) / 6)^\alpha`.

    ``words`` is :math:`|y|`, the words of the phrase so far. The SEP or EOS that ends a phrase has
    a share in :math:`P(y)` but is not counted.
    """
    return log_probs / ((5 + words) / 6) ** alpha


def dissimilarity(shared_words: X, shared_pairs: X, words: int) -> X:
    """Dissimilarity to all phrases before, (S2): 1 is nothing in common, 0 nothing new.

    One minus the mean of two ratios: the share of the phrase's words, and the share of its pairs of
    neighbouring words, that occur in an earlier phrase. One word has no pair and counts alone.

    Args:
        shared_words: how many of the phrase's words occur in an earlier phrase.
        shared_pairs: how many of its pairs do.
        words: its length, at least 1.
    """
    if words == 1:
        return 1 - shared_words
    return 1 - (shared_words / words + shared_pairs / (words - 1)) / 2


def sibling_ranks(log_probs: Floats) -> Floats:
    """Sibling penalty, (S3): rank from 0 of each continuation of a hypothesis by log-probability.

    Args:
        log_probs: of the continuations, ``(..., C)``; those not allowed are ``-inf`` and come last.

    Returns:
        Ranks, ``(..., C)``, in the type of ``log_probs``; of equals, the first is ranked first.
    """
    order = np.argsort(-log_probs, axis=-1, kind="stable")  # (..., C)
    return np.argsort(order, axis=-1).astype(log_probs.dtype)  # (..., C), the order inverted


class History:
    """The phrases found so far of each document, and the words and pairs of neighbours in them."""

    def __init__(self, slots: Sequence[int]) -> None:
        """Start without phrases; ``slots`` are the numbers of slots of each document."""
        most = max(slots, default=0)
        self.phrases: list[list[Phrase]] = [[] for _ in slots]
        self._words = np.zeros((len(slots), most), np.bool_)  # (B, S)
        self._pairs = np.zeros((len(slots), most, most), np.bool_)  # (B, S, S)

    def add(self, document: int, phrase: Phrase) -> None:
        """Note a phrase as found."""
        self.phrases[document].append(phrase)
        for word in phrase:
            self._words[document, word] = True
        for first, second in pairwise(phrase):
            self._pairs[document, first, second] = True

    def has_word(self, documents: Ints, words: Ints) -> Bools:
        """Which words, ``(B, K, C)``, are in a phrase of their document, ``(B,)``."""
        rows = documents[:, None, None] * self._words.shape[1]  # (B, 1, 1)
        return self._words.reshape(-1)[rows + words]  # (B, K, C)

    def has_pair(self, documents: Ints, words: Ints, next_words: Ints) -> Bools:
        """Which of the words, ``(B, K)``, stand before which of ``(B, K, C)`` in a phrase."""
        most = self._words.shape[1]
        rows = (documents[:, None] * most + words) * most  # (B, K)
        return self._pairs.reshape(-1)[rows[:, :, None] + next_words]  # (B, K, C)
