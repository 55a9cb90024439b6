"""Lists of phrases for a batch of documents: the outer loop of the paper's Algorithm 1.

`find_phrases` looks for one phrase after the other; `beam.beam_search` finds each.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phraseloom.config import SearchConfig
from phraseloom.search.beam import Decoder, Hypothesis, S, Task, beam_search
from phraseloom.search.constraints import (
    Constraint,
    NgramTrie,
    Seed,
    SeedPenalty,
    Segments,
    Unconstrained,
)
from phraseloom.search.penalties import History
from phraseloom.search.ranking import new_list
from phraseloom.slots import Phrase


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
        limit: how many phrases; fewer come back only if a document has no more, and
            ``max_phrases`` does not matter. Without it, as many as the model says.
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
    lists = [new_list(config, limit) for _ in queries]
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
