r"""The three terms of a hypothesis's score, as plain functions on tensors.

Equation (S4) of docs/notation.md, :math:`\hat\Theta = \Theta + \lambda_1 DP - \lambda_2 SP`:
length-normalised log-probability, dissimilarity to what was said, rank among siblings.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import torch
from torch import Tensor

from phraseloom.search.step import Phrase


def normalise_length(log_probs: Tensor, words: Tensor, alpha: float) -> Tensor:
    r"""Length penalty, (S1): :math:`\Theta(y) = \log P(y) / ((5 + |y|) / 6)^\alpha`.

    ``words`` is :math:`|y|`, the words of the phrase so far. The SEP or EOS that ends a phrase has
    a share in :math:`P(y)` but is not counted.
    """
    return log_probs / ((5 + words) / 6) ** alpha


def sibling_ranks(log_probs: Tensor) -> Tensor:
    """Sibling penalty, (S3): rank from 0 of each continuation of a hypothesis by log-probability.

    Args:
        log_probs: of the continuations, ``(..., C)``; those not allowed are ``-inf`` and come last.

    Returns:
        Ranks, ``(..., C)``, in the type of ``log_probs``; of equals, the first is ranked first.
    """
    order = log_probs.sort(dim=-1, descending=True, stable=True).indices  # (..., C)
    places = torch.arange(log_probs.shape[-1], dtype=log_probs.dtype)  # (C,)
    return torch.empty_like(log_probs).scatter_(-1, order, places.expand_as(order))  # (..., C)


def dissimilarity(said_words: Tensor, said_pairs: Tensor, words: Tensor) -> Tensor:
    """Dissimilarity to everything said before, (S2): 1 is nothing in common, 0 nothing new.

    One minus the mean of two ratios: the share of the phrase's words, and the share of its pairs of
    neighbouring words, that occur in a phrase said before. One word has no pair and counts alone.

    Args:
        said_words: how many of a phrase's words occur in a phrase said before.
        said_pairs: how many of its pairs do.
        words: its length, at least 1; all three broadcast against each other.
    """
    word_ratio = said_words / words
    pair_ratio = said_pairs / (words - 1).clamp(min=1)
    return 1 - torch.where(words > 1, (word_ratio + pair_ratio) / 2, word_ratio)


@dataclass(frozen=True)
class SaidGrams:
    """Which words, and which pairs of neighbours, were said of each document."""

    words: Tensor  # (D, S), bool
    pairs: Tensor  # (D, S, S), bool

    @classmethod
    def of(cls, said: Sequence[Sequence[Phrase]], slots: int) -> Self:
        """Collect them from the phrases said of each document; ``slots`` is S."""
        words = torch.zeros(len(said), slots, dtype=torch.bool)  # (D, S)
        pairs = torch.zeros(len(said), slots, slots, dtype=torch.bool)  # (D, S, S)
        singles = [(d, word) for d, phrases in enumerate(said) for y in phrases for word in y]
        doubles = [
            (d, *pair) for d, phrases in enumerate(said) for y in phrases for pair in pairwise(y)
        ]
        if singles:
            words[tuple(torch.tensor(singles).T)] = True
        if doubles:
            pairs[tuple(torch.tensor(doubles).T)] = True
        return cls(words, pairs)

    def has_word(self, slots: Tensor) -> Tensor:
        """Whether each of these words was said, ``(D, K, C)`` to ``(D, K, C)``."""
        rows = self.words[:, None, :].expand(-1, slots.shape[1], -1)  # (D, K, S)
        return rows.gather(2, slots)  # (D, K, C)

    def has_pair(self, words: Tensor, slots: Tensor) -> Tensor:
        """Whether the last of these words, ``(D, K, t)``, was said with each slot after it."""
        if words.shape[2] == 0:
            return torch.zeros_like(slots, dtype=torch.bool)  # (D, K, C)
        last = words[:, :, -1:].expand(-1, -1, self.pairs.shape[2])  # (D, K, S)
        return self.pairs.gather(1, last).gather(2, slots)  # (D, K, C)
