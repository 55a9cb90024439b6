"""What must hold of edges, of batches, and of the copies of a batch's graphs."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from phraseloom.network.example import Example
from phraseloom.network.graph import (
    SELF_LOOP,
    Batch,
    CopiedGraph,
    Edges,
    GraphCopies,
    Groups,
    build_edges,
    collate,
    copy_graphs,
    offsets_of,
    phrase_context,
    schedule_steps,
)
from phraseloom.slots import EOS, FIRST_WORD, SEP
from tests.builders import make_example, make_heads, make_lexicon

Ints = NDArray[np.int64]
Forest = tuple[Ints, Ints]
RELATIONS = 3
forests = st.builds(
    lambda seed, nodes: (
        make_heads(np.random.default_rng(seed), nodes),
        np.random.default_rng(seed).integers(0, RELATIONS, nodes),
    ),
    st.integers(0, 10_000),
    st.integers(0, 12),
)


def build(forest: Forest) -> tuple[Edges, Ints]:
    return build_edges(*forest, relation_count=RELATIONS)


def naive_edges(forest: Forest) -> list[tuple[int, int, int]]:
    """Target, source and type of every edge, one dependent after another."""
    edges = []
    for node, (head, relation) in enumerate(zip(*(a.tolist() for a in forest), strict=True)):
        edges.append((node, node, SELF_LOOP))
        if head != node:
            edges.append((node, head, 1 + relation))
            edges.append((head, node, 1 + RELATIONS + relation))
    return sorted(edges)


@given(forests)
def test_edges_are_those_of_a_loop_over_the_arcs(forest: Forest) -> None:
    edges, types = build(forest)

    columns = (edges.targets.tolist(), edges.sources.tolist(), types.tolist())

    assert list(zip(*columns, strict=True)) == naive_edges(forest)


@given(forests)
def test_offsets_cut_the_edges_by_target(forest: Forest) -> None:
    edges, nodes = build(forest)[0], len(forest[0])
    offsets = edges.into.offsets

    assert len(offsets) == nodes + 1
    for node in range(nodes):
        targets = edges.targets[offsets[node] : offsets[node + 1]]
        assert len(targets) == np.count_nonzero(edges.targets == node)
        assert (targets == node).all()


@given(forests)
def test_reverse_is_an_involution_that_turns_edges_round(forest: Forest) -> None:
    edges, _ = build(forest)

    assert (edges.reverse[edges.reverse] == np.arange(len(edges.reverse))).all()
    assert (edges.sources[edges.reverse] == edges.targets).all()
    assert (edges.targets[edges.reverse] == edges.sources).all()


@given(forests)
def test_reversing_an_edge_inverts_its_relation(forest: Forest) -> None:
    edges, types = build(forest)

    for there, back in zip(types.tolist(), types[edges.reverse].tolist(), strict=True):
        assert there == back == SELF_LOOP or abs(there - back) == RELATIONS


@given(forests)
def test_every_pair_of_nodes_has_one_edge_at_most(forest: Forest) -> None:
    edges, _ = build(forest)

    pairs = list(zip(edges.targets.tolist(), edges.sources.tolist(), strict=True))

    assert len(set(pairs)) == len(pairs)


@given(st.lists(st.integers(0, 4), max_size=6))
def test_the_ranks_of_groups_are_their_first_second_and_further_rows(sizes: list[int]) -> None:
    groups = Groups(np.arange(sum(sizes)), offsets_of(np.array(sizes, dtype=np.int64)))
    order, ranks = groups.schedule

    assert [sizes[group] for group in order] == sorted(sizes, reverse=True)
    assert len(ranks) == max(sizes, default=0)
    for k, entries in enumerate(ranks):
        expected = [int(groups.offsets[group]) + k for group in order if sizes[group] > k]
        assert entries.tolist() == expected


@pytest.mark.parametrize("lengths", [[4], [3, 5, 1], [2, 2], [1, 1, 6, 2]], ids=str)
def test_every_row_is_read_once_in_each_direction_long_documents_first(lengths: list[int]) -> None:
    offsets = offsets_of(np.array(lengths))
    schedule = schedule_steps(offsets)
    documents = sorted(range(len(lengths)), key=lambda b: -lengths[b])

    forwards = [offsets[b] + t for t in range(max(lengths)) for b in documents if lengths[b] > t]
    backwards = [
        offsets[b + 1] - 1 - t for t in range(max(lengths)) for b in documents if lengths[b] > t
    ]

    assert schedule.orders.tolist() == [forwards, backwards]
    assert schedule.sizes == [sum(n > t for n in lengths) for t in range(max(lengths))]


LEXICON = make_lexicon()
SIZES = ((6, 2), (1, 0), (9, 3), (4, 2))
"""Tokens and unknown words of each document."""
NODES, EDGES, STEMS, UNKNOWN, NGRAMS = "nodes", "edges", "stems", "unknown", "ngrams"
NUMBERED_BY = {
    "node_offsets": NODES,
    "sources": NODES,
    "edge_offsets": EDGES,
    "targets": NODES,
    "reverse": EDGES,
    "stem_offsets": STEMS,
    "stem_of_node": STEMS,
    "nodes_of_stem": NODES,
    "nodes_of_stem_offsets": NODES,
    "first_nodes": NODES,
    "ngram_offsets": NGRAMS,
}
"""What the numbers in a column count; other columns hold no numbers of the batch."""


def columns_of(batch: Batch) -> dict[str, Any]:
    """Every column of a batch but the schedule, by name."""
    plain = ("pos_ids", "positions", "features", "styles", "edge_types", "word_ids")
    shifted = ("node_offsets", "stem_offsets", "stem_of_node", "first_nodes")
    return {name: getattr(batch, name) for name in plain + shifted} | {
        "sources": batch.edges.sources,
        "edge_offsets": batch.edges.into.offsets,
        "targets": batch.edges.targets,
        "reverse": batch.edges.reverse,
        "nodes_of_stem": batch.nodes_of_stem.rows,
        "nodes_of_stem_offsets": batch.nodes_of_stem.offsets,
        "ngrams": batch.unknown_ngrams.rows,
        "ngram_offsets": batch.unknown_ngrams.offsets,
    }


def make_examples() -> list[Example]:
    made = [make_example(i, tokens=t, unknown=u) for i, (t, u) in enumerate(SIZES)]
    return [replace(example, style=i) for i, example in enumerate(made)]


def shift(name: str, column: Ints, before: dict[str, int]) -> Ints:
    """A column of one document as it is in a batch behind so many others."""
    if name == "word_ids":
        return column + before[UNKNOWN] * (column >= len(LEXICON.words))
    return column + before[NUMBERED_BY[name]] if name in NUMBERED_BY else column


def test_a_batch_is_its_documents_one_after_another_with_numbers_shifted() -> None:
    examples = make_examples()
    together = columns_of(collate(examples, LEXICON))
    before = dict.fromkeys((NODES, EDGES, STEMS, UNKNOWN, NGRAMS), 0)
    expected: dict[str, list[Ints]] = {name: [] for name in together}
    for example in examples:
        alone = columns_of(collate([example], LEXICON))
        for name, parts in expected.items():
            shifted = shift(name, alone[name], before)
            parts.append(shifted[1:] if name.endswith("offsets") and parts else shifted)
        before[NODES] += len(alone["word_ids"])
        before[EDGES] += len(alone["targets"])
        before[STEMS] += int(alone["stem_offsets"][-1])
        before[UNKNOWN] += len(alone["ngram_offsets"]) - 1
        before[NGRAMS] += len(alone["ngrams"])

    for name, parts in expected.items():
        np.testing.assert_array_equal(together[name], np.concatenate(parts), err_msg=name)


def test_a_document_alone_keeps_its_columns() -> None:
    example = make_example(3, tokens=8)

    batch = collate([example], LEXICON)

    assert batch.word_ids.tolist() == example.word_ids.tolist()
    assert batch.stem_of_node.tolist() == example.stem_ids.tolist()
    assert batch.positions.tolist() == list(range(8))
    assert batch.features[:, :3].tolist() == example.node_features.tolist()
    assert batch.features[:, 3:7].tolist() == example.glossary_features.tolist()
    assert batch.features[:, 7].tolist() == [example.style] * 8
    assert len(batch) == 1


def test_the_nodes_of_a_stem_are_listed_in_order() -> None:
    batch = collate(make_examples(), LEXICON)
    for stem in range(int(batch.stem_offsets[-1])):
        start, end = batch.nodes_of_stem.offsets[stem : stem + 2].tolist()

        nodes = batch.nodes_of_stem.rows[start:end].tolist()

        assert nodes == np.flatnonzero(batch.stem_of_node == stem).tolist()
        assert batch.first_nodes[stem] == nodes[0]


def test_unknown_words_bring_their_ngrams() -> None:
    examples = make_examples()
    ngrams = collate(examples, LEXICON).unknown_ngrams
    words = [word for example in examples for word in example.unknown]
    assert len(ngrams.offsets) == len(words) + 1
    for word, start, end in zip(words, ngrams.offsets[:-1], ngrams.offsets[1:], strict=True):
        assert ngrams.rows[start:end].tolist() == LEXICON.ngrams(word).tolist()


def test_no_batch_is_made_of_nothing() -> None:
    empty = replace(make_example(0), word_ids=np.zeros(0, dtype=np.int64))
    for examples in ([], [make_example(1), empty]):
        with pytest.raises(ValueError, match="at least one"):
            collate(examples, LEXICON)


def test_a_context_counts_what_was_decoded_before_each_phrase() -> None:
    batch = collate(make_examples(), LEXICON)
    stems = np.diff(batch.stem_offsets).tolist()

    context = phrase_context(batch, [2, 0, 2], [[(2, 3), (2,)], [], [(4,)]])

    assert context.documents.tolist() == [2, 0, 2]
    assert context.numbers.tolist() == [2, 0, 1]
    assert context.styles.tolist() == [2, 0, 2]
    assert context.history_counts.shape == (3, FIRST_WORD + max(stems[2], stems[0]))
    assert context.history_counts[0, :5].tolist() == [0, 0, 2, 1, 0]
    assert not context.history_counts[1].any()
    nodes = batch.first_nodes[batch.stem_offsets[2] + np.array([0, 1, 0, 2])]
    assert context.history_nodes.rows.tolist() == nodes.tolist()
    assert context.history_nodes.offsets.tolist() == [0, 3, 3, 4]


def test_no_phrases_have_no_context() -> None:
    context = phrase_context(collate(make_examples(), LEXICON), [], [])

    assert context.history_counts.shape == (0, FIRST_WORD)
    assert context.history_nodes.offsets.tolist() == [0]


COPIED = [make_example(i, tokens=t) for i, t in enumerate((6, 1, 9))]
every_choice = pytest.mark.parametrize(
    "documents", [[0, 1, 2], [2, 0, 0, 2, 1], [1], [0, 0], [2, 2, 2]], ids=str
)


def copy(documents: list[int], *, is_merged: bool = True) -> tuple[Batch, GraphCopies, Batch]:
    """A batch, copies of some of its documents, and those documents packed anew."""
    batch = collate(COPIED, LEXICON)
    repeated = collate([COPIED[document] for document in documents], LEXICON)
    return batch, copy_graphs(batch, np.array(documents), is_merged=is_merged), repeated


def copy_graph(documents: list[int]) -> tuple[Batch, CopiedGraph, Batch]:
    """The same, of the copies their nodes and edges."""
    batch, copies, repeated = copy(documents)
    assert copies.graph is not None
    return batch, copies.graph, repeated


@every_choice
def test_copies_have_the_structure_of_the_repeated_documents(documents: list[int]) -> None:
    _, copies, repeated = copy_graph(documents)

    pairs = {
        "sources": (copies.edges.sources, repeated.edges.sources),
        "edge offsets": (copies.edges.into.offsets, repeated.edges.into.offsets),
        "targets": (copies.edges.targets, repeated.edges.targets),
        "reverse": (copies.edges.reverse, repeated.edges.reverse),
        "nodes of stems": (copies.nodes_of_stem.rows, repeated.nodes_of_stem.rows),
        "their offsets": (copies.nodes_of_stem.offsets, repeated.nodes_of_stem.offsets),
    }
    for name, (column, expected) in pairs.items():
        np.testing.assert_array_equal(column, expected, err_msg=name)
    degrees = np.diff(repeated.edges.into.offsets)[repeated.edges.targets]
    assert copies.edges.degrees.tolist() == degrees.tolist()


@every_choice
def test_copies_know_what_they_copy(documents: list[int]) -> None:
    batch, copies, repeated = copy_graph(documents)
    is_known = repeated.word_ids < len(LEXICON.words)

    word_ids = batch.word_ids[copies.nodes]
    assert word_ids[is_known].tolist() == repeated.word_ids[is_known].tolist()
    assert batch.positions[copies.nodes].tolist() == repeated.positions.tolist()
    assert batch.edge_types[copies.edge_ids].tolist() == repeated.edge_types.tolist()


@every_choice
def test_nodes_and_edges_know_the_copy_they_are_in(documents: list[int]) -> None:
    _, copies, repeated = copy_graph(documents)
    copy_of_node = np.repeat(np.arange(len(documents)), np.diff(repeated.node_offsets))

    assert copies.copy_of_node.tolist() == copy_of_node.tolist()
    assert copies.copy_of_edge.tolist() == copy_of_node[repeated.edges.targets].tolist()


@every_choice
def test_merged_entries_are_the_stems_behind_sep_and_eos(documents: list[int]) -> None:
    batch, copies, repeated = copy(documents)
    entries, counts = copies.entries, np.diff(repeated.stem_offsets)

    assert copies.documents.tolist() == documents
    assert entries.sizes[:, 0].tolist() == counts.tolist()
    assert entries.mask.sum(1).tolist() == (FIRST_WORD + counts).tolist()
    graphs, slots = np.divmod(entries.rows, entries.mask.shape[1])
    assert graphs.tolist() == np.repeat(np.arange(len(documents)), counts).tolist()
    assert slots.tolist() == [FIRST_WORD + i for count in counts for i in range(count)]
    starts = batch.stem_offsets[np.array(documents)][graphs]
    assert entries.copies.tolist() == graphs.tolist()
    assert (entries.sources - starts + FIRST_WORD).tolist() == slots.tolist()
    assert entries.slot_of_entry is None


@every_choice
def test_unmerged_entries_are_the_nodes_and_each_has_its_stem_as_slot(
    documents: list[int],
) -> None:
    batch, copies, repeated = copy(documents, is_merged=False)
    entries, counts = copies.entries, np.diff(repeated.node_offsets)

    assert entries.sizes[:, 0].tolist() == counts.tolist()
    assert copies.graph is not None
    assert entries.sources.tolist() == copies.graph.nodes.tolist()
    one_hot = entries.slot_of_entry
    assert (one_hot.sum(2) == entries.mask).all()
    for graph, document in enumerate(documents):
        slots = one_hot[graph][entries.mask[graph]].argmax(1)
        expected = FIRST_WORD + COPIED[document].stem_ids
        assert slots.tolist() == [SEP, EOS, *expected.tolist()]
