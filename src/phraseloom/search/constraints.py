"""Which words may follow a hypothesis, where it may end, and the terms of its score.

Two modes: ``free`` allows everything (`Unconstrained`), ``extractive`` what stands in the text
(`NgramTrie`). Both keep count of the phrases that are left: a phrase that was found, or that must
not be, is *closed*, and a prefix from which no phrase is left is never a continuation. Hence every
live hypothesis can be brought to an end, however narrow the beam.
"""

import math
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from phraseloom.slots import FIRST_WORD, SEP, Phrase

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.floating[Any]]
"""In a search, float32: what the decoder gives."""

X = TypeVar("X", float, Floats)

Segments = Sequence[Sequence[int]]
"""A document as runs of slots that a phrase may not cross: cut at sentence ends and punctuation."""


class Continuations(NamedTuple):
    """How each hypothesis may go on: column 0 is its end, then come words, ascending, padded."""

    slots: Ints  # (B, K, C); SEP for the end and where padded
    nodes: Ints  # (B, K, C); for the end, the node of the hypothesis itself
    mask: Bools  # (B, K, C)


class Constraint(Protocol):
    """The phrases that are left to find of each document of a batch.

    A *node* is what an implementation needs to know of a hypothesis; the search carries it along.
    """

    dead: int
    """The node of hypotheses that only fill up a row."""

    def start(self, documents: Ints) -> Ints:
        """Node of the empty phrase of these documents, ``(B, 1)``."""
        ...

    def follow(self, nodes: Ints, words: int, slots: int) -> Continuations:
        """How hypotheses of so many words, at nodes ``(B, K)``, may go on; S is ``slots``."""
        ...

    def close(self, document: int, phrase: Phrase) -> None:
        """Take a phrase away; nothing happens if it was not allowed."""
        ...

    def phrases_left(self, document: int) -> int:
        """How many phrases of a document can still be found."""
        ...


class Unconstrained:
    """Mode ``free``: every word may follow every other.

    Only prefixes of closed phrases have a node of their own; all others are node 0.
    """

    dead = 0

    def __init__(self, slots: Sequence[int], min_words: int, max_words: int) -> None:
        """Take the number of slots of each document, SEP and EOS included."""
        self._slots = slots
        self._min_words, self._max_words = min_words, max_words
        self._children: list[dict[int, int]] = [{} for _ in range(1 + len(slots))]
        self._is_closed = [False] * (1 + len(slots))
        self._left = [0, *(self._count(document, 0) for document in range(len(slots)))]

    def start(self, documents: Ints) -> Ints:
        return 1 + documents[:, None]  # (B, 1)

    def follow(self, nodes: Ints, words: int, slots: int) -> Continuations:
        # Slots that a document lacks need no mask: their log-probability is -inf.
        columns = np.arange(FIRST_WORD - 1, slots if words < self._max_words else FIRST_WORD)
        columns[0] = SEP
        children = np.zeros((*nodes.shape, len(columns)), np.int64)  # (B, K, C)
        children[:, :, 0] = nodes
        mask = np.ones(children.shape, np.bool_)  # (B, K, C)
        mask[:, :, 0] = words >= self._min_words
        for row, column in np.argwhere(nodes):
            node = nodes[row, column]
            mask[row, column, 0] &= not self._is_closed[node]
            for slot, child in self._children[node].items():
                children[row, column, slot - FIRST_WORD + 1] = child
                mask[row, column, slot - FIRST_WORD + 1] = self._left[child] > 0
        return Continuations(np.broadcast_to(columns, children.shape), children, mask)

    def close(self, document: int, phrase: Phrase) -> None:
        if not self._is_allowed(document, phrase):
            return
        path = [1 + document]
        for length, slot in enumerate(phrase, start=1):
            child = self._children[path[-1]].setdefault(slot, len(self._left))
            if child == len(self._left):
                self._children.append({})
                self._is_closed.append(False)
                self._left.append(self._count(document, length))
            path.append(child)
        if not self._is_closed[path[-1]]:
            self._is_closed[path[-1]] = True
            for node in path:
                self._left[node] -= 1

    def phrases_left(self, document: int) -> int:
        return self._left[1 + document]

    def _is_allowed(self, document: int, phrase: Phrase) -> bool:
        fits = self._min_words <= len(phrase) <= self._max_words
        return fits and all(FIRST_WORD <= slot < self._slots[document] for slot in phrase)

    def _count(self, document: int, length: int) -> int:
        """How many phrases of a document begin with a prefix of this length."""
        words = self._slots[document] - FIRST_WORD
        lengths = range(max(length, self._min_words), self._max_words + 1)
        return sum(words ** (longer - length) for longer in lengths)


class NgramTrie:
    """Mode ``extractive``: every distinct n-gram of the segments of each document.

    One forest: a root per document, a node per distinct n-gram; the parent of an n-gram is the
    n-gram without its last word. Nodes are numbered level by level and siblings side by side, so
    the children of a node are one range and all look-ups are plain indexing. N-grams from which no
    phrase of ``min_words`` can be reached have no node.

    Building takes one sort of the token positions per word of the longest phrase; memory grows with
    the number of tokens times ``max_words``.

    Args:
        documents: segments of each.
        min_words: of a phrase.
        max_words: of a phrase.
        only_segments: whether a segment is a phrase as a whole and in no other way.
    """

    def __init__(
        self,
        documents: Sequence[Segments],
        min_words: int,
        max_words: int,
        *,
        only_segments: bool = False,
    ) -> None:
        levels = _grow_levels(documents, min_words, max_words, only_segments)
        # The last node is the dead one: no n-gram, no children, no end.
        self.dead = sum(len(level.parents) for level in levels)
        self.parents = np.concatenate([*(level.parents for level in levels), [-1]])  # (N,)
        self.slots = np.concatenate([*(level.slots for level in levels), [SEP]])  # (N,)
        self.ends = np.concatenate([*(level.ends for level in levels), [False]])  # (N,)
        self._left = self.ends.astype(np.int64)  # (N,), phrases at and below each node
        last = self.dead
        for level in reversed(levels[1:]):
            first = last - len(level.parents)
            np.add.at(self._left, level.parents, self._left[first:last])
            last = first
        roots = len(documents)
        self._children = np.bincount(self.parents[roots:-1], minlength=self.dead + 1)  # (N,)
        self._first = roots + np.cumsum(self._children) - self._children  # (N,)

    def start(self, documents: Ints) -> Ints:
        return documents[:, None]  # (B, 1)

    def follow(self, nodes: Ints, words: int, slots: int) -> Continuations:
        counts = self._children[nodes]  # (B, K)
        columns = np.arange(1 + counts.max())  # (C,)
        children = self._first[nodes][:, :, None] + (columns - 1)  # (B, K, C)
        children[columns > counts[:, :, None]] = self.dead
        children[:, :, 0] = nodes
        mask = self._left[children] > 0  # (B, K, C)
        mask[:, :, 0] = self.ends[nodes]
        next_slots = self.slots[children]  # (B, K, C)
        next_slots[:, :, 0] = SEP
        return Continuations(next_slots, children, mask)

    def close(self, document: int, phrase: Phrase) -> None:
        node = self.find(document, phrase)
        if not self.ends[node]:
            return
        self.ends[node] = False
        while node >= 0:
            self._left[node] -= 1
            node = self.parents[node]

    def phrases_left(self, document: int) -> int:
        return int(self._left[document])

    def find(self, document: int, prefix: Phrase) -> int:
        """Node of an n-gram; the dead one if the document does not have it."""
        node = document
        for slot in prefix:
            first, children = self._first[node], self._children[node]
            i = int(self.slots[first : first + children].searchsorted(slot))
            if i == children or self.slots[first + i] != slot:
                return self.dead
            node = int(first) + i
        return node


class _Level(NamedTuple):
    """The n-grams of one length, ascending by parent and word."""

    parents: Ints
    slots: Ints  # the last word
    ends: Bools  # whether the n-gram is a phrase, or only leads to one


def _grow_levels(
    documents: Sequence[Segments], min_words: int, max_words: int, only_segments: bool
) -> list[_Level]:
    """Grow the forest level by level, the roots first."""
    lengths = np.array([len(segment) for segments in documents for segment in segments], np.int64)
    tokens = [sum(map(len, segments)) for segments in documents]
    flat = chain.from_iterable(chain.from_iterable(documents))
    words = np.fromiter(flat, np.int64, sum(tokens))
    assert words.min(initial=FIRST_WORD) >= FIRST_WORD, "a segment holds words only"
    ends = np.repeat(np.cumsum(lengths), lengths)  # where the segment of each token ends
    base = int(words.max(initial=0)) + 1

    roots = len(documents)
    levels = [_Level(np.full(roots, -1), np.full(roots, SEP), np.zeros(roots, np.bool_))]
    starts = np.arange(len(words))
    if only_segments:
        fits = (lengths >= max(min_words, 1)) & (lengths <= max_words)
        starts = (np.cumsum(lengths) - lengths)[fits]
    starts = starts[starts + min_words <= ends[starts]]
    nodes, total = np.repeat(np.arange(roots), tokens)[starts], 0
    for length in range(1, max_words + 1):
        inside = starts + length <= ends[starts]
        starts, nodes = starts[inside], nodes[inside]  # the n-grams that have one more word
        if not len(starts):
            break
        grown, which = np.unique(nodes * base + words[starts + length - 1], return_inverse=True)
        is_end = np.full(len(grown), length >= min_words and not only_segments)
        if only_segments:
            is_end[which[starts + length == ends[starts]]] = True
        total += len(levels[-1].parents)
        levels.append(_Level(grown // base, grown % base, is_end))
        nodes = total + which
    return levels


SEED_FACTOR = 10.0
"""How much less probable, in length-normalised terms, a phrase is without any word of a seed."""


class Seed(NamedTuple):
    """A phrase that the caller named, as seen from one document: phrases about it come first."""

    slots: frozenset[int]
    """Its words that stand in the document."""
    words: int
    """How many distinct words it has, in the document or not."""


class SeedPenalty:
    r"""What is taken off the log-probability of n-grams that have little in common with the seeds.

    Equation (S7): :math:`\omega (1 - \max_z |y \cap z| / |z|)` over the seeds z of the document;
    :math:`\omega` is the logarithm of `SEED_FACTOR`. A document without seeds has no penalty. The
    search stays exact: a hypothesis that is not finished is held back only by what no way of going
    on can make up for.

    Attributes:
        ended: of each node of the trie as a phrase, ``(N,)``.
        open: the least of any phrase that begins with the node's n-gram, ``(N,)``.
    """

    def __init__(self, trie: NgramTrie, seeds: Sequence[Sequence[Seed]]) -> None:
        parents = trie.parents.tolist()
        shares = _seed_shares(trie, seeds)
        best = [0.0] * len(parents)
        for node in range(trie.dead - 1, -1, -1):  # children before their parents
            if trie.ends[node]:
                best[node] = max(best[node], shares[node])
            if parents[node] >= 0:
                best[parents[node]] = max(best[parents[node]], best[node])
        weight = math.log(SEED_FACTOR)
        self.ended = (weight * (1 - np.array(shares))).astype(np.float32)  # (N,)
        self.open = (weight * (1 - np.array(best))).astype(np.float32)  # (N,)

    def of(self, nodes: Ints) -> Floats:
        """Penalty of continuations, ``(B, K, C)``, of which column 0 is the end."""
        penalty = self.open[nodes]  # (B, K, C)
        penalty[:, :, 0] = self.ended[nodes[:, :, 0]]
        return penalty


def _seed_shares(trie: NgramTrie, seeds: Sequence[Sequence[Seed]]) -> list[float]:
    """How much of a seed each n-gram holds: of the seed that it holds most of."""
    seed_words = [frozenset().union(*(seed.slots for seed in of_document)) for of_document in seeds]
    documents: list[int] = []  # of each node
    held: list[frozenset[int]] = []  # words of seeds in each n-gram
    shares: list[float] = []
    for parent, slot in zip(trie.parents[:-1].tolist(), trie.slots[:-1].tolist(), strict=True):
        document = len(documents) if parent < 0 else documents[parent]
        documents.append(document)
        if parent < 0:
            held.append(frozenset())
            shares.append(0.0 if seeds[document] else 1.0)
        elif slot in seed_words[document]:
            held.append(held[parent] | {slot})
            shares.append(max(len(held[-1] & seed.slots) / seed.words for seed in seeds[document]))
        else:
            held.append(held[parent])
            shares.append(shares[parent])
    return [*shares, 1.0]  # the dead node


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
