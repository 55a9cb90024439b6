"""A decoder without a network: a function from what was said so far to log-probabilities."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from phraseloom.search.step import Phrase

Said = tuple[Phrase, ...]
Row = tuple[float, ...]
Distribution = Callable[[int, Said, Phrase], Row]
"""Log-probability of each slot of a document after a prefix, given the phrases said before."""


@dataclass(frozen=True)
class History:
    """A state that remembers every word, and so finds out if it is handed on to the wrong one."""

    documents: tuple[int, ...]
    said: tuple[Said, ...]
    prefixes: tuple[tuple[Phrase, ...], ...]  # of each document, each hypothesis

    def select(self, parents: Tensor) -> "History":
        prefixes = tuple(
            tuple(row[parent] for parent in chosen)
            for row, chosen in zip(self.prefixes, parents.tolist(), strict=True)
        )
        return History(self.documents, self.said, prefixes)


@dataclass
class Decoder:
    """Plays the decoder; ``calls`` counts the hypotheses it was asked about."""

    slots: Sequence[int]
    distribution: Distribution
    dtype: torch.dtype = torch.float64
    calls: int = 0

    def begin(self, documents: Sequence[int], said: Sequence[Sequence[Phrase]]) -> History:
        heard = tuple(tuple(phrases) for phrases in said)
        return History(tuple(documents), heard, ((),) * len(documents))

    def advance(self, words: Tensor, state: History) -> tuple[Tensor, History]:
        most = max(self.slots[document] for document in state.documents)
        log_probs = torch.full((*words.shape, most), -math.inf, dtype=self.dtype)
        rows = zip(words.tolist(), _columns(state, words.shape[1]), strict=True)
        prefixes = tuple(
            tuple(
                (*prefix, word) if word > 1 else prefix for word, prefix in zip(*row, strict=True)
            )
            for row in rows
        )
        for d, document in enumerate(state.documents):
            for k, prefix in enumerate(prefixes[d]):
                row = torch.tensor(self.distribution(document, state.said[d], prefix))
                log_probs[d, k, : self.slots[document]] = row
                self.calls += 1
        return log_probs, History(state.documents, state.said, prefixes)

    def edge_weights(self, state: History) -> list[Tensor]:
        """As many edges as phrases were said, so that a trace shows which moment it belongs to."""
        return [torch.full((len(said),), float(d)) for d, said in enumerate(state.said)]


def _columns(state: History, count: int) -> tuple[tuple[Phrase, ...], ...]:
    """Prefixes of each document; just after ``begin`` there is one, the empty phrase."""
    if state.prefixes == ((),) * len(state.documents):
        return (((),) * count,) * len(state.documents)
    return state.prefixes


def random_distribution(slots: Sequence[int], seed: int, sharpness: float = 2.0) -> Distribution:
    """Random log-probabilities that depend on the whole history, and on nothing else."""

    @cache
    def distribution(document: int, said: Said, prefix: Phrase) -> Row:
        dice = random.Random(repr((seed, slots[document], said, prefix)))
        logits = [dice.gauss(0, sharpness) for _ in range(slots[document])]
        mass = math.log(sum(map(math.exp, logits)))
        return tuple(logit - mass for logit in logits)

    return distribution
