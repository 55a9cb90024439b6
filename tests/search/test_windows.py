"""What must hold of the windows of a long document."""

import math
from collections import Counter
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phraseloom.search.windows import Window, merge_windows, split_windows


class Find(NamedTuple):
    stems: str
    score: float


def tokens(window: Window) -> list[tuple[int, int]]:
    return [(piece.sentence, i) for piece in window for i in range(piece.start, piece.end)]


documents = st.lists(st.integers(0, 30), max_size=25)
budgets = st.integers(1, 40)


@given(documents, budgets, st.integers(0, 2))
def test_every_token_is_in_one_window_and_only_the_title_in_all(
    lengths: list[int], budget: int, title: int
) -> None:
    windows = split_windows(lengths, budget, title=title)

    held = Counter(token for window in windows for token in tokens(window))
    assert sorted(held) == [(s, i) for s, length in enumerate(lengths) for i in range(length)]
    repeated = sum(lengths[:title]) * 2 <= budget
    for (sentence, _), times in held.items():
        assert times == (len(windows) if sentence < title and repeated else 1)


@given(documents, budgets, st.integers(0, 2))
def test_a_window_is_in_order_and_within_its_budget(
    lengths: list[int], budget: int, title: int
) -> None:
    for window in split_windows(lengths, budget, title=title):
        assert 0 < len(tokens(window)) <= budget
        assert tokens(window) == sorted(tokens(window))


@given(documents, budgets, st.integers(0, 2))
def test_a_sentence_that_fits_is_not_cut(lengths: list[int], budget: int, title: int) -> None:
    windows = split_windows(lengths, budget, title=title)

    head = sum(lengths[:title])
    room = budget - head if head * 2 <= budget else budget
    for piece in {piece for window in windows for piece in window}:
        if lengths[piece.sentence] <= room:
            assert (piece.start, piece.end) == (0, lengths[piece.sentence])


def test_a_short_document_is_one_window() -> None:
    assert len(split_windows([3, 5], 8, title=1)) == 1
    assert split_windows([], 8) == []
    assert split_windows([0, 0], 8) == []


def test_no_window_is_left_with_a_stub() -> None:
    sizes = [len(tokens(window)) for window in split_windows([10] * 11, 100)]

    assert sizes == [60, 50]


def test_a_book_takes_as_many_windows_as_it_has_room_for() -> None:
    windows = split_windows([20] * 5000, 600, title=1)

    assert 5000 * 20 / 580 <= len(windows) <= 1.1 * 5000 * 20 / 580


def test_a_window_needs_room() -> None:
    with pytest.raises(ValueError, match="at least one token"):
        split_windows([3], 0)


def test_windows_that_agree_count_as_witnesses() -> None:
    results = [[Find("graph", 0.6), Find("tree", 0.5)], [Find("tree", 0.4), Find("leaf", 0.3)]]

    merged = merge_windows(results, lambda find: find.stems, lambda find: find.score)

    assert [phrase.best for phrase in merged] == [results[0][1], results[0][0], results[1][1]]
    assert [phrase.score for phrase in merged] == pytest.approx([1 - 0.5 * 0.6, 0.6, 0.3])


@given(
    st.lists(
        st.lists(
            st.builds(Find, st.sampled_from("abcde"), st.floats(0, 1, exclude_min=True)),
            max_size=4,
            unique_by=lambda find: find.stems,
        ),
        max_size=4,
    )
)
def test_merging_loses_no_phrase_and_keeps_scores_in_range(results: list[list[Find]]) -> None:
    merged = merge_windows(results, lambda find: find.stems, lambda find: find.score)

    stems = [phrase.best.stems for phrase in merged]
    assert sorted(stems) == sorted({find.stems for result in results for find in result})
    merged_scores = [phrase.score for phrase in merged]
    assert merged_scores == sorted(merged_scores, reverse=True)
    for phrase in merged:
        scores = [
            find.score for result in results for find in result if find.stems == phrase.best.stems
        ]
        assert phrase.best.score == max(scores)
        assert max(scores) <= phrase.score <= 1
        doubt = math.prod(1 - score for score in scores)
        assert math.isclose(1 - phrase.score, doubt, abs_tol=1e-9)


def test_one_window_keeps_its_list() -> None:
    result = [Find("graph", 0.6), Find("tree", 0.6), Find("leaf", 0.2)]

    merged = merge_windows([result], lambda find: find.stems, lambda find: find.score)

    assert [(phrase.best, phrase.score) for phrase in merged] == [
        (find, find.score) for find in result
    ]
