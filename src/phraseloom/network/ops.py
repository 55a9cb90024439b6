"""The seam between the equations and what computes them: six operations, and nothing else.

The equations are written in what NumPy and the array-API view of torch spell alike, through
``ops.xp``. What the two cannot spell alike is here for NumPy and in `phraseloom.train.ops` for
torch, with gradients. Index arrays come from `phraseloom.network.graph`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from phraseloom.network.graph import Edges, Groups, Schedule

Array = Any
"""A NumPy array when extracting, a torch tensor when training."""
Weights = Mapping[str, Array]
"""All weights of a network by name."""


class Ops(Protocol):
    """What NumPy and torch do in different ways."""

    xp: Any
    """The array-API namespace: numpy, or array_api_compat.torch."""

    def gru_scan(self, inputs: Array, weights: Array, biases: Array, schedule: Schedule) -> Array:
        """Run a GRU over documents in both directions.

        Args:
            inputs: contributions of the inputs to both directions' gates, ``(N, 2 * 3H)``.
            weights: of the state in the gates, ``(2, 3H, H)``.
            biases: of the state in the gates, ``(2, 3H)``.
            schedule: when each row is read.

        Returns:
            States of both directions, ``(N, 2H)``.
        """
        ...

    def graph_product(self, edges: Edges, weights: Array, nodes: Array) -> Array:
        """Row i is the sum of weight times source over the edges into i; ``(E,)``, ``(N, D)``."""
        ...

    def segment_mean(self, rows: Array, groups: Groups) -> Array:
        """Mean of the rows of each group; every row is in one group and no group is empty."""
        ...

    def gather_rows(self, table: Array, index: Array) -> Array:
        """Rows of a table, ``(V, D)`` to ``(N, D)``; the table may be quantized."""
        ...

    def bag_mean(self, table: Array, groups: Groups) -> Array:
        """Mean of the named rows of a table for each group; zero for an empty one."""
        ...

    def dropout(self, array: Array) -> Array:
        """Zero some elements in training; nothing else."""
        ...


@dataclass(frozen=True, slots=True)
class QuantizedTable:
    """Rows of 8-bit steps, each with a scale of its own; only rows that are read are widened."""

    steps: NDArray[np.int8]
    """``(V, D)``."""
    scales: NDArray[np.float32]
    """``(V, 1)``."""

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, index: Any) -> NDArray[np.float32]:
        return self.steps[index] * self.scales[index]

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the table."""
        return self.steps.shape


class NumpyOps:
    """The six operations for extraction, without gradients."""

    xp: Any = np

    def gru_scan(self, inputs: Array, weights: Array, biases: Array, schedule: Schedule) -> Array:
        # A short text is mostly calls on small arrays here, so there are few: the gates are halved
        # beforehand for sigma(x) = (1 + tanh(x / 2)) / 2, and what is added lies side by side.
        rows, width = len(inputs), weights.shape[2]
        matrices = np.swapaxes(0.5 * weights, 1, 2).copy()  # (2, H, 3H)
        bias = 0.5 * biases.reshape(2, 3, width)  # (2, 3, H)
        by_row = inputs.reshape(rows, 2, 3, width)  # (N, 2, 3, H)
        gates = np.empty((rows, 3, 2, width), np.float32)  # (N, 3, 2, H): r, z, n
        for way, order in enumerate(schedule.orders):
            gates[:, :, way] = by_row[order, way]
            gates[:, :2, way] *= 0.5
            gates[:, :2, way] += bias[way, :2]
        states = np.empty((rows, 2, width), np.float32)  # (N, 2, H)
        before = np.zeros((schedule.sizes[0], 2, width), np.float32)
        start = 0
        for size in schedule.sizes:
            step, state = gates[start : start + size], states[start : start + size]
            before = before[:size]  # (size, 2, H)
            hidden = np.matmul(before.transpose(1, 0, 2), matrices)  # (2, size, 3H)
            hidden = hidden.reshape(2, size, 3, width).transpose(1, 2, 0, 3)  # (size, 3, 2, H)
            switches = step[:, :2]  # (size, 2, 2, H)
            switches += hidden[:, :2]
            np.tanh(switches, out=switches)
            switches += 1  # twice r and z
            candidate = hidden[:, 2] + bias[:, 2]  # (size, 2, H)
            candidate *= switches[:, 0]
            candidate += step[:, 2]
            np.tanh(candidate, out=candidate)
            np.subtract(before, candidate, out=state)
            state *= switches[:, 1]
            state *= 0.5
            state += candidate
            before = state
            start += size
        ordered = np.empty_like(states)
        for way, order in enumerate(schedule.orders):
            ordered[order, way] = states[:, way]
        return ordered.reshape(rows, 2 * width)  # (N, 2H)

    def graph_product(self, edges: Edges, weights: Array, nodes: Array) -> Array:
        blocks = edges.blocks
        matrices = np.zeros(blocks.size, np.float32)
        matrices[blocks.cells] = weights
        received = np.empty_like(nodes)  # (N, D)
        for start, end, first in blocks.bounds:  # sentences are short: dense products are fastest
            size = end - start
            matrix = matrices[first : first + size * size].reshape(size, size)
            np.matmul(matrix, nodes[start:end], out=received[start:end])
        return received

    def segment_mean(self, rows: Array, groups: Groups) -> Array:
        sums = _group_sums(rows, groups)  # (M, D)
        sums /= np.diff(groups.offsets)[:, None].astype(np.float32)
        return sums

    def gather_rows(self, table: Array, index: Array) -> Array:
        return table[index]

    def bag_mean(self, table: Array, groups: Groups) -> Array:
        sums = _group_sums(table, groups)  # (groups, D)
        sums /= np.maximum(np.diff(groups.offsets), 1)[:, None].astype(np.float32)
        return sums

    def dropout(self, array: Array) -> Array:
        return array


NUMPY = NumpyOps()


def _group_sums(table: Array, groups: Groups) -> Array:
    """Sum of the named rows of a table over each group."""
    order, ranks = groups.schedule
    sums = np.zeros((len(order), table.shape[1]), np.float32)
    for entries in ranks:  # the k-th of every group that has one; long groups come first
        sums[: len(entries)] += table[groups.rows[entries]]
    ordered = np.empty_like(sums)
    ordered[order] = sums
    return ordered


def sigmoid(x: Array, xp: Any) -> Array:
    r""":math:`\sigma(x) = (1 + \tanh(x / 2)) / 2`, which cannot overflow; torch has it whole."""
    return xp.sigmoid(x) if hasattr(xp, "sigmoid") else 0.5 * xp.tanh(0.5 * x) + 0.5


def relu(x: Array, xp: Any) -> Array:
    r""":math:`\max(x, 0)`; torch's own has a backward pass three times as fast as that of clip."""
    return xp.relu(x) if hasattr(xp, "relu") else xp.clip(x, 0, None)


def linear(weights: Weights, name: str, x: Array) -> Array:
    """:math:`W x + b` along the last axis, without b if there is none."""
    bias = weights.get(f"{name}.bias")
    flat = x.reshape(-1, x.shape[-1]) @ weights[f"{name}.weight"].T  # one product, not one a row
    if bias is not None:
        flat += bias  # in place: what is written anew costs more than the sum
    return flat.reshape(*x.shape[:-1], -1)


def masked_log_softmax(scores: Array, mask: Array, xp: Any) -> Array:
    """Natural logs of probabilities over the last axis; ``-inf`` where the mask is false.

    Every row of the mask has something true in it.
    """
    scores = xp.where(mask, scores, -xp.inf)
    shifted = scores - xp.max(scores, axis=-1, keepdims=True)
    return shifted - xp.log(xp.sum(xp.exp(shifted), axis=-1, keepdims=True))
