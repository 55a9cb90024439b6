"""The packed graph is the set of edges that SPEC lists, in CSR order."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from phraseloom.data.graph import SELF_LOOP, Edges, build_edges
from tests.builders import make_heads

RELATIONS = 3
forests = st.builds(
    lambda seed, nodes: (
        make_heads(np.random.default_rng(seed), nodes),
        np.random.default_rng(seed).integers(0, RELATIONS, nodes),
    ),
    st.integers(0, 10_000),
    st.integers(0, 12),
)
Forest = tuple["np.ndarray[tuple[int], np.dtype[np.int64]]", ...]


def build(forest: Forest) -> Edges:
    heads, relations = forest
    return build_edges(heads, relations, relation_count=RELATIONS)


def naive_edges(forest: Forest) -> list[tuple[int, int, int]]:
    """Target, source and type of every edge, one dependent after another."""
    edges = []
    for node, (head, relation) in enumerate(zip(*(each.tolist() for each in forest), strict=True)):
        edges.append((node, node, SELF_LOOP))
        if head != node:
            edges.append((node, head, 1 + relation))
            edges.append((head, node, 1 + RELATIONS + relation))
    return sorted(edges)


@given(forests)
def test_edges_are_those_of_a_loop_over_the_arcs(forest: Forest) -> None:
    edges = build(forest)

    found = zip(edges.targets.tolist(), edges.sources.tolist(), edges.types.tolist(), strict=True)

    assert list(found) == naive_edges(forest)


@given(forests)
def test_offsets_cut_the_edges_by_target(forest: Forest) -> None:
    edges, nodes = build(forest), len(forest[0])

    assert len(edges.offsets) == nodes + 1
    for node in range(nodes):
        targets = edges.targets[edges.offsets[node] : edges.offsets[node + 1]]
        assert len(targets) == np.count_nonzero(edges.targets == node)
        assert (targets == node).all()


@given(forests)
def test_reverse_is_an_involution_that_turns_edges_round(forest: Forest) -> None:
    edges = build(forest)

    assert (edges.reverse[edges.reverse] == np.arange(len(edges.reverse))).all()
    assert (edges.sources[edges.reverse] == edges.targets).all()
    assert (edges.targets[edges.reverse] == edges.sources).all()


@given(forests)
def test_reversing_an_edge_inverts_its_relation(forest: Forest) -> None:
    edges = build(forest)

    for there, back in zip(edges.types.tolist(), edges.types[edges.reverse].tolist(), strict=True):
        assert there == back == SELF_LOOP or abs(there - back) == RELATIONS


@given(forests)
def test_every_pair_of_nodes_has_one_edge_at_most(forest: Forest) -> None:
    edges = build(forest)

    pairs = list(zip(edges.targets.tolist(), edges.sources.tolist(), strict=True))

    assert len(set(pairs)) == len(pairs)
