"""Seeds: phrases about these words come first.

The caller names phrases, the *seeds*; what has nothing in common with them counts as `FACTOR` times
less probable than the decoder says. Search stays exact: a hypothesis that is not finished is held
back only by what no way of going on can make up for.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from phraseloom.search.ngrams import Ngrams

FACTOR = 10.0
"""How much less probable, in length-normalised terms, a phrase is without any word of a seed."""


class Seed(NamedTuple):
    """A phrase that the caller named, as seen from one document."""

    slots: frozenset[int]
    """Its words that stand in the document."""
    words: int
    """How many distinct words it has, in the document or not."""


class Handicaps(NamedTuple):
    """What is taken off the score of each n-gram, as a log-probability."""

    ended: Tensor  # (N,), of the n-gram as a phrase
    open: Tensor  # (N,), the least of any phrase that begins with it

    def of(self, places: Tensor, follow: Tensor) -> Tensor:
        """Of hypotheses that end at places ``(D, K)`` or go on to ``(D, K, C)``: the end first."""
        return torch.cat([self.ended[places][:, :, None], self.open[follow]], 2)  # (D, K, 1 + C)


def weigh_seeds(ngrams: Ngrams, seeds: Sequence[Sequence[Seed]]) -> Handicaps:
    r"""Handicap of each n-gram, (S7): :math:`\omega (1 - \max_z |y \cap z| / |z|)`.

    The maximum is over the seeds z of the document; :math:`\omega` is the logarithm of `FACTOR`. A
    document without seeds has no handicaps.

    Args:
        ngrams: the index of what may be said.
        seeds: of each document.
    """
    parents = ngrams.parents.tolist()
    shares, best = _shares(ngrams, seeds), [0.0] * len(parents)
    for node in range(len(parents) - 1, -1, -1):  # children first
        if ngrams.ends[node]:
            best[node] = max(best[node], shares[node])
        if parents[node] >= 0:
            best[parents[node]] = max(best[parents[node]], best[node])
    return Handicaps(_handicap(shares), _handicap(best))


def _shares(ngrams: Ngrams, seeds: Sequence[Sequence[Seed]]) -> list[float]:
    """How much of a seed each n-gram holds: of the seed that it holds most of."""
    words = [frozenset().union(*(seed.slots for seed in named)) for named in seeds]
    roots: list[int] = []
    held: list[frozenset[int]] = []  # words of seeds in each n-gram
    shares: list[float] = []
    for parent, slot in zip(ngrams.parents.tolist(), ngrams.slots.tolist(), strict=True):
        if parent < 0:
            roots.append(len(roots))
            held.append(frozenset())
            shares.append(0.0 if seeds[roots[-1]] else 1.0)
            continue
        roots.append(roots[parent])
        if slot in words[roots[-1]]:
            held.append(held[parent] | {slot})
            named = seeds[roots[-1]]
            shares.append(max(len(held[-1] & seed.slots) / seed.words for seed in named))
        else:
            held.append(held[parent])
            shares.append(shares[parent])
    return shares


def _handicap(shares: list[float]) -> Tensor:
    """Of each node, and of nowhere at the end."""
    return math.log(FACTOR) * (1 - torch.tensor([*shares, 1.0]))  # (N,)
