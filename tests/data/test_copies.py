"""A copied graph is the graph of the repeated document."""

import pytest
import torch

from phraseloom.data.batch import Batch, collate
from phraseloom.data.copies import Copies, copy_graphs
from tests.builders import make_example, make_lexicon

LEXICON = make_lexicon()
EXAMPLES = [make_example(i, tokens=t) for i, t in enumerate((6, 1, 9))]
CHOICES = [[0, 1, 2], [2, 0, 0, 2, 1], [1], [0, 0], [2, 2, 2]]
SAME_COLUMNS = (
    "edge_offsets",
    "edge_sources",
    "edge_targets",
    "edge_reverse",
    "slot_of_node",
    "slot_nodes",
    "slot_node_offsets",
)
every_choice = pytest.mark.parametrize("documents", CHOICES, ids=str)


def make(documents: list[int]) -> tuple[Batch, Copies, Batch]:
    """A batch, copies of some of its documents, and those documents packed anew."""
    batch = collate(EXAMPLES, LEXICON)
    repeated = collate([EXAMPLES[document] for document in documents], LEXICON)
    return batch, copy_graphs(batch, torch.tensor(documents)), repeated


@every_choice
def test_copies_have_the_structure_of_the_repeated_documents(documents: list[int]) -> None:
    _, copies, repeated = make(documents)

    for name in SAME_COLUMNS:
        assert torch.equal(getattr(copies, name), getattr(repeated, name)), name
    assert torch.equal(copies.slot_starts, repeated.slot_offsets[:-1])


@every_choice
def test_copies_know_what_they_copy(documents: list[int]) -> None:
    batch, copies, repeated = make(documents)
    is_known = repeated.word_ids < len(LEXICON.words)

    assert torch.equal(batch.word_ids[copies.nodes][is_known], repeated.word_ids[is_known])
    assert torch.equal(batch.positions[copies.nodes], repeated.positions)
    assert torch.equal(batch.edge_types[copies.edges], repeated.edge_types)
    counts = batch.slot_node_offsets.diff()
    assert torch.equal(counts[copies.slots], repeated.slot_node_offsets.diff())


@every_choice
def test_nodes_and_slots_know_the_copy_they_are_in(documents: list[int]) -> None:
    _, copies, repeated = make(documents)
    numbers = torch.arange(len(documents))

    nodes = numbers.repeat_interleave(repeated.node_offsets.diff())
    slots = numbers.repeat_interleave(repeated.slot_offsets.diff())

    assert torch.equal(copies.copy_of_node, nodes)
    assert torch.equal(copies.copy_of_slot, slots)


@every_choice
def test_the_copies_of_each_node_are_listed(documents: list[int]) -> None:
    batch, copies, _ = make(documents)
    for node in range(len(batch.word_ids)):
        first, last = copies.node_copy_offsets[node : node + 2].tolist()

        found = copies.node_copies[first:last].tolist()

        assert found == (copies.nodes == node).nonzero().flatten().tolist()
