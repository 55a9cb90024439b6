"""What must hold of search, whatever decoder stands behind it."""

import math
from collections.abc import Sequence
from dataclasses import asdict, replace

import pytest
import torch
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from phraseloom.search.beam import find_phrases
from phraseloom.search.found import Found
from phraseloom.search.lists import ExpectedList
from phraseloom.search.settings import Count, Settings
from phraseloom.search.step import FIRST_WORD, SEP, Phrase
from phraseloom.search.trace import Trace
from tests.search.decoders import Decoder, Row, Said, random_distribution
from tests.search.naive import NaiveSearch, all_phrases

PLAIN = Settings(
    mode="free",
    width=4,
    max_words=3,
    max_phrases=4,
    alpha=0.0,
    lambda1=0.0,
    lambda2=0.0,
    order="decoding",
    stop=1.0,
    floor=0.0,
)
DIVERSE = replace(PLAIN, alpha=1.0, lambda1=1.0, lambda2=0.1)
EXTRACTIVE = replace(DIVERSE, mode="extractive")
TEXTS = [
    [[2, 3, 4, 5], [3, 4], [6, 2, 3]],
    [[2, 3, 2, 3, 2]],
    [[2], [3], [4, 2, 5, 6, 7, 8]],
]
"""Three documents as segments of slots; the second is poor in words."""

weights = st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0])
all_settings = st.builds(
    Settings,
    mode=st.sampled_from(["free", "extractive"]),
    width=st.integers(1, 12),
    max_words=st.integers(1, 3),
    max_phrases=st.integers(1, 5),
    alpha=weights,
    lambda1=weights,
    lambda2=weights,
    order=st.sampled_from(["decoding", "score", "expected"]),
    stop=st.sampled_from([0.3, 0.5, 0.9, 1.0]),
    floor=st.sampled_from([0.0, 0.01, 0.1, 0.5]),
)
counts = st.one_of(
    st.just(Count.by_model()),
    st.builds(Count.at_most, st.integers(1, 6)),
    st.builds(Count.exactly, st.integers(1, 9)),
)
segments = st.lists(st.lists(st.integers(2, 6), max_size=5), max_size=4)
batches = st.lists(segments, min_size=1, max_size=3)


def count_slots(documents: Sequence[Sequence[Sequence[int]]]) -> list[int]:
    """Slots of each document: those it has in its segments, and all below them."""
    return [
        max((slot for segment in segments for slot in segment), default=FIRST_WORD - 1) + 1
        for segments in documents
    ]


def search(
    documents: Sequence[Sequence[Sequence[int]]],
    settings: Settings,
    count: Count,
    *,
    seed: int = 0,
    trace: Trace | None = None,
) -> list[list[Found]]:
    slots = count_slots(documents)
    decoder = Decoder(slots, random_distribution(slots, seed))
    return find_phrases(decoder, documents, settings, count, trace=trace)


def phrases(found: Sequence[Found]) -> list[Phrase]:
    return [each.slots for each in found]


def numbers(found: Found) -> dict[str, float]:
    return {name: value for name, value in asdict(found).items() if name != "slots"}


@given(batches, all_settings, counts, st.integers(0, 10**6))
@hypothesis_settings(max_examples=100)
def test_equals_the_search_that_takes_one_hypothesis_at_a_time(
    documents: list[list[list[int]]], settings: Settings, count: Count, seed: int
) -> None:
    slots = count_slots(documents)
    results = search(documents, settings, count, seed=seed)

    for document, found in enumerate(results):
        candidates = all_phrases(documents[document], slots[document], settings)
        naive = NaiveSearch(random_distribution(slots, seed), document, candidates, settings)
        expected = naive.find(count)
        assert phrases(found) == [each.slots for each in expected]
        for mine, its in zip(found, expected, strict=True):
            assert mine.total == pytest.approx(its.total, abs=1e-5)
            assert mine.log_prob == pytest.approx(its.log_prob, abs=1e-5)
            assert mine.score == pytest.approx(its.score, abs=1e-5)
            assert mine.dissimilarity == pytest.approx(its.dissimilarity, abs=1e-5)
            assert mine.end_prob == pytest.approx(its.end_prob, abs=1e-5)
            assert mine.sibling_rank == its.rank


def test_chances_equal_the_naive_ones_over_several_beams() -> None:
    settings = replace(EXTRACTIVE, order="expected", width=6, lambda1=0.3)
    slots = count_slots(TEXTS)
    steps = 0
    for seed in range(20):
        results = search(TEXTS, settings, Count.by_model(), seed=seed)
        for document, found in enumerate(results):
            candidates = all_phrases(TEXTS[document], slots[document], settings)
            naive = NaiveSearch(random_distribution(slots, seed), document, candidates, settings)
            expected = naive.find(Count.by_model())
            assert phrases(found) == [each.slots for each in expected]
            scores = [each.score for each in expected]
            assert [each.score for each in found] == pytest.approx(scores, abs=1e-6)
            steps = max(steps, len(naive.said))
    assert steps > 2, "or nothing was said before the last beam"


@given(batches, all_settings, counts, st.integers(0, 10**6))
@hypothesis_settings(max_examples=40)
def test_a_document_does_not_notice_the_rest_of_its_batch(
    documents: list[list[list[int]]], settings: Settings, count: Count, seed: int
) -> None:
    together = search(documents, settings, count, seed=seed)

    # the random decoder knows a document by its number of slots, not by its place in the batch
    alone = [search([segments], settings, count, seed=seed)[0] for segments in documents]
    for mine, its in zip(together, alone, strict=True):
        assert phrases(mine) == phrases(its)
        for one, other in zip(mine, its, strict=True):
            # vectorised arithmetic may differ in the last bit from that of a shorter row
            assert numbers(one) == pytest.approx(numbers(other), rel=1e-9)


@given(batches, all_settings, st.integers(1, 20), st.integers(0, 10**6))
@hypothesis_settings(max_examples=25)
def test_exactly_n_falls_short_only_when_there_are_no_more_phrases(
    documents: list[list[list[int]]], settings: Settings, wanted: int, seed: int
) -> None:
    slots = count_slots(documents)
    results = search(documents, settings, Count.exactly(wanted), seed=seed)

    for document, found in enumerate(results):
        available = all_phrases(documents[document], slots[document], settings)
        assert len(set(phrases(found))) == len(found) == min(wanted, len(available))
        assert set(phrases(found)) <= available
        scores = [each.score for each in found]
        assert scores == sorted(scores, reverse=True)
        assert all(0 < score <= 1 for score in scores)


@given(st.integers(0, 10**6))
@hypothesis_settings(max_examples=25)
def test_width_one_takes_the_best_continuation_each_time(seed: int) -> None:
    slots = count_slots(TEXTS)
    distribution = random_distribution(slots, seed)
    settings = replace(PLAIN, width=1, max_phrases=1)
    results = search(TEXTS, settings, Count.by_model(), seed=seed)

    for document, found in enumerate(results):
        phrase: Phrase = ()
        while len(phrase) < settings.max_words:
            row = torch.tensor(distribution(document, (), phrase)).exp()
            end = (row[0] + row[1]) if phrase else torch.tensor(0.0)
            if end > row[2:].max():
                break
            phrase = (*phrase, 2 + int(row[2:].argmax()))
        assert phrases(found) == [phrase]


def test_a_list_ends_after_the_phrase_whose_end_is_eos() -> None:
    never = search(TEXTS, replace(DIVERSE, max_phrases=8), Count.by_model())
    for found in never:
        shares = [each.end_prob for each in found]
        assert len(found) == 8
        assert max(shares) > 0.5

    for found, longer in zip(
        search(TEXTS, replace(DIVERSE, max_phrases=8, stop=0.5), Count.by_model()),
        never,
        strict=True,
    ):
        first = next(i for i, each in enumerate(longer) if each.end_prob > 0.5)
        assert found == longer[: first + 1]


def test_phrases_below_the_floor_are_left_out_but_for_the_best() -> None:
    expected = replace(EXTRACTIVE, order="expected", max_phrases=8)
    whole = search(TEXTS, expected, Count.by_model())
    for floor in (0.05, 0.1, 1.0):
        cut = search(TEXTS, replace(expected, floor=floor), Count.by_model())
        for found, longer in zip(cut, whole, strict=True):
            above = [each for each in longer if each.score >= floor]
            assert found == (above or longer[:1])
    many = search(TEXTS, replace(expected, floor=1.0), Count.exactly(5))
    assert [len(found) for found in many] == [5, 5, 5]


def test_a_phrase_that_is_second_twice_may_come_before_one_that_wins_once() -> None:
    """Phrase 3 is second in both beams, 2 wins the first and 4 the second."""
    rows = {0: (0.05, 0.05, 0.4, 0.35, 0.0), 1: (0.05, 0.05, 0.0, 0.35, 0.5)}

    def distribution(document: int, said: Said, prefix: Phrase) -> Row:
        row = (0.9, 0.1, 0.0, 0.0, 0.0) if prefix else rows[min(len(said), 1)]
        return tuple(math.log(max(each, 1e-9)) for each in row)

    settings = replace(PLAIN, max_words=1, max_phrases=2, order="expected")
    found = find_phrases(Decoder([5], distribution), [[]], settings, Count.exactly(3))[0]

    assert phrases(found) == [(2,), (3,), (4,)]
    chances = [1 - (1 - p) * (1 - 0.9 * p) for p in (0.4, 0.35)] + [0.9 * 0.5]
    assert [each.score for each in found] == pytest.approx(chances, abs=1e-4)


def test_diversity_lets_unlike_phrases_pass_those_that_say_the_same_again() -> None:
    chances = {(2, 3): 0.5, (3,): 0.4, (4,): 0.3}
    beam = [Found(1, y, 0.0, chance, 1.0, 0, 0.5, 0.0) for y, chance in chances.items()]

    def chosen(lambda1: float) -> dict[Phrase, float]:
        phrase_list = ExpectedList(replace(PLAIN, lambda1=lambda1), Count.by_model())
        phrase_list.add(beam)
        return {each.slots: each.score for each in phrase_list.finish()}

    assert chosen(0.0) == pytest.approx(chances)
    diverse = chosen(1.0)
    assert list(diverse) == [(2, 3), (4,), (3,)]
    assert diverse == pytest.approx({(2, 3): 0.5, (4,): 0.3, (3,): 0.4 * math.exp(-1)})


@pytest.mark.parametrize("order", ["decoding", "score", "expected"])
def test_at_most_n_is_the_model_s_list_cut(order: str) -> None:
    settings = replace(EXTRACTIVE, order=order, max_phrases=6)  # type: ignore[arg-type]
    whole = search(TEXTS, settings, Count.by_model())
    for limit in range(1, 8):
        assert search(TEXTS, settings, Count.at_most(limit)) == [f[:limit] for f in whole]


def test_fewer_are_the_first_of_more_while_the_beams_have_enough() -> None:
    settings = replace(EXTRACTIVE, order="expected", width=12)
    more = search(TEXTS, settings, Count.exactly(5))
    for limit in range(1, 5):
        assert search(TEXTS, settings, Count.exactly(limit)) == [f[:limit] for f in more]


def test_exactly_n_goes_on_where_the_model_would_stop() -> None:
    settings = replace(EXTRACTIVE, stop=0.001)

    assert [len(found) for found in search(TEXTS, settings, Count.by_model())] == [1, 1, 1]
    assert [len(found) for found in search(TEXTS, settings, Count.exactly(6))] == [6, 6, 6]


def test_numbers_follow_the_decoding_and_order_follows_the_setting() -> None:
    decoded = search(TEXTS, EXTRACTIVE, Count.by_model())
    ranked = search(TEXTS, replace(EXTRACTIVE, order="score"), Count.by_model())

    assert decoded != ranked
    for first, second in zip(decoded, ranked, strict=True):
        assert [each.number for each in first] == [1, 2, 3, 4]
        assert second == sorted(first, key=lambda each: -each.score)


def test_documents_without_words_have_no_phrases() -> None:
    for settings in (DIVERSE, EXTRACTIVE):
        found = search([[], [[2, 3]], [[]]], settings, Count.exactly(2))
        assert [len(each) for each in found] == [0, 2, 0]


def test_of_equals_the_lower_slot_comes_first() -> None:
    slots = [8]
    even = tuple([-2.0] * slots[0])
    decoder = Decoder(slots, lambda document, said, prefix: even)
    settings = replace(PLAIN, max_words=1, max_phrases=6, width=2)

    found = find_phrases(decoder, [[]], settings, Count.by_model())[0]

    assert phrases(found) == [(2,), (3,), (4,), (5,), (6,), (7,)]


def test_more_threads_find_the_same() -> None:
    threads = torch.get_num_threads()
    results = []
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            results.append(search(TEXTS, EXTRACTIVE, Count.exactly(6)))
    finally:
        torch.set_num_threads(threads)
    assert results[0] == results[1]


def test_a_document_stops_once_nothing_alive_can_win() -> None:
    sure, unsure = math.log(0.95), math.log(0.01)

    def say_one_word(document: int, said: Said, prefix: Phrase) -> Row:
        """Surely the next word not yet said, then surely the end."""
        likely = SEP if prefix else FIRST_WORD + len(said)
        return tuple(sure if slot == likely else unsure for slot in range(7))

    decoders = [Decoder([7], say_one_word) for _ in range(2)]
    settings = replace(DIVERSE, width=20, max_words=6)

    quick = find_phrases(decoders[0], [[]], settings, Count.by_model())
    traced = find_phrases(decoders[1], [[]], settings, Count.by_model(), trace=Trace(1))

    assert quick == traced
    assert phrases(quick[0]) == [(2,), (3,), (4,), (5,)]
    assert decoders[0].calls < 0.5 * decoders[1].calls
