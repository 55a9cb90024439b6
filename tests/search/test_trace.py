"""A trace tells what search saw, and does not change what it finds."""

from dataclasses import replace

from phraseloom.search.settings import Count
from phraseloom.search.trace import Trace
from tests.search.naive import all_phrases
from tests.search.test_beam import DIVERSE, EXTRACTIVE, TEXTS, count_slots, search


def test_tracing_changes_nothing() -> None:
    for settings in (DIVERSE, EXTRACTIVE):
        plain = search(TEXTS, settings, Count.by_model())
        trace = Trace(runners_up=3)

        assert search(TEXTS, settings, Count.by_model(), trace=trace) == plain
        for document, found in enumerate(plain):
            assert [traced.found for traced in trace.phrases[document]] == found


def test_runners_up_are_distinct_phrases_that_lost() -> None:
    trace = Trace(runners_up=3)
    settings = replace(EXTRACTIVE, width=10)
    search(TEXTS, settings, Count.by_model(), trace=trace)

    for document, slots in enumerate(count_slots(TEXTS)):
        possible = all_phrases(TEXTS[document], slots, settings)
        for traced in trace.phrases[document]:
            beam = [traced.found, *traced.runners_up]
            totals = [each.total for each in beam]
            assert 1 < len(beam) <= 4
            assert totals == sorted(totals, reverse=True)
            assert len({each.slots for each in beam}) == len(beam)
            assert {each.slots for each in beam} <= possible
            assert {each.number for each in beam} == {traced.found.number}


def test_parts_add_up_to_the_total() -> None:
    trace = Trace(runners_up=3)
    settings = replace(EXTRACTIVE, alpha=0.0, lambda1=0.7, lambda2=0.3)
    search(TEXTS, settings, Count.by_model(), trace=trace)

    for phrases in trace.phrases.values():
        for traced in phrases:
            for each in (traced.found, *traced.runners_up):
                parts = each.log_prob + 0.7 * each.dissimilarity - 0.3 * each.sibling_rank
                assert abs(parts - each.total) < 1e-9


def test_edge_weights_are_those_of_the_moment() -> None:
    """The test's decoder has one edge per phrase said, weighing the document's row in the batch."""
    trace = Trace(runners_up=0)
    search(TEXTS, replace(DIVERSE, max_phrases=3), Count.by_model(), trace=trace)

    for document, phrases in trace.phrases.items():
        weights = [traced.edge_weights.tolist() for traced in phrases]
        assert weights == [[float(document)] * said for said in range(3)]


def test_a_trace_goes_on_for_as_many_phrases_as_are_wanted_and_changes_no_list() -> None:
    settings = replace(EXTRACTIVE, order="expected", width=12)
    trace = Trace(runners_up=2)

    traced = search(TEXTS, settings, Count.exactly(6), trace=trace)

    assert traced == search(TEXTS, settings, Count.exactly(6))
    assert [len(trace.phrases[document]) for document in range(3)] == [6, 6, 6]
