"""Sparse products over packed graphs, with backward passes that stay sparse.

The autograd of `torch.sparse` and of ``index_add`` either densifies or scatters; these three
functions know the inverse of their own pattern and only ever gather (see benchmarks/README.md).
"""

import warnings
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from phraseloom.nn.precision import in_full


class Pattern(NamedTuple):
    """Where a symmetric ``(N, N)`` matrix has entries, in CSR order.

    Entries of row i are ``offsets[i]:offsets[i + 1]``. The matrix has an entry (j, i) wherever it
    has (i, j); ``reverse`` gives its place, so ``values[reverse]`` are the transposed values.
    """

    offsets: Tensor
    """``(N + 1,)``, int64."""
    columns: Tensor
    """``(E,)``, int64."""
    rows: Tensor
    """``(E,)``, int64."""
    reverse: Tensor
    """``(E,)``, int64."""


def matrix_product(pattern: Pattern, values: Tensor, nodes: Tensor) -> Tensor:
    r"""Row i becomes :math:`\sum_j A_{ij} x_j`, for values ``(E,)`` and nodes ``(N, D)``."""
    return _MatrixProduct.apply(values, nodes, *pattern)  # type: ignore[no-untyped-call]  # torch


def gather_rows(nodes: Tensor, index: Tensor, order: Tensor, offsets: Tensor) -> Tensor:
    """``nodes[index]`` with a backward pass that sums instead of scattering.

    Args:
        nodes: ``(N, D)``.
        index: row to copy, ``(N',)``.
        order: places of ``index`` sorted by what they copy, ``(N',)``.
        offsets: where the copies of each row begin in ``order``, ``(N + 1,)``.
    """
    return _GatherRows.apply(nodes, index, order, offsets)  # type: ignore[no-untyped-call]  # torch


def segment_mean(nodes: Tensor, segment_of: Tensor, order: Tensor, offsets: Tensor) -> Tensor:
    """Mean of the rows of each segment; every row is in exactly one and no segment is empty.

    Args:
        nodes: ``(N, D)``.
        segment_of: segment of each row, ``(N,)``.
        order: rows sorted by segment, ``(N,)``.
        offsets: where each segment begins in ``order``, ``(M + 1,)``.

    Returns:
        Means, ``(M, D)``.
    """
    return _SegmentMean.apply(nodes, segment_of, order, offsets)  # type: ignore[no-untyped-call]  # torch


def _bag(rows: Tensor, index: Tensor, offsets: Tensor, weights: Tensor | None = None) -> Tensor:
    """Sum of ``weights * rows[index]`` over each stretch of ``offsets``."""
    return F.embedding_bag(index, rows, offsets[:-1], mode="sum", per_sample_weights=weights)


class _MatrixProduct(torch.autograd.Function):
    @staticmethod
    @in_full
    def forward(
        ctx: Any,
        values: Tensor,
        nodes: Tensor,
        offsets: Tensor,
        columns: Tensor,
        rows: Tensor,
        reverse: Tensor,
    ) -> Tensor:
        ctx.save_for_backward(values, nodes, offsets, columns, rows, reverse)
        return _bag(nodes, columns, offsets, values)  # (N, D)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        values, nodes, offsets, columns, rows, reverse = ctx.saved_tensors
        gradient = gradient.contiguous()
        of_nodes = of_values = None
        if ctx.needs_input_grad[1]:
            of_nodes = _bag(gradient, columns, offsets, values[reverse])  # (N, D)
        if ctx.needs_input_grad[0]:
            of_values = _entry_products(gradient, nodes, offsets, columns, rows)  # (E,)
        return of_values, of_nodes, None, None, None, None


def _entry_products(
    left: Tensor, right: Tensor, offsets: Tensor, columns: Tensor, rows: Tensor
) -> Tensor:
    """Dot product of ``left[i]`` and ``right[j]`` at every entry (i, j), ``(E,)``."""
    if not torch.backends.mkl.is_available():  # pragma: no cover
        return (left[rows] * right[columns]).sum(1)
    _silence_beta_warning()
    pattern = torch.sparse_csr_tensor(
        offsets.int(), columns.int(), left.new_zeros(len(columns)), (len(left), len(right))
    )
    return torch.sparse.sampled_addmm(pattern, left, right.t(), beta=0.0).values()


@cache
def _silence_beta_warning() -> None:
    """Torch says once per process that CSR is in beta; say it here, unheard."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.sparse_csr_tensor(torch.tensor([0, 0]), torch.tensor([]).int(), torch.tensor([]))


class _GatherRows(torch.autograd.Function):
    @staticmethod
    @in_full
    def forward(ctx: Any, nodes: Tensor, index: Tensor, order: Tensor, offsets: Tensor) -> Tensor:
        ctx.save_for_backward(order, offsets)
        return nodes.index_select(0, index)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        order, offsets = ctx.saved_tensors
        return _bag(gradient.contiguous(), order, offsets), None, None, None


class _SegmentMean(torch.autograd.Function):
    @staticmethod
    @in_full
    def forward(
        ctx: Any, nodes: Tensor, segment_of: Tensor, order: Tensor, offsets: Tensor
    ) -> Tensor:
        sizes = offsets.diff().to(nodes.dtype)[:, None]  # (M, 1)
        ctx.save_for_backward(segment_of, sizes)
        return _bag(nodes, order, offsets) / sizes  # (M, D)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        segment_of, sizes = ctx.saved_tensors
        return (gradient / sizes).index_select(0, segment_of), None, None, None
