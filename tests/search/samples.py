"""Documents, searches and strategies that several tests of the search share."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from phraseloom.config import SearchConfig
from phraseloom.search.beam import Hypothesis
from phraseloom.search.decode import Query, Trace, find_phrases
from phraseloom.slots import FIRST_WORD, Phrase
from tests.search.decoders import TableDecoder, random_distribution

PLAIN = SearchConfig(
    mode="free",
    beam_width=4,
    max_words=3,
    max_phrases=4,
    alpha=0.0,
    lambda1=0.0,
    lambda2=0.0,
    order="decoding",
    eos_threshold=1.0,
    min_score=0.0,
)


def change(config: SearchConfig, **changes: Any) -> SearchConfig:
    """The same search, with some settings changed."""
    return config.model_copy(update=changes)


DIVERSE = change(PLAIN, alpha=1.0, lambda1=1.0, lambda2=0.1)
EXTRACTIVE = change(DIVERSE, mode="extractive")
TEXTS = [
    [[2, 3, 4, 5], [3, 4], [6, 2, 3]],
    [[2, 3, 2, 3, 2]],
    [[2], [3], [4, 2, 5, 6, 7, 8]],
]
"""Three documents as segments of slots; the second is poor in words."""

weights = st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0])
configs = st.builds(
    SearchConfig,
    mode=st.sampled_from(["free", "extractive"]),
    beam_width=st.integers(1, 12),
    max_words=st.integers(1, 3),
    max_phrases=st.integers(1, 5),
    alpha=weights,
    lambda1=weights,
    lambda2=weights,
    order=st.sampled_from(["decoding", "score", "expected"]),
    eos_threshold=st.sampled_from([0.3, 0.5, 0.9, 1.0]),
    min_score=st.sampled_from([0.0, 0.01, 0.1, 0.5]),
)
limits = st.one_of(st.none(), st.integers(1, 9))
segment_lists = st.lists(st.lists(st.integers(2, 6), max_size=5), max_size=4)
batches = st.lists(segment_lists, min_size=1, max_size=3)
seeds = st.integers(0, 10**6)


def count_slots(documents: Sequence[Sequence[Sequence[int]]]) -> list[int]:
    """Slots of each document: those that it has in its segments, and all below them."""
    return [
        max((slot for segment in segments for slot in segment), default=FIRST_WORD - 1) + 1
        for segments in documents
    ]


def search(
    documents: Sequence[Sequence[Sequence[int]]],
    config: SearchConfig,
    limit: int | None = None,
    *,
    seed: int = 0,
    trace: Trace | None = None,
) -> list[list[Hypothesis]]:
    """Search documents, known by their segments, with a random decoder."""
    slots = count_slots(documents)
    decoder = TableDecoder(slots, random_distribution(slots, seed))
    queries = [Query(segments) for segments in documents]
    return find_phrases(decoder, queries, config, limit=limit, trace=trace)


def phrases_of(hypotheses: Sequence[Hypothesis]) -> list[Phrase]:
    return [hypothesis.slots for hypothesis in hypotheses]


def scores_of(hypotheses: Sequence[Hypothesis]) -> list[float]:
    return [hypothesis.score for hypothesis in hypotheses]
