"""Lists of phrases for a batch of documents: the outer loop of the paper's Algorithm 1.

`find_phrases` looks for one phrase after the other; `beam.beam_search` finds each. A list is the
winner of each beam, or all that finished, by how probable they are.
"""

import math
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import islice, pairwise
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from phraseloom.config import SearchConfig
from phraseloom.search.beam import Decoder, Hypothesis, S, Task, beam_search
from phraseloom.search.constraints import (
    Constraint,
    History,
    NgramTrie,
    Seed,
    SeedPenalty,
    Segments,
    Unconstrained,
    dissimilarity,
)
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


@dataclass(frozen=True)
class Query:
    """What is asked of one document.

    Attributes:
        segments: runs of slots that a phrase may not cross, not looked at in mode ``free``; the
            phrases to choose from if only candidates are wanted.
        excluded: phrases that are never found.
        seeds: phrases that draw the search, see `SeedPenalty`; not for mode ``free``.
    """

    segments: Segments
    excluded: frozenset[Phrase] = frozenset()
    seeds: Sequence[Seed] = ()


@dataclass(frozen=True)
class TracedPhrase:
    """One phrase of one document at the moment it was chosen.

    Attributes:
        winner: the hypothesis that was chosen.
        runners_up: the other finished hypotheses of its beam, best first.
        edge_weights: weight of every edge of the document's graph while it was decoded, (E,).
    """

    winner: Hypothesis
    runners_up: tuple[Hypothesis, ...]
    edge_weights: NDArray[Any]


@dataclass
class Trace:
    """Pass one to `find_phrases` to have it filled in.

    A traced search finds the same phrases but takes longer: it follows hypotheses to their end.

    Attributes:
        runners_up: how many to keep per phrase, at most.
        phrases: of each document number, the phrases in the order in which they were decoded.
    """

    runners_up: int
    phrases: dict[int, list[TracedPhrase]] = field(default_factory=dict)

    def add(self, document: int, finished: list[Hypothesis], edge_weights: NDArray[Any]) -> None:
        """Note the finished hypotheses of one beam, best first."""
        winner, *others = finished[: 1 + self.runners_up]
        self.phrases.setdefault(document, []).append(
            TracedPhrase(winner, tuple(others), edge_weights)
        )


def find_phrases(
    decoder: Decoder[S],
    queries: Sequence[Query],
    config: SearchConfig,
    *,
    limit: int | None = None,
    only_candidates: bool = False,
    min_words: int = 1,
    keep_all: bool = False,
    trace: Trace | None = None,
    is_wanted: Callable[[int], bool] = lambda document: True,
) -> list[list[Hypothesis]]:
    """Find the phrases of each document of a batch.

    The documents decode together; one whose list is done leaves the batch. What is found of a
    document does not depend on the others.

    Args:
        decoder: a decoder over the documents.
        queries: what is asked of each document.
        config: how to search.
        limit: how many phrases, whatever ``max_phrases`` is; fewer if a document has no more.
            Without it, all candidates of each document, or as many as the model says.
        only_candidates: whether each segment, as a whole, is a phrase, and nothing else is; then
            the mode is not looked at. Candidates of more than ``max_words`` are left out.
        min_words: of a phrase.
        keep_all: return all that finished, by their chance alone, for a ranking to choose from.
        trace: filled with what was seen on the way; it goes on for as many phrases as are wanted,
            even if the list is known before.
        is_wanted: asked before each phrase; a document that nobody wants any more is given up.

    Returns:
        Phrases of each document: by score if there is a limit, else in the configured order.
    """
    task = _prepare(decoder.slots, queries, config, only_candidates, min_words)
    lists = [new_list(config, _limit_of(query, limit, only_candidates)) for query in queries]
    keep = _count_kept(config, trace)
    history, constraint = task.history, task.constraint
    active = [document for document in range(len(queries)) if constraint.phrases_left(document)]
    while active := [document for document in active if is_wanted(document)]:
        state = decoder.begin(active, [history.phrases[document] for document in active])
        edge_weights = [] if trace is None else decoder.edge_weights(state)
        beams = beam_search(decoder, state, task, np.array(active), keep)
        unfinished = []
        for row, (document, finished) in enumerate(zip(active, beams, strict=True)):
            if not finished:
                continue
            if lists[document].wants_more():
                lists[document].add(finished)
            history.add(document, finished[0].slots)
            constraint.close(document, finished[0].slots)
            if trace is not None:
                trace.add(document, finished, edge_weights[row])
            is_shown = trace is not None and len(history.phrases[document]) < (limit or 0)
            if constraint.phrases_left(document) and (is_shown or lists[document].wants_more()):
                unfinished.append(document)
        active = unfinished
    if keep_all:
        return [phrase_list.finish_all() for phrase_list in lists]
    return [phrase_list.finish() for phrase_list in lists]


def _limit_of(query: Query, limit: int | None, only_candidates: bool) -> int | None:
    return len(query.segments) if only_candidates and limit is None else limit


def _prepare(
    slots: Sequence[int],
    queries: Sequence[Query],
    config: SearchConfig,
    only_candidates: bool,
    min_words: int,
) -> Task:
    assert len(queries) == len(slots), "one query per document"
    assert min_words >= 1, "a phrase has a word"
    has_seeds = any(query.seeds for query in queries)
    constraint: Constraint
    seed_penalty = None
    if config.mode == "free" and not only_candidates:
        assert not has_seeds, "seeds are for what stands in the text"
        constraint = Unconstrained(slots, min_words, config.max_words)
        _exclude(constraint, queries)
    else:
        segments = [query.segments for query in queries]
        constraint = NgramTrie(segments, min_words, config.max_words, only_segments=only_candidates)
        _exclude(constraint, queries)
        if has_seeds:  # after what is excluded: that promises nothing
            seed_penalty = SeedPenalty(constraint, [query.seeds for query in queries])
    return Task(config, constraint, seed_penalty, History(slots))


def _exclude(constraint: Constraint, queries: Sequence[Query]) -> None:
    for document, query in enumerate(queries):
        for phrase in query.excluded:
            constraint.close(document, phrase)


def _count_kept(config: SearchConfig, trace: Trace | None) -> int:
    """How many finished hypotheses of a beam are looked at; all of them, if all of them count."""
    if config.order == "expected":
        return config.beam_width * (config.max_words + 1)
    return 1 if trace is None else 1 + trace.runners_up
