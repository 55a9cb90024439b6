"""The index allows what stands in the text, and nothing else."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from phraseloom.search.allowed import Allowed, Anything, Continuations
from phraseloom.search.ngrams import Ngrams
from phraseloom.search.step import Phrase
from tests.search.naive import all_phrases
from tests.search.test_beam import EXTRACTIVE

segments = st.lists(st.lists(st.integers(2, 6), max_size=6), max_size=4)


def phrases_in(allowed: Allowed, document: int, slots: int, max_words: int) -> list[Phrase]:
    """Walk all that is allowed."""
    found: list[Phrase] = []
    places: list[tuple[Phrase, Tensor]] = [((), allowed.start([document]))]
    for _ in range(max_words):
        grown: list[tuple[Phrase, Tensor]] = []
        for prefix, place in places:
            follow = allowed.follow(place, slots)
            for slot, node, real in zip(*(field[0, 0] for field in follow), strict=True):
                if real:
                    grown.append(((*prefix, int(slot)), node.view(1, 1)))
        found += [prefix for prefix, _ in grown]
        places = grown
    return found


@given(st.lists(segments, min_size=1, max_size=3))
def test_the_index_holds_each_n_gram_of_each_document_once(
    documents: list[list[list[int]]],
) -> None:
    index = Ngrams(documents, max_words=3)

    for document, text in enumerate(documents):
        found = phrases_in(index, document, slots=7, max_words=3)
        assert sorted(found) == sorted(all_phrases(text, 7, EXTRACTIVE))


@given(st.lists(segments, min_size=1, max_size=3), st.lists(st.integers(2, 6), max_size=4))
def test_phrases_are_counted_by_prefix(documents: list[list[list[int]]], prefix: list[int]) -> None:
    index = Ngrams(documents, max_words=3)

    for document, text in enumerate(documents):
        counted = sum(y[: len(prefix)] == tuple(prefix) for y in all_phrases(text, 7, EXTRACTIVE))
        assert index.phrases_from(document, tuple(prefix)) == counted


def test_nothing_crosses_a_segment_or_a_document() -> None:
    index = Ngrams([[[2, 3], [4]], [[4, 2]]], max_words=3)

    assert index.phrases_from(0, (3, 4)) == 0
    assert index.phrases_from(1, (4, 2)) == 1
    assert index.phrases_from(0, (4, 2)) == 0


def test_dead_hypotheses_have_no_continuation() -> None:
    index = Ngrams([[[2, 3]]], max_words=2)
    places = torch.tensor([[index.nowhere, 0]])

    follow = index.follow(places, 4)

    assert follow.mask.tolist() == [[[False, False], [True, True]]]


def test_hypotheses_side_by_side_get_their_own_words() -> None:
    index = Ngrams([[[2, 3, 4], [2, 5]], [[3, 2]]], max_words=2)

    first = index.follow(index.start([1, 0]), 6)
    assert _shown(first) == [[[2, 3]], [[2, 3, 4, 5]]]

    second = index.follow(first.places[:, 0, :2], 6)
    assert _shown(second) == [[[], [2]], [[3, 5], [4]]]


def _shown(follow: Continuations) -> list[list[list[int]]]:
    """Words of each document, each hypothesis."""
    return [
        [slots[mask].tolist() for slots, mask in zip(*rows, strict=True)]
        for rows in zip(follow.slots, follow.mask, strict=True)
    ]


def test_the_index_grows_in_proportion_to_the_text() -> None:
    words = torch.randint(2, 300, (20_000,), generator=torch.Generator().manual_seed(0))
    text = [segment.tolist() for segment in words.split(15)]

    index = Ngrams([text], max_words=6)

    assert index.nowhere <= 1 + 6 * len(words)
    assert index.phrases_from(0, ()) == index.nowhere - 1


def test_without_an_index_every_phrase_is_allowed() -> None:
    anything = Anything([5, 4, 2], max_words=2)

    assert sorted(phrases_in(anything, 0, slots=5, max_words=2)) == sorted(
        [(a,) for a in (2, 3, 4)] + [(a, b) for a in (2, 3, 4) for b in (2, 3, 4)]
    )
    assert [anything.phrases_from(d, ()) for d in range(3)] == [12, 6, 0]
    assert [anything.phrases_from(0, (2,)), anything.phrases_from(0, (2, 2))] == [4, 1]
