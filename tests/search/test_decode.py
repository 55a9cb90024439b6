"""What must hold of lists of phrases, whatever decoder stands behind them."""

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from phraseloom.config import SearchConfig
from phraseloom.search.beam import Hypothesis
from phraseloom.search.constraints import Seed
from phraseloom.search.decode import Query, Trace, find_phrases
from phraseloom.slots import Phrase
from tests.search.decoders import TableDecoder, random_distribution
from tests.search.naive import NaiveHypothesis, NaiveSearch, all_phrases
from tests.search.samples import (
    DIVERSE,
    EXTRACTIVE,
    TEXTS,
    batches,
    change,
    configs,
    count_slots,
    limits,
    phrases_of,
    scores_of,
    search,
    seeds,
    segment_lists,
)

Documents = list[list[list[int]]]
words = st.lists(st.integers(2, 6), min_size=1, max_size=3).map(tuple)
seed_phrases = st.builds(
    lambda slots, absent: Seed(slots, len(slots) + absent),
    st.frozensets(st.integers(2, 6), min_size=1, max_size=3),
    st.integers(0, 2),
)


def assert_equal(hypotheses: list[Hypothesis], expected: list[NaiveHypothesis]) -> None:
    assert phrases_of(hypotheses) == [hypothesis.slots for hypothesis in expected]
    for mine, its in zip(hypotheses, expected, strict=True):
        assert mine.total == pytest.approx(its.total, abs=1e-5)
        assert mine.log_prob == pytest.approx(its.log_prob, abs=1e-5)
        assert mine.score == pytest.approx(its.score, abs=1e-5)
        assert mine.dissimilarity == pytest.approx(its.dissimilarity, abs=1e-5)
        assert mine.end_prob == pytest.approx(its.end_prob, abs=1e-5)
        assert mine.sibling_rank == its.sibling_rank


@given(batches, configs, limits, seeds)
@hypothesis_settings(max_examples=100)
def test_equals_the_search_that_takes_one_hypothesis_at_a_time(
    documents: Documents, config: SearchConfig, limit: int | None, seed: int
) -> None:
    slots = count_slots(documents)
    lists = search(documents, config, limit, seed=seed)

    for document, hypotheses in enumerate(lists):
        possible = all_phrases(documents[document], slots[document], config)
        naive = NaiveSearch(random_distribution(slots, seed), document, possible, config)
        assert_equal(hypotheses, naive.find(limit))


@given(
    segment_lists,
    configs,
    limits,
    st.integers(1, 3),
    st.frozensets(words, max_size=6),
    st.lists(seed_phrases, max_size=2),
    seeds,
)
@hypothesis_settings(max_examples=100)
def test_a_query_with_everything_in_it_equals_the_naive_search(
    segments: list[list[int]],
    config: SearchConfig,
    limit: int | None,
    min_words: int,
    excluded: frozenset[Phrase],
    steer: list[Seed],
    seed: int,
) -> None:
    config = change(config, max_words=max(config.max_words, min_words))
    steer = [] if config.mode == "free" else steer
    distribution = random_distribution([7], seed)
    query = Query(segments, excluded, steer)

    [hypotheses] = find_phrases(
        TableDecoder([7], distribution), [query], config, limit=limit, min_words=min_words
    )

    possible = all_phrases(segments, 7, config, min_words=min_words) - excluded
    assert_equal(hypotheses, NaiveSearch(distribution, 0, possible, config, steer).find(limit))


@given(
    st.lists(st.lists(words, max_size=5), min_size=1, max_size=3),
    configs,
    st.integers(1, 2),
    seeds,
)
@hypothesis_settings(max_examples=50)
def test_only_candidates_are_chosen_from_and_in_one_way(
    documents: list[list[Phrase]], config: SearchConfig, min_words: int, seed: int
) -> None:
    slots = [7] * len(documents)
    distribution = random_distribution(slots, seed)
    queries = [Query(candidates) for candidates in documents]

    lists = find_phrases(
        TableDecoder(slots, distribution),
        queries,
        config,
        limit=9,
        only_candidates=True,
        min_words=min_words,
    )

    for document, hypotheses in enumerate(lists):
        fits = range(min_words, config.max_words + 1)
        possible = {phrase for phrase in documents[document] if len(phrase) in fits}
        assert set(phrases_of(hypotheses)) == possible
        assert_equal(hypotheses, NaiveSearch(distribution, document, possible, config).find(9))


def test_chances_equal_the_naive_ones_over_several_beams() -> None:
    config = change(EXTRACTIVE, order="expected", beam_width=6, lambda1=0.3)
    slots = count_slots(TEXTS)
    most = 0
    for seed in range(20):
        for document, hypotheses in enumerate(search(TEXTS, config, seed=seed)):
            possible = all_phrases(TEXTS[document], slots[document], config)
            naive = NaiveSearch(random_distribution(slots, seed), document, possible, config)
            assert_equal(hypotheses, naive.find(None))
            most = max(most, len(naive.history))
    assert most > 2, "or nothing was decoded before the last beam"


@given(batches, configs, limits, seeds)
@hypothesis_settings(max_examples=40)
def test_a_document_alone_gives_bit_for_bit_what_it_gives_in_a_batch(
    documents: Documents, config: SearchConfig, limit: int | None, seed: int
) -> None:
    together = search(documents, config, limit, seed=seed)

    alone = [search([segments], config, limit, seed=seed)[0] for segments in documents]
    assert together == alone


@given(batches, configs, st.integers(1, 20), seeds)
@hypothesis_settings(max_examples=25)
def test_a_limit_is_missed_only_when_there_are_no_more_phrases(
    documents: Documents, config: SearchConfig, limit: int, seed: int
) -> None:
    slots = count_slots(documents)

    for document, hypotheses in enumerate(search(documents, config, limit, seed=seed)):
        possible = all_phrases(documents[document], slots[document], config)
        phrases, scores = phrases_of(hypotheses), scores_of(hypotheses)
        assert len(set(phrases)) == len(phrases) == min(limit, len(possible))
        assert set(phrases) <= possible
        assert scores == sorted(scores, reverse=True)
        assert all(0 < score <= 1 for score in scores)


def test_a_limit_goes_on_where_the_model_would_stop() -> None:
    config = change(EXTRACTIVE, eos_threshold=0.001)

    assert [len(hypotheses) for hypotheses in search(TEXTS, config)] == [1, 1, 1]
    assert [len(hypotheses) for hypotheses in search(TEXTS, config, 6)] == [6, 6, 6]


def test_fewer_are_the_first_of_more_while_the_beams_have_enough() -> None:
    config = change(EXTRACTIVE, order="expected", beam_width=12)
    more = search(TEXTS, config, 5)

    for limit in range(1, 5):
        assert search(TEXTS, config, limit) == [hypotheses[:limit] for hypotheses in more]


def test_documents_without_words_have_no_phrases() -> None:
    for config in (DIVERSE, EXTRACTIVE):
        lists = search([[], [[2, 3]], [[]]], config, 2)
        assert [len(hypotheses) for hypotheses in lists] == [0, 2, 0]


def test_every_phrase_of_a_text_is_found_in_the_end_however_narrow_the_beam() -> None:
    for config in (DIVERSE, EXTRACTIVE):
        narrow = change(config, beam_width=1, max_words=2)
        for document, slots in enumerate(count_slots(TEXTS)):
            [hypotheses] = search([TEXTS[document]], narrow, 1000)
            assert set(phrases_of(hypotheses)) == all_phrases(TEXTS[document], slots, narrow)


def test_tracing_changes_nothing() -> None:
    for config in (DIVERSE, EXTRACTIVE):
        plain = search(TEXTS, config)
        trace = Trace(runners_up=3)

        assert search(TEXTS, config, trace=trace) == plain
        for document, hypotheses in enumerate(plain):
            assert [traced.winner for traced in trace.phrases[document]] == hypotheses


def test_runners_up_are_distinct_phrases_that_lost() -> None:
    trace = Trace(runners_up=3)
    config = change(EXTRACTIVE, beam_width=10)
    search(TEXTS, config, trace=trace)

    for document, slots in enumerate(count_slots(TEXTS)):
        possible = all_phrases(TEXTS[document], slots, config)
        for number, traced in enumerate(trace.phrases[document], start=1):
            beam = [traced.winner, *traced.runners_up]
            totals = [hypothesis.total for hypothesis in beam]
            assert 1 < len(beam) <= 4
            assert totals == sorted(totals, reverse=True)
            assert len(set(phrases_of(beam))) == len(beam)
            assert set(phrases_of(beam)) <= possible
            assert {hypothesis.number for hypothesis in beam} == {number}


def test_the_terms_of_a_traced_phrase_add_up_to_its_total() -> None:
    trace = Trace(runners_up=3)
    search(TEXTS, change(EXTRACTIVE, alpha=0.0, lambda1=0.7, lambda2=0.3), trace=trace)

    hypotheses = [
        hypothesis
        for phrases in trace.phrases.values()
        for traced in phrases
        for hypothesis in (traced.winner, *traced.runners_up)
    ]
    assert len(hypotheses) > len(TEXTS)
    for hypothesis in hypotheses:
        terms = hypothesis.log_prob + 0.7 * hypothesis.dissimilarity - 0.3 * hypothesis.sibling_rank
        assert terms == pytest.approx(hypothesis.total, abs=1e-9)


def test_edge_weights_are_those_of_the_moment() -> None:
    """The table's edges are one for each earlier phrase, weighing the document's row."""
    trace = Trace(runners_up=0)
    search(TEXTS, change(DIVERSE, max_phrases=3), trace=trace)

    for document, phrases in trace.phrases.items():
        weights = [traced.edge_weights.tolist() for traced in phrases]
        assert weights == [[float(document)] * earlier for earlier in range(3)]


def test_a_trace_goes_on_for_as_many_phrases_as_are_wanted_and_changes_no_list() -> None:
    config = change(EXTRACTIVE, order="expected", beam_width=12)
    trace = Trace(runners_up=2)

    traced = search(TEXTS, config, 6, trace=trace)

    assert traced == search(TEXTS, config, 6)
    assert [len(trace.phrases[document]) for document in range(3)] == [6, 6, 6]
