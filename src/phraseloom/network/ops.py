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
        pair = np.zeros((2, 2, width), np.float32)  # one row alone is added up in another way
        start = 0
        for size in schedule.sizes:
            step, state = gates[start : start + size], states[start : start + size]
            before = before[:size]  # (size, 2, H)
            if size == 1:
                pair[0] = before[0]
            rows_before = pair if size == 1 else before
            hidden = np.matmul(rows_before.transpose(1, 0, 2), matrices)[:, :size]  # (2, size, 3H)
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


_FEWEST_ROWS = 4  # of a product that is as exact as that of many
_NARROW = 128  # outputs; products with fewer are computed by the tile
_TILE = 8  # rows of a narrow product
_HYPOTHESES, _KEYS = 5, 16  # of a tile of `attend`


def product(rows: Array, matrix: Array, *, by_row: bool = False) -> Array:
    """Rows times the transpose of a matrix, ``(N, A)`` and ``(B, A)`` to ``(N, B)``.

    In NumPy a row's product is the same to the last bit whatever other rows there are, so that a
    document's scores do not depend on its batch. BLAS chooses how to add by the shape: it has ways
    of its own for few rows, and for small products. So few rows are filled up, and a matrix that is
    narrow is multiplied with tiles of rows, all of one shape.

    Args:
        rows: to be multiplied.
        matrix: with what.
        by_row: multiply each by itself: of one row that takes a tenth of the time of several. To be
            said where a document has one row whatever its batch.
    """
    if not isinstance(rows, np.ndarray):
        return rows @ matrix.T
    if by_row:
        return np.matmul(rows[:, None], matrix.T)[:, 0]
    count, is_narrow = len(rows), len(matrix) < _NARROW
    full = _fill(rows, 0, _TILE if is_narrow else 1)
    if len(full) < _FEWEST_ROWS:
        full = _fill(full, 0, _FEWEST_ROWS)
    if is_narrow:
        full = full.reshape(-1, _TILE, rows.shape[1])  # (N / tile, tile, A)
    return (full @ matrix.T).reshape(-1, len(matrix))[:count]


def linear(weights: Weights, name: str, x: Array, *, by_row: bool = False) -> Array:
    """:math:`W x + b` along the last axis, without b if there is none; see `product`."""
    bias, weight = weights.get(f"{name}.bias"), weights[f"{name}.weight"]
    flat = product(x.reshape(-1, x.shape[-1]), weight, by_row=by_row)
    if bias is not None:
        flat += bias  # in place: what is written anew costs more than the sum
    return flat.reshape(*x.shape[:-1], -1)


def fill_keys(keys: Array) -> Array:
    """Keys, ``(P, S, D)``, and some zeros: what `attend` would else add each time."""
    return _fill(keys, 1, _KEYS) if isinstance(keys, np.ndarray) else keys


def attend(queries: Array, keys: Array, slots: int, xp: Any) -> Array:
    """Every query times every key, ``(P, K, D)`` and ``(P, S', D)`` to ``(P, K, S)``.

    Tiles of one shape, as in `product`: K and S are those of the largest document of a batch.

    Args:
        queries: of each document.
        keys: of each document.
        slots: how many of the keys count, S.
        xp: the array-API namespace.
    """
    if not isinstance(queries, np.ndarray):
        return queries @ xp.matrix_transpose(keys)
    full, keys = _fill(queries, 1, _HYPOTHESES), fill_keys(keys)
    rows, width = len(full), full.shape[2]
    tiles = full.reshape(rows, -1, 1, _HYPOTHESES, width)
    of_keys = np.swapaxes(keys.reshape(rows, 1, -1, _KEYS, width), 3, 4)
    products = np.matmul(tiles, of_keys)  # (P, K / tile, S' / tile, tile, tile)
    whole = np.swapaxes(products, 2, 3).reshape(rows, full.shape[1], -1)  # (P, K', S')
    return whole[:, : queries.shape[1], :slots]


def _fill(array: Array, axis: int, multiple: int) -> Array:
    """An array with zeros added along an axis, up to a multiple."""
    length = array.shape[axis]
    missing = -length % multiple
    if not missing:
        return array
    shape = (*array.shape[:axis], length + missing, *array.shape[axis + 1 :])
    filled = np.zeros(shape, array.dtype)
    filled[(slice(None),) * axis + (slice(length),)] = array
    return filled


def masked_log_softmax(scores: Array, mask: Array, xp: Any) -> Array:
    """Natural logs of probabilities over the last axis; ``-inf`` where the mask is false.

    Every row of the mask has something true in it.
    """
    scores = xp.where(mask, scores, -xp.inf)
    shifted = scores - xp.max(scores, axis=-1, keepdims=True)
    return shifted - xp.log(_sum_last(xp.exp(shifted), xp))


def _sum_last(array: Array, xp: Any) -> Array:
    """The sum over the last axis, which is kept; in NumPy zeros at its end do not change a bit.

    NumPy's own order of adding depends on how many there are.
    """
    if not isinstance(array, np.ndarray):
        return xp.sum(array, axis=-1, keepdims=True)
    filled = _fill(array, array.ndim - 1, _KEYS)
    lanes = filled.reshape(*array.shape[:-1], -1, _KEYS).sum(axis=-2)  # one after the other
    return lanes.sum(axis=-1, keepdims=True)
