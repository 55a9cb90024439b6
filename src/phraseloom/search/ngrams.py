"""Mode ``extractive``: an index of the n-grams that stand in the documents of a batch.

The n-grams form one forest: a root per document, a node per distinct n-gram, the parent of an
n-gram is the n-gram without its last word. Nodes are numbered level by level and siblings side by
side, so the children of a node are one range and all look-ups are plain tensor indexing.
"""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from phraseloom.search.allowed import Continuations
from phraseloom.search.step import FIRST_WORD, SEP, Phrase

Segments = Sequence[Sequence[int]]
"""A document as runs of slots that a phrase may not cross: cut at sentence ends and punctuation."""

Numbers = NDArray[np.int64]


class Ngrams:
    """Every distinct n-gram, up to ``max_words``, of the segments of each document.

    Building takes one sort of the token positions per word of the longest phrase; memory grows with
    the number of tokens times ``max_words``.

    Args:
        documents: segments of each.
        max_words: of an n-gram.
        is_whole: whether a segment is a phrase as a whole and in no other way; ``max_words`` must
            then be enough for the longest.
    """

    def __init__(
        self, documents: Sequence[Segments], max_words: int, *, is_whole: bool = False
    ) -> None:
        levels = _grow(documents, max_words, is_whole)
        parents = np.concatenate([level.parents for level in levels])
        slots = np.concatenate([level.slots for level in levels])
        ends = np.concatenate([level.ends for level in levels])
        self.parents, self.slots, self.ends = parents, slots, ends  # of each node, roots first
        # The last node is nowhere: no n-gram, no children.
        children = np.bincount(parents[len(documents) :], minlength=len(parents) + 1)
        first = len(documents) + np.cumsum(children) - children
        self.nowhere = len(parents)
        self._index = slots, first, children, _subtree_sizes(levels)
        self._ends = torch.from_numpy(np.append(ends, False))  # (N,)
        self._slots = torch.from_numpy(np.append(slots, SEP))  # (N,)
        self._first = torch.from_numpy(first)  # (N,)
        self._children = torch.from_numpy(children)  # (N,)

    def start(self, documents: Sequence[int]) -> Tensor:
        return torch.tensor(documents, dtype=torch.int64)[:, None]  # (D, 1)

    def follow(self, places: Tensor, slots: int) -> Continuations:
        counts = self._children[places][:, :, None]  # (D, K, 1)
        columns = torch.arange(int(counts.max()))  # (C,)
        mask = columns < counts  # (D, K, C)
        nodes = self._first[places][:, :, None] + columns  # (D, K, C)
        nodes = nodes.where(mask, self.nowhere)  # (D, K, C)
        return Continuations(self._slots[nodes], nodes, mask)

    def can_end(self, places: Tensor) -> Tensor:
        return self._ends[places]  # (D, K)

    def phrases_from(self, document: int, prefix: Phrase) -> int:
        slots, first, children, sizes = self._index  # as arrays: tensors are slow one by one
        node = document
        for slot in prefix:
            siblings = slots[first[node] : first[node] + children[node]]
            place = int(siblings.searchsorted(slot))
            if place == len(siblings) or siblings[place] != slot:
                return 0
            node = int(first[node]) + place
        return int(sizes[node])


class Level(NamedTuple):
    """The n-grams of one length, ascending by parent and word."""

    parents: Numbers
    slots: Numbers
    """Last word."""
    ends: NDArray[np.bool_]
    """Whether the n-gram is a phrase, or only leads to one."""


def _grow(documents: Sequence[Segments], max_words: int, is_whole: bool) -> list[Level]:
    """Grow the forest level by level, the roots first."""
    lengths = np.array([len(segment) for segments in documents for segment in segments], np.int64)
    tokens = [sum(map(len, segments)) for segments in documents]
    flat = chain.from_iterable(chain.from_iterable(documents))
    words = np.fromiter(flat, np.int64, sum(tokens))
    assert words.min(initial=FIRST_WORD) >= FIRST_WORD, "a segment holds words only"
    ends = np.repeat(np.cumsum(lengths), lengths)  # where the segment of each token ends
    base = int(words.max(initial=0)) + 1

    roots = len(documents)
    levels = [Level(np.full(roots, -1), np.full(roots, SEP), np.zeros(roots, np.bool_))]
    starts, nodes, total = np.arange(len(words)), np.repeat(np.arange(roots), tokens), 0
    if is_whole:
        firsts = (np.cumsum(lengths) - lengths)[lengths > 0]
        starts, nodes = firsts, nodes[firsts]
    for more in range(max_words):
        inside = starts + more < ends[starts]
        starts, nodes = starts[inside], nodes[inside]  # the n-grams that have one more word
        grown, which = np.unique(nodes * base + words[starts + more], return_inverse=True)
        is_end = np.full(len(grown), not is_whole)
        is_end[which[starts + more + 1 == ends[starts]]] = True
        total += len(levels[-1].parents)
        levels.append(Level(grown // base, grown % base, is_end))
        nodes = total + which
    return levels


def _subtree_sizes(levels: Sequence[Level]) -> Numbers:
    """Number of phrases at and below each node."""
    sizes = np.concatenate([level.ends for level in levels]).astype(np.int64)
    end = len(sizes)
    for level in reversed(levels[1:]):
        start = end - len(level.parents)
        np.add.at(sizes, level.parents, sizes[start:end])
        end = start
    return sizes
