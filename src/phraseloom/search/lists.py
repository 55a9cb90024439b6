"""From beams to a list: the winner of each beam, or all that finished, by how probable they are."""

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush
from itertools import islice, pairwise
from typing import Protocol

import torch

from phraseloom.search.found import Found
from phraseloom.search.penalties import dissimilarity
from phraseloom.search.settings import Count, Settings
from phraseloom.search.step import Phrase

UNLIKELY = 0.2
"""A list that goes on with less than this probability is followed no further."""


class PhraseList(Protocol):
    """The list of one document while it grows."""

    def add(self, beam: Sequence[Found]) -> None:
        """Take in the finished hypotheses of a beam, best first; there is at least one."""
        ...

    def wants_more(self) -> bool:
        """Whether another phrase should be looked for."""
        ...

    def finish(self) -> list[Found]:
        """The phrases, in order."""
        ...


def new_list(settings: Settings, count: Count) -> PhraseList:
    """An empty list of the kind that the settings ask for."""
    kind = ExpectedList if settings.order == "expected" else SaidList
    return kind(settings, count)


class SaidList:
    """The paper's list: the winner of each beam, until EOS wins; equation (S6)."""

    def __init__(self, settings: Settings, count: Count) -> None:
        self._settings = settings
        self._count = count
        self._said: list[Found] = []
        self._has_ended = False

    def add(self, beam: Sequence[Found]) -> None:
        """Say the best of the beam."""
        self._said.append(beam[0])
        self._has_ended |= beam[0].end_prob > self._settings.stop

    def wants_more(self) -> bool:
        """Whether EOS has not won yet, or more phrases were asked for."""
        settings, count, said = self._settings, self._count, len(self._said)
        if count.exact and said < (count.limit or 0):
            return True
        if not count.exact and settings.order == "decoding" and said == count.limit:
            return False  # what comes after would be cut off anyway
        return not self._has_ended and said < settings.max_phrases

    def finish(self) -> list[Found]:
        """As said, or by score."""
        found = self._said
        if self._count.exact or self._settings.order == "score":
            found = sorted(found, key=lambda each: -each.score)  # stable: equals stay as said
        return found[: self._count.limit]


class ExpectedList:
    r"""Our list: every phrase that finished in a beam, by the chance that a list has it.

    Equation (S8): :math:`E(y) = 1 - \prod_p (1 - \rho_p \exp \Theta(y \mid y^{<p}))`, where
    :math:`\rho_p`, the chance that the list is not at its end before phrase p, is the product of
    the shares of SEP at the ends of the phrases said. A phrase that comes second in three beams
    may so stand above one that won a beam late. A phrase that was said is in no later beam; had it
    not been, it might as well be said later, so it keeps the :math:`\Theta` with which it won.

    Phrases are then chosen one after the other by (S9), :math:`E(y)\, e^{-\lambda_1 (1 - DP)}`,
    with DP against those chosen before, until it is below the floor.
    """

    def __init__(self, settings: Settings, count: Count) -> None:
        self._settings = settings
        self._count = count
        self._going_on = 1.0  # rho
        self._said: list[Found] = []
        self._seen: dict[Phrase, Found] = {}
        self._doubts: dict[Phrase, float] = {}  # log of the product in (S8)

    def add(self, beam: Sequence[Found]) -> None:
        """Weigh all of the beam, and go on as if its best had been said."""
        for found in (*beam, *self._said):
            chance = min(self._going_on * found.score, 1 - sys.float_info.epsilon)
            self._seen.setdefault(found.slots, found)
            doubt = self._doubts.get(found.slots, 0.0)
            self._doubts[found.slots] = doubt + math.log1p(-chance)
        self._going_on *= 1 - beam[0].end_prob
        self._said.append(beam[0])

    def wants_more(self) -> bool:
        """Whether the list probably goes on, or more phrases were asked for."""
        if self._count.exact and len(self._seen) < (self._count.limit or 0):
            return True
        return self._going_on > UNLIKELY and len(self._said) < self._settings.max_phrases

    def finish(self) -> list[Found]:
        """By what they are worth beside those before them, which becomes their score."""
        if self._count.exact:
            return list(islice(self._choose(), self._count.limit))
        chosen = list(islice(self._choose(), self._settings.max_phrases))
        listed = [each for each in chosen[1:] if each.score >= self._settings.floor]
        return [*chosen[:1], *listed][: self._count.limit]

    def _choose(self) -> Iterator[Found]:
        """All phrases, the one that is worth most first; (S9).

        What a phrase is worth only falls as others are chosen. So if, weighed anew, it is still
        ahead of what the next one was worth before, no other has to be weighed.
        """
        grams = _Grams()
        chances = {phrase: -math.expm1(doubt) for phrase, doubt in self._doubts.items()}
        waiting = [(-chance, i, phrase) for i, (phrase, chance) in enumerate(chances.items())]
        heapify(waiting)
        while waiting:
            _, place, phrase = heappop(waiting)
            alike = 1 - grams.dissimilarity(phrase) if self._settings.lambda1 else 0.0
            worth = chances[phrase] * math.exp(-self._settings.lambda1 * alike)
            if waiting and (-worth, place) > waiting[0][:2]:
                heappush(waiting, (-worth, place, phrase))
                continue
            grams.add(phrase)
            yield replace(self._seen[phrase], score=max(worth, sys.float_info.min))


class _Grams:
    """Words and pairs of neighbours in the phrases chosen so far."""

    def __init__(self) -> None:
        self._words: set[int] = set()
        self._pairs: set[tuple[int, int]] = set()

    def add(self, phrase: Phrase) -> None:
        self._words.update(phrase)
        self._pairs.update(pairwise(phrase))

    def dissimilarity(self, phrase: Phrase) -> float:
        """DP, equation (S2)."""
        words = sum(word in self._words for word in phrase)
        pairs = sum(pair in self._pairs for pair in pairwise(phrase))
        return float(dissimilarity(*torch.tensor([words, pairs, len(phrase)])))
