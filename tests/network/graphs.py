"""Small random graphs and what they are as dense matrices, for tests of layers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from phraseloom.network.graph import Edges, build_edges
from tests.builders import make_heads

Floats = NDArray[np.float32]


def draw(seed: int, *shape: int) -> Floats:
    """Random numbers of both signs."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def make_edges(seed: int, nodes: int) -> Edges:
    """The edges of a random forest, self-loops included."""
    return edges_of(make_heads(np.random.default_rng(seed), nodes))


def edges_of(heads: NDArray[np.int64]) -> Edges:
    """The edges of the forest with these heads."""
    return build_edges(heads, np.zeros_like(heads), relation_count=1)[0]


def to_dense(edges: Edges, weights: Floats) -> Floats:
    """The matrix as a dense one, row i the edges into i, ``(N, N)``."""
    size = len(edges.into.offsets) - 1
    matrix = np.zeros((size, size), np.float32)
    matrix[edges.targets, edges.sources] = weights
    return matrix


def assert_close(array: Any, expected: Any, *, tolerance: float = 1e-5) -> None:
    """Equal but for rounding; infinities at the same places."""
    np.testing.assert_allclose(array, expected, rtol=tolerance, atol=tolerance)
