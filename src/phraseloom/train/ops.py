"""The six operations of `phraseloom.network.ops` for torch, with gradients.

The autograd of `torch.sparse` and of ``index_add`` either densifies or scatters; the sums over
graphs here know the inverse of their own pattern and only ever gather. Torch's own GRU slices one
tensor per time step when sequences are packed, and the backward pass of every slice fills and adds
a tensor as large as the whole batch; here both directions step together, and only what one step
owes to the next is inside the loop (see benchmarks/README.md).
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, wraps
from typing import Any, TypeVar

import array_api_compat.torch as xp
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.amp import custom_fwd
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from phraseloom.network.graph import Edges, Groups, Schedule

Forward = TypeVar("Forward", bound=Callable[..., Any])
Part = TypeVar("Part")


CPU = torch.device("cpu")


def to_torch(part: Part, device: torch.device = CPU) -> Part:
    """The same index arrays as tensors, through nested dataclasses."""
    if isinstance(part, np.ndarray):
        return as_tensor(part, device)  # type: ignore[return-value]
    if is_dataclass(part) and not isinstance(part, type):
        values = {f.name: to_torch(getattr(part, f.name), device) for f in fields(part)}
        return type(part)(**values)
    if isinstance(part, Schedule):
        return Schedule(to_torch(part.orders, device), part.sizes)  # type: ignore[return-value]
    return part


def as_tensor(array: NDArray[Any], device: torch.device = CPU) -> Tensor:
    """An array on a device: on the CPU not copied, to a GPU from pinned memory, as it computes."""
    tensor = torch.from_numpy(array)
    if device.type == "cuda" and torch.cuda.is_available():
        tensor = tensor.pin_memory()
    return tensor.to(device, non_blocking=True)


def as_arrays(weights: Mapping[str, Tensor]) -> dict[str, NDArray[np.float32]]:
    """Weights as NumPy sees them: to extract with, or to save. Those on the CPU are not copied."""
    return {name: weight.detach().cpu().numpy() for name, weight in weights.items()}


class TorchOps:
    """The six operations for training."""

    xp: Any = xp

    def __init__(self, *, dropout: float = 0.0) -> None:
        self._dropout = dropout

    def gru_scan(
        self, inputs: Tensor, weights: Tensor, biases: Tensor, schedule: Schedule
    ) -> Tensor:
        return _GruScan.apply(inputs, weights, biases, *schedule)  # type: ignore[no-untyped-call]

    def graph_product(self, edges: Edges, weights: Tensor, nodes: Tensor) -> Tensor:
        pattern = (edges.into.offsets, edges.sources, edges.targets, edges.reverse)
        return _GraphProduct.apply(weights, nodes, *pattern)  # type: ignore[no-untyped-call]

    def segment_mean(self, rows: Tensor, groups: Groups) -> Tensor:
        return _SegmentMean.apply(rows, groups.rows, groups.offsets)  # type: ignore[no-untyped-call]

    def gather_rows(self, table: Tensor, index: Tensor) -> Tensor:
        if len(table) > len(index):
            return F.embedding(index, table)
        return _GatherRows.apply(table, index)  # type: ignore[no-untyped-call]

    def bag_mean(self, table: Tensor, groups: Groups) -> Tensor:
        return F.embedding_bag(groups.rows, table, groups.offsets[:-1], mode="mean")

    def dropout(self, array: Tensor) -> Tensor:
        return F.dropout(array, self._dropout) if self._dropout else array


def float32_forward(forward: Forward) -> Forward:
    """Decorate the forward pass of an autograd function: under autocast it still gets 32 bits."""
    by_device = {
        name: custom_fwd(forward, device_type=name, cast_inputs=torch.float32)
        for name in ("cpu", "cuda", "mps")
    }

    @wraps(forward)
    def run(ctx: Any, first: Tensor, *others: Any) -> Any:
        known = by_device.get(first.device.type, by_device["cpu"])
        return known(ctx, first, *others)

    return run  # type: ignore[return-value]


def _group_sums(rows: Tensor, index: Tensor, offsets: Tensor, weights: Any = None) -> Tensor:
    """Sum of ``weight * rows[index]`` over each stretch of ``offsets``."""
    return F.embedding_bag(index, rows, offsets[:-1], mode="sum", per_sample_weights=weights)


class _GraphProduct(torch.autograd.Function):
    @staticmethod
    @float32_forward
    def forward(
        ctx: Any,
        weights: Tensor,
        nodes: Tensor,
        offsets: Tensor,
        sources: Tensor,
        targets: Tensor,
        reverse: Tensor,
    ) -> Tensor:
        ctx.save_for_backward(weights, nodes, offsets, sources, targets, reverse)
        return _group_sums(nodes, sources, offsets, weights)  # (N, D)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        weights, nodes, offsets, sources, targets, reverse = ctx.saved_tensors
        gradient = gradient.contiguous()
        of_nodes = of_weights = None
        if ctx.needs_input_grad[1]:
            of_nodes = _group_sums(gradient, sources, offsets, weights[reverse])  # (N, D)
        if ctx.needs_input_grad[0]:
            of_weights = _edge_products(gradient, nodes, offsets, sources, targets)  # (E,)
        return of_weights, of_nodes, None, None, None, None


def _edge_products(
    left: Tensor, right: Tensor, offsets: Tensor, sources: Tensor, targets: Tensor
) -> Tensor:
    """Dot product of ``left[i]`` and ``right[j]`` for every edge from j to i, ``(E,)``."""
    if left.device.type != "cpu" or not torch.backends.mkl.is_available():
        return (left[targets] * right[sources]).sum(1)
    _silence_beta_warning()
    pattern = torch.sparse_csr_tensor(
        offsets.int(), sources.int(), left.new_zeros(len(sources)), (len(left), len(right))
    )
    return torch.sparse.sampled_addmm(pattern, left, right.t(), beta=0.0).values()


@cache
def _silence_beta_warning() -> None:
    """Torch says once per process that CSR is in beta; let it say so here, unheard."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.sparse_csr_tensor(torch.tensor([0, 0]), torch.tensor([]).int(), torch.tensor([]))


class _GatherRows(torch.autograd.Function):
    @staticmethod
    @float32_forward
    def forward(ctx: Any, rows: Tensor, index: Tensor) -> Tensor:
        ctx.save_for_backward(index)
        ctx.size = len(rows)
        return rows.index_select(0, index)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        (index,) = ctx.saved_tensors
        ordered, order = index.sort(stable=True)
        rows = torch.arange(ctx.size + 1, device=index.device)
        offsets = torch.searchsorted(ordered, rows)  # (V + 1,), known without asking the device
        return _group_sums(gradient.contiguous(), order, offsets), None


class _SegmentMean(torch.autograd.Function):
    @staticmethod
    @float32_forward
    def forward(ctx: Any, rows: Tensor, order: Tensor, offsets: Tensor) -> Tensor:
        counts = offsets.diff()  # (M,)
        ctx.save_for_backward(order, counts)
        return _group_sums(rows, order, offsets) / counts[:, None]  # (M, D)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        order, counts = ctx.saved_tensors
        group_of = torch.empty_like(order)
        groups = torch.arange(len(counts), device=order.device)
        group_of[order] = groups.repeat_interleave(counts, output_size=len(order))
        return (gradient / counts[:, None]).index_select(0, group_of), None, None


class _GruScan(torch.autograd.Function):
    r"""Reset gate r, update gate z and candidate n of each step, from the state h before it.

    .. math::
        r = \sigma(i_r + g_r), \quad z = \sigma(i_z + g_z), \quad n = \tanh(i_n + r\, g_n),
        \quad h' = n + z (h - n), \qquad g = W h + b
    """

    @staticmethod
    @float32_forward
    def forward(
        ctx: Any, inputs: Tensor, weights: Tensor, biases: Tensor, orders: Tensor, sizes: list[int]
    ) -> Tensor:
        width, rows = weights.shape[2], len(inputs)
        gates = _by_step(inputs.view(rows, 2, 3 * width), orders)  # (2, N, 3H), becomes r, z, n
        before, recurrent = (inputs.new_empty(2, rows, width) for _ in range(2))  # h, g_n
        states = inputs.new_empty(2, rows, width)
        state = inputs.new_zeros(2, sizes[0], width)
        matrices = weights.transpose(1, 2).contiguous()  # (2, H, 3H)
        start = 0
        for size in sizes:
            step, state = slice(start, start + size), state[:, :size]
            reset_update, candidate = gates[:, step].split([2 * width, width], 2)
            hidden = torch.baddbmm(biases[:, None], state, matrices)  # (2, size, 3H)
            reset_update.add_(hidden[..., : 2 * width]).sigmoid_()
            reset, update = reset_update.chunk(2, 2)  # (2, size, H)
            candidate.addcmul_(reset, hidden[..., 2 * width :]).tanh_()
            before[:, step] = state
            recurrent[:, step] = hidden[..., 2 * width :]
            state = torch.lerp(candidate, state, update)  # (2, size, H)
            states[:, step] = state
            start += size
        ctx.save_for_backward(gates, before, recurrent, weights, orders)
        ctx.sizes = sizes
        return _by_row(states, orders).flatten(1)  # (N, 2H)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        gates, before, recurrent, weights, orders = ctx.saved_tensors
        width, rows = weights.shape[2], len(gradient)
        reset, update, candidate = gates.chunk(3, 2)  # (2, N, H)
        of_states = _by_step(gradient.view(rows, 2, width), orders)  # (2, N, H)
        per_candidate = (1 - update) * (1 - candidate * candidate)  # of n's argument, per h'
        per_update = (before - candidate) * update * (1 - update)  # of z's argument, per h'
        per_reset = recurrent * reset * (1 - reset)  # of r's argument, per n's
        of_hidden = torch.empty_like(gates)  # (2, N, 3H), of g
        of_candidate = torch.empty_like(before)  # (2, N, H), of i_n
        carried = gradient.new_zeros(2, ctx.sizes[0], width)
        start = rows
        for size in reversed(ctx.sizes):
            step, start = slice(start - size, start), start - size
            of_state = of_states[:, step] + carried[:, :size]  # (2, size, H)
            of_argument = of_state * per_candidate[:, step]  # (2, size, H)
            of_candidate[:, step] = of_argument
            of_gates = [of_argument * per_reset[:, step], of_state * per_update[:, step]]
            of_step = torch.cat([*of_gates, of_argument * reset[:, step]], 2)  # (2, size, 3H)
            of_hidden[:, step] = of_step
            carried[:, :size] = torch.baddbmm(of_state * update[:, step], of_step, weights)
        of_weights = torch.bmm(of_hidden.transpose(1, 2), before)  # (2, 3H, H)
        of_biases = of_hidden.sum(1)  # (2, 3H)
        of_hidden[..., 2 * width :] = of_candidate
        return _by_row(of_hidden, orders).flatten(1), of_weights, of_biases, None, None


def _by_step(rows: Tensor, orders: Tensor) -> Tensor:
    """Both directions of ``(N, 2, D)`` in the order of reading, ``(2, N, D)``."""
    return torch.stack([rows[:, way].index_select(0, order) for way, order in enumerate(orders)])


def _by_row(steps: Tensor, orders: Tensor) -> Tensor:
    """Undo `_by_step`: ``(2, N, D)`` to ``(N, 2, D)``."""
    rows = steps.new_empty(steps.shape[1], 2, steps.shape[2])
    for way, order in enumerate(orders):
        rows[order, way] = steps[way]
    return rows
