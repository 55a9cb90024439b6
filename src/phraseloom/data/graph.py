"""Dependency arcs as a packed, typed, symmetric graph in CSR order.

Every arc gives two directed edges, typed by its relation and by the relation's inverse, and every
node has a self-loop (SPEC: "nothing else"). The pattern is symmetric, so the transposed matrix has
the same rows and columns and only its values move: ``reverse`` says where.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SELF_LOOP = 0
"""Type of the edge from a node to itself; relation r is ``1 + r``, its inverse ``1 + R + r``."""


class Edges(NamedTuple):
    """Edges into each node, sorted by target and then by source."""

    offsets: NDArray[np.int64]
    """Edges into node i are ``offsets[i]:offsets[i + 1]``, ``(N + 1,)``."""
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    types: NDArray[np.int64]
    reverse: NDArray[np.int64]
    """Place of the edge that runs the other way, ``(E,)``; a self-loop is its own."""


def build_edges(
    heads: NDArray[np.int64], relations: NDArray[np.int64], *, relation_count: int
) -> Edges:
    """Edges of a forest given by each node's head; a root is its own head.

    Args:
        heads: governing node of each node, ``(N,)``.
        relations: relation of each node to its head, below ``relation_count``; a root's is unused.
        relation_count: number ``R`` of relations.
    """
    nodes = np.arange(len(heads))
    dependents = np.flatnonzero(heads != nodes)
    governors, labels = heads[dependents], relations[dependents]
    targets = np.concatenate([nodes, dependents, governors])
    sources = np.concatenate([nodes, governors, dependents])
    types = np.concatenate(
        [np.full(len(nodes), SELF_LOOP), 1 + labels, 1 + relation_count + labels]
    )
    order = np.lexsort((sources, targets))
    targets, sources, types = targets[order], sources[order], types[order]
    return Edges(
        offsets=np.concatenate([[0], np.cumsum(np.bincount(targets, minlength=len(nodes)))]),
        sources=sources,
        targets=targets,
        types=types,
        reverse=np.lexsort((targets, sources)),
    )
