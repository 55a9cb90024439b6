"""The seam between the equations and what computes them: six operations.

The equations are written in what NumPy and the array-API view of torch spell alike, through
``ops.xp``. What the two cannot spell alike is here for NumPy and in `phraseloom.train.ops` for
torch, with gradients. Index arrays come from `phraseloom.network.graph`.

Below them are products and functions that both compute alike, but for the order in which NumPy
adds: that must not depend on what else is in the batch.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
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
        widened = self.steps[index].astype(np.float32)
        widened *= self.scales[index]
        return widened

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
        is_steady = _adds_rows_alike(width, 3 * width, 2)
        start = 0
        for size in schedule.sizes:
            step, state = gates[start : start + size], states[start : start + size]
            before = before[:size]  # (size, 2, H)
            hidden = _multiply_states(before, matrices, is_steady=is_steady)  # (2, size, 3H)
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


def _multiply_states(states: Array, matrices: Array, *, is_steady: bool) -> Array:
    """States of both directions times their matrices, ``(size, 2, H)`` to ``(2, size, 3H)``.

    Each state's product is the same whatever others there are, as in `product`; see
    `_adds_rows_alike` for ``is_steady``.
    """
    rows = states.transpose(1, 0, 2)  # (2, size, H)
    if not is_steady:
        return np.matmul(rows[:, :, None], matrices[:, None])[:, :, 0]
    if len(states) > 1:
        return np.matmul(rows, matrices)
    pair = np.zeros((2, 2, rows.shape[2]), np.float32)  # one row alone is added up in another way
    pair[:, :1] = rows
    return np.matmul(pair, matrices)[:, :1]


@cache
def _adds_rows_alike(inputs: int, outputs: int, fewest: int) -> bool:
    """Does BLAS add up all rows of a product in one order, however many there are from some on?

    That depends on the processor; here it is tried with rows that are the same.
    """
    rows = np.tile(np.sin(np.arange(inputs, dtype=np.float32)), (100, 1))
    matrix = np.cos(np.arange(inputs * outputs, dtype=np.float32)).reshape(inputs, outputs)
    row = (rows[:fewest] @ matrix)[0]
    return all((rows[:count] @ matrix == row).all() for count in (fewest, 5, 7, 12, 25, 40, 100))


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
    if hasattr(xp, "sigmoid"):
        return xp.sigmoid(x)
    half = 0.5 * x  # from here in place: to write a large array anew costs more than the sum
    xp.tanh(half, out=half)
    half *= 0.5
    half += 0.5
    return half


def relu(x: Array, xp: Any) -> Array:
    r""":math:`\max(x, 0)`; torch's own has a backward pass three times as fast as that of clip."""
    return xp.relu(x) if hasattr(xp, "relu") else xp.maximum(x, xp.float32(0))


_FEWEST_ROWS = 4  # of a product that is as exact as that of many
_NARROW = 128  # outputs; products with fewer are computed by the tile
_TILE = 8  # rows of a product
_HYPOTHESES, _KEYS = 5, 16  # of a tile of `attend`


def product(
    rows: Array, matrix: Array, bounds: Array | None = None, *, by_row: bool = False
) -> Array:
    """Rows times the transpose of a matrix, ``(N, A)`` and ``(B, A)`` to ``(N, B)``.

    In NumPy a row's product is the same to the last bit whatever documents there are beside its
    own, so that a document's scores do not depend on its batch. BLAS chooses how to add by the
    shape: it has ways of its own for few rows, for narrow matrices and, on some processors, by
    where a row stands. There documents are multiplied one by one; where their rows are few, or how
    many depends on others, all rows are cut into tiles, all of one shape, and so small that their
    rows are added up alike.

    Args:
        rows: to be multiplied.
        matrix: with what.
        bounds: where the rows of each document begin, and where the last ones end; none: by tiles.
        by_row: multiply each by itself: of one row that takes a tenth of the time of several. To be
            said where a document has one row whatever its batch.
    """
    if not isinstance(rows, np.ndarray):
        return rows @ matrix.T
    if by_row:
        return np.matmul(rows[:, None], matrix.T)[:, 0]
    if len(matrix) >= _NARROW and _adds_rows_alike(*matrix.T.shape, _FEWEST_ROWS):
        full = rows if len(rows) >= _FEWEST_ROWS else _fill(rows, 0, _FEWEST_ROWS)
        return (full @ matrix.T)[: len(rows)]
    if bounds is not None:
        products = np.empty((len(rows), len(matrix)), rows.dtype)
        for start, end in pairwise(bounds.tolist()):
            np.matmul(rows[start:end], matrix.T, out=products[start:end])
        return products
    tiles = _fill(rows, 0, _TILE).reshape(-1, _TILE, rows.shape[1])  # (N / tile, tile, A)
    return (tiles @ matrix.T).reshape(-1, len(matrix))[: len(rows)]


def linear(
    weights: Weights, name: str, x: Array, bounds: Array | None = None, *, by_row: bool = False
) -> Array:
    """:math:`W x + b` along the last axis, without b if there is none; see `product`."""
    bias, weight = weights.get(f"{name}.bias"), weights[f"{name}.weight"]
    flat = product(x.reshape(-1, x.shape[-1]), weight, bounds, by_row=by_row)
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
