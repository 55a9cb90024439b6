"""Packing documents shifts their numbers and changes nothing else."""

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from phraseloom.data.batch import (
    EOS,
    FIRST_WORD,
    SEP,
    Batch,
    collate,
    collate_targets,
)
from phraseloom.data.example import Example
from tests.builders import make_example, make_lexicon

LEXICON = make_lexicon()
SIZES = ((6, 2), (1, 0), (9, 3), (4, 2))
"""Tokens and unknown words of each document."""

NODES, EDGES, SLOTS, UNKNOWN, NGRAMS = "nodes", "edges", "slots", "unknown", "ngrams"
NUMBERED_BY = {
    "node_offsets": NODES,
    "edge_sources": NODES,
    "edge_targets": NODES,
    "slot_nodes": NODES,
    "edge_offsets": EDGES,
    "edge_reverse": EDGES,
    "slot_offsets": SLOTS,
    "slot_of_node": SLOTS,
    "slot_node_offsets": NODES,
    "unknown_offsets": NGRAMS,
}
"""What the numbers in a column count; other columns hold no numbers of the batch."""
OFFSETS = ("node_offsets", "edge_offsets", "slot_offsets", "slot_node_offsets")
"""Columns with one entry more than documents, nodes or slots."""


def make_examples() -> list[Example]:
    made = [make_example(i, tokens=t, unknown=u) for i, (t, u) in enumerate(SIZES)]
    return [replace(example, style=i) for i, example in enumerate(made)]


def shift(batch: Batch, name: str, before: dict[str, int]) -> Tensor:
    """A column of one document as it stands in a batch behind so many others."""
    column: Tensor = getattr(batch, name)
    if name == "word_ids":
        return column + before[UNKNOWN] * (column >= len(LEXICON.words))
    return column + before[NUMBERED_BY[name]] if name in NUMBERED_BY else column


def test_a_batch_is_its_documents_one_after_another_with_numbers_shifted() -> None:
    examples = make_examples()
    together = collate(examples, LEXICON)
    before = dict.fromkeys((NODES, EDGES, SLOTS, UNKNOWN, NGRAMS), 0)
    expected: dict[str, list[Tensor]] = {field.name: [] for field in fields(Batch)}
    for example in examples:
        alone = collate([example], LEXICON)
        for name, parts in expected.items():
            shifted = shift(alone, name, before)
            parts.append(shifted[1:] if name in OFFSETS and parts else shifted)
        before[NODES] += len(alone.word_ids)
        before[EDGES] += len(alone.edge_sources)
        before[SLOTS] += int(alone.slot_offsets[-1])
        before[UNKNOWN] += len(alone.unknown_offsets)
        before[NGRAMS] += len(alone.unknown_ngrams)

    for name, parts in expected.items():
        assert torch.equal(getattr(together, name), torch.cat(parts)), name


def test_a_document_alone_keeps_its_columns() -> None:
    example = make_example(3, tokens=8)

    batch = collate([example], LEXICON)

    assert batch.word_ids.tolist() == example.word_ids.tolist()
    assert batch.slot_of_node.tolist() == example.stem_ids.tolist()
    assert batch.positions.tolist() == list(range(8))
    assert batch.features.tolist() == example.features.tolist()
    assert len(batch) == 1


def test_the_nodes_of_a_slot_are_listed_in_order() -> None:
    batch = collate(make_examples(), LEXICON)
    for slot in range(int(batch.slot_offsets[-1])):
        first, last = batch.slot_node_offsets[slot : slot + 2].tolist()

        nodes = batch.slot_nodes[first:last].tolist()

        assert nodes == (batch.slot_of_node == slot).nonzero().flatten().tolist()


def test_unknown_words_bring_their_ngrams() -> None:
    examples = make_examples()
    batch = collate(examples, LEXICON)
    names = [word for example in examples for word in example.unknown]
    ends = [*batch.unknown_offsets[1:].tolist(), len(batch.unknown_ngrams)]
    for word, start, end in zip(names, batch.unknown_offsets.tolist(), ends, strict=True):
        assert batch.unknown_ngrams[start:end].tolist() == LEXICON.ngrams(word).tolist()


def test_no_batch_is_made_of_nothing() -> None:
    empty = replace(make_example(0), word_ids=np.zeros(0, dtype=np.int64))
    for examples in ([], [make_example(1), empty]):
        with pytest.raises(ValueError, match="at least one"):
            collate(examples, LEXICON)


def say(*phrases: tuple[int, ...]) -> Example:
    """A document of six tokens and five stems with these gold phrases."""
    stems = np.array([0, 1, 2, 1, 3, 4])
    made = make_example(0, tokens=6)
    return replace(made, stem_ids=stems, phrases=tuple(np.array(phrase) for phrase in phrases))


def rows_of(targets: Any) -> list[tuple[int, int, list[int], list[int]]]:
    """Document, number, said words and target slots of every row."""
    phrases = targets.phrases
    said = phrases.said_slots.split(phrases.said_offsets.diff().tolist())
    return [
        (int(document), int(number), words.tolist(), slots[mask].tolist())
        for document, number, words, slots, mask in zip(
            phrases.documents, phrases.numbers, said, targets.slots, targets.mask, strict=True
        )
    ]


def test_a_phrase_is_its_words_then_sep_or_eos_knowing_all_before_it() -> None:
    targets = collate_targets([say((0, 1), (1, 2, 3), (4,)), say((2,))])

    assert rows_of(targets) == [
        (0, 0, [], [FIRST_WORD, FIRST_WORD + 1, SEP]),
        (0, 1, [0, 1], [FIRST_WORD + 1, FIRST_WORD + 2, FIRST_WORD + 3, SEP]),
        (0, 2, [0, 1, 1, 2, 3], [FIRST_WORD + 4, EOS]),
        (1, 0, [], [FIRST_WORD + 2, EOS]),
    ]


def test_padding_is_false_under_the_mask_and_zero() -> None:
    targets = collate_targets([say((0, 1), (4,))])

    assert targets.mask.tolist() == [[True, True, True], [True, True, False]]
    assert targets.slots[~targets.mask].tolist() == [0]


def test_a_chosen_phrase_is_the_same_row() -> None:
    examples = [say((0, 1), (1, 2, 3), (4,)), say((2,)), say((3,), (4, 0))]

    every = rows_of(collate_targets(examples))
    chosen = rows_of(
        collate_targets(examples, [np.array([2, 0]), np.array([], dtype=int), np.array([1])])
    )

    assert chosen == [every[2], every[0], every[5]]


def test_words_of_any_gold_phrase_are_important() -> None:
    examples = [say((0, 1), (4,)), say(), say((2,))]

    found = collate_targets(examples, [np.array([0]), np.array([], dtype=int), np.array([0])])

    assert found.important.tolist() == [1, 1, 0, 0, 1] + [0] * 5 + [0, 0, 1, 0, 0]


def test_documents_without_phrases_give_no_rows() -> None:
    targets = collate_targets([say()])

    assert targets.slots.shape == (0, 0)
    assert targets.phrases.said_offsets.tolist() == [0]
