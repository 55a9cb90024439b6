"""Small random graphs and their dense matrices, for tests of sparse layers."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from phraseloom.data.graph import build_edges
from phraseloom.nn.sparse import Pattern
from tests.builders import make_heads


def make_pattern(seed: int, nodes: int) -> Pattern:
    """The edges of a random forest, self-loops included."""
    heads = make_heads(np.random.default_rng(seed), nodes)
    return pattern_of(heads)


def pattern_of(heads: "np.ndarray[Any, np.dtype[np.int64]]") -> Pattern:
    """The edges of the forest with these heads."""
    edges = build_edges(heads, np.zeros_like(heads), relation_count=1)
    return Pattern(
        *(torch.from_numpy(a) for a in (edges.offsets, edges.sources, edges.targets, edges.reverse))
    )


def dense(pattern: Pattern, values: Tensor) -> Tensor:
    """The matrix as a dense one, ``(N, N)``."""
    size = len(pattern.offsets) - 1
    return values.new_zeros(size, size).index_put((pattern.rows, pattern.columns), values)


def idle_parameters(layer: nn.Module) -> list[str]:
    """Parameters that a backward pass left without a gradient."""
    return [n for n, p in layer.named_parameters() if p.grad is None or not p.grad.any()]
