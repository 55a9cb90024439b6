"""Every gold phrase is a row: its words, then SEP or EOS, knowing all that came before it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from phraseloom.network.example import Example
from phraseloom.network.graph import collate
from phraseloom.network.lexicon import Ids
from phraseloom.slots import EOS, FIRST_WORD, SEP
from phraseloom.train.corpus.targets import Targets, collate_targets
from tests.builders import make_example, make_lexicon

Row = tuple[int, int, list[int], list[int]]


def with_phrases(*phrases: tuple[int, ...]) -> Example:
    """A document of six tokens and five stems with these gold phrases."""
    stems = np.array([0, 1, 2, 1, 3, 4])
    made = make_example(0, tokens=6)
    return replace(made, stem_ids=stems, phrases=tuple(np.array(phrase) for phrase in phrases))


def targets_of(examples: Sequence[Example], chosen: Sequence[Ids] | None = None) -> Targets:
    return collate_targets(collate(examples, make_lexicon()), examples, chosen)


def rows_of(targets: Targets) -> list[Row]:
    """Document, number, how often each slot was written before, and target slots of every row."""
    context = targets.context
    return [
        (int(document), int(number), counts.astype(int).tolist(), slots[mask].tolist())
        for document, number, counts, slots, mask in zip(
            context.documents,
            context.numbers,
            context.history_counts,
            targets.slots,
            targets.mask,
            strict=True,
        )
    ]


def test_a_phrase_is_its_words_then_sep_or_eos_knowing_all_before_it() -> None:
    targets = targets_of([with_phrases((0, 1), (1, 2, 3), (4,)), with_phrases((2,))])

    assert rows_of(targets) == [
        (0, 0, [0, 0, 0, 0, 0, 0, 0], [FIRST_WORD, FIRST_WORD + 1, SEP]),
        (0, 1, [0, 0, 1, 1, 0, 0, 0], [FIRST_WORD + 1, FIRST_WORD + 2, FIRST_WORD + 3, SEP]),
        (0, 2, [0, 0, 1, 2, 1, 1, 0], [FIRST_WORD + 4, EOS]),
        (1, 0, [0, 0, 0, 0, 0, 0, 0], [FIRST_WORD + 2, EOS]),
    ]


def test_padding_is_false_under_the_mask_and_zero() -> None:
    targets = targets_of([with_phrases((0, 1), (4,))])

    assert targets.mask.tolist() == [[True, True, True], [True, True, False]]
    assert targets.slots[~targets.mask].tolist() == [0]


def test_a_chosen_phrase_is_the_same_row() -> None:
    examples = [
        with_phrases((0, 1), (1, 2, 3), (4,)),
        with_phrases((2,)),
        with_phrases((3,), (4, 0)),
    ]

    every = rows_of(targets_of(examples))
    chosen = rows_of(targets_of(examples, [np.array([2, 0]), np.array([], int), np.array([1])]))

    assert chosen == [every[2], every[0], every[5]]


def test_words_of_any_gold_phrase_are_important() -> None:
    examples = [with_phrases((0, 1), (4,)), with_phrases(), with_phrases((2,))]

    targets = targets_of(examples, [np.array([0]), np.array([], int), np.array([0])])

    assert targets.important.tolist() == [1, 1, 0, 0, 1] + [0] * 5 + [0, 0, 1, 0, 0]


def test_documents_without_phrases_give_no_rows() -> None:
    targets = targets_of([with_phrases()])

    assert targets.slots.shape == (0, 0)
    assert len(targets.context.documents) == 0
