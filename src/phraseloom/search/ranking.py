"""From beams to a list: the winner of each beam, or all that finished, by how probable they are."""

import math
import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import islice, pairwise
from typing import Protocol, TypeVar

from phraseloom.config import SearchConfig
from phraseloom.search.beam import Hypothesis
from phraseloom.search.penalties import dissimilarity
from phraseloom.slots import Phrase

UNLIKELY = 0.2
"""A list that goes on with less than this probability is followed no further."""


class PhraseList(Protocol):
    """The list of one document while it grows."""

    def add(self, finished: Sequence[Hypothesis]) -> None:
        """Take in the finished hypotheses of a beam, best first; there is at least one."""
        ...

    def wants_more(self) -> bool:
        """Whether another phrase should be looked for."""
        ...

    def finish(self) -> list[Hypothesis]:
        """The phrases, in order."""
        ...

    def finish_all(self) -> list[Hypothesis]:
        """Every phrase that was seen, for a ranking to choose from."""
        ...


def new_list(config: SearchConfig, limit: int | None) -> PhraseList:
    """An empty list of the kind that the configuration asks for; `find_phrases` has ``limit``."""
    kind = ExpectedList if config.order == "expected" else DecodedList
    return kind(config, limit)


class DecodedList:
    r"""The paper's list: the winner of each beam, until EOS wins.

    Equation (S6): the list ends when :math:`P(EOS) / (P(EOS) + P(SEP)) > \tau`.
    """

    def __init__(self, config: SearchConfig, limit: int | None) -> None:
        self._config = config
        self._limit = limit
        self._winners: list[Hypothesis] = []
        self._has_ended = False

    def add(self, finished: Sequence[Hypothesis]) -> None:
        """Take the best of the beam."""
        self._winners.append(finished[0])
        self._has_ended |= finished[0].end_prob > self._config.eos_threshold

    def wants_more(self) -> bool:
        """Whether EOS has not won yet, or more phrases were asked for."""
        if self._limit is not None and len(self._winners) < self._limit:
            return True
        return not self._has_ended and len(self._winners) < self._config.max_phrases

    def finish(self) -> list[Hypothesis]:
        """As decoded, or by score."""
        if self._limit is None and self._config.order == "decoding":
            return self._winners
        ranked = sorted(self._winners, key=lambda winner: -winner.score)  # equals stay as decoded
        return ranked[: self._limit]

    def finish_all(self) -> list[Hypothesis]:
        """The winners."""
        return self._winners


class ExpectedList:
    r"""Our list: every phrase that finished in a beam, by the chance that a list has it.

    Equation (S8): :math:`E(y) = 1 - \prod_p (1 - \rho_p \exp \Theta(y \mid y^{<p}))`, where
    :math:`\rho_p`, the chance that the list is not at its end before phrase p, is the product of
    the shares of SEP at the ends of the winners before. A phrase that comes second in three beams
    may so stand above one that won a beam late. A winner is in no later beam; had it not won, it
    might as well have come later, so it keeps the :math:`\Theta` with which it won.

    Phrases are then chosen by `diversify`, until what they are worth is below ``min_score``.
    """

    def __init__(self, config: SearchConfig, limit: int | None) -> None:
        self._config = config
        self._limit = limit
        self._not_ended = 1.0  # rho
        self._winners: list[Hypothesis] = []
        self._first_seen: dict[Phrase, Hypothesis] = {}
        self._log_doubts: dict[Phrase, float] = {}  # log of the product in (S8)

    def add(self, finished: Sequence[Hypothesis]) -> None:
        """Weigh all of the beam, and go on as if its best had been written."""
        for hypothesis in (*finished, *self._winners):
            chance = min(self._not_ended * hypothesis.score, 1 - sys.float_info.epsilon)
            phrase = hypothesis.slots
            self._first_seen.setdefault(phrase, hypothesis)
            self._log_doubts[phrase] = self._log_doubts.get(phrase, 0.0) + math.log1p(-chance)
        self._not_ended *= 1 - finished[0].end_prob
        self._winners.append(finished[0])

    def wants_more(self) -> bool:
        """Whether the list probably goes on, or more phrases were asked for."""
        if self._limit is not None and len(self._first_seen) < self._limit:
            return True
        return self._not_ended > UNLIKELY and len(self._winners) < self._config.max_phrases

    def finish(self) -> list[Hypothesis]:
        """By what they are worth beside those before them, which becomes their score."""
        if self._limit is not None:
            return list(islice(self._choose(), self._limit))
        chosen = list(islice(self._choose(), self._config.max_phrases))
        above = [phrase for phrase in chosen[1:] if phrase.score >= self._config.min_score]
        return [*chosen[:1], *above]

    def finish_all(self) -> list[Hypothesis]:
        """All that finished in any beam, with the chance (S8) as their score."""
        return [
            self._first_seen[phrase]._replace(score=chance)
            for phrase, chance in self._chances().items()
        ]

    def _choose(self) -> Iterator[Hypothesis]:
        for phrase, worth in diversify(self._chances(), self._config.lambda1):
            yield self._first_seen[phrase]._replace(score=worth)

    def _chances(self) -> dict[Phrase, float]:
        doubts = self._log_doubts.items()
        return {phrase: max(-math.expm1(doubt), sys.float_info.min) for phrase, doubt in doubts}


Words = TypeVar("Words", bound=tuple[Hashable, ...])


def diversify(chances: Mapping[Words, float], lambda1: float) -> Iterator[tuple[Words, float]]:
    r"""Phrases one after the other by what they are worth beside those before.

    Equation (S9): :math:`E(y)\, e^{-\lambda_1 (1 - DP)}`, with DP to those chosen before. What a
    phrase is worth only falls as others are chosen. So if, weighed anew, it is still ahead of what
    the next one was worth before, no other has to be weighed.

    Args:
        chances: E of each phrase, given by its words as slots or as stems.
        lambda1: weight of what a phrase has in common with others.

    Yields:
        Each phrase with its worth, the best first; of equals the first.
    """
    chosen = _ChosenGrams()
    waiting = [(-chance, i, phrase) for i, (phrase, chance) in enumerate(chances.items())]
    heapify(waiting)
    while waiting:
        _, i, phrase = heappop(waiting)
        similarity = 1 - chosen.dissimilarity(phrase)
        worth = chances[phrase] * math.exp(-lambda1 * similarity)
        if waiting and (-worth, i) > waiting[0][:2]:
            heappush(waiting, (-worth, i, phrase))
            continue
        chosen.add(phrase)
        yield phrase, max(worth, sys.float_info.min)


class _ChosenGrams:
    """Words and pairs of neighbours in the phrases chosen so far."""

    def __init__(self) -> None:
        self._words: set[Hashable] = set()
        self._pairs: set[tuple[Hashable, Hashable]] = set()

    def add(self, phrase: tuple[Hashable, ...]) -> None:
        self._words.update(phrase)
        self._pairs.update(pairwise(phrase))

    def dissimilarity(self, phrase: tuple[Hashable, ...]) -> float:
        shared_words = sum(word in self._words for word in phrase)
        shared_pairs = sum(pair in self._pairs for pair in pairwise(phrase))
        return dissimilarity(float(shared_words), float(shared_pairs), len(phrase))
