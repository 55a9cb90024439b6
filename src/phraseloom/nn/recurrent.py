"""A bidirectional GRU over packed documents whose cost grows linearly with their length.

Torch's own GRU slices one tensor per time step when sequences are packed, and the backward pass of
every slice fills and adds a tensor as large as the whole batch (see benchmarks/README.md). Here
both directions step together, and only what one step owes to the next is inside the loop.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from phraseloom.nn.precision import in_full


class Schedule(NamedTuple):
    """When each row is read: at step t, the t-th rows of all documents that have one."""

    orders: Tensor
    """Rows in the order of reading, forwards and backwards, ``(2, N)``; long documents first."""
    sizes: list[int]
    """Rows that are read at each step; they never grow."""


def schedule_steps(offsets: Tensor) -> Schedule:
    """Schedule of the documents whose rows are ``offsets[b]:offsets[b + 1]``, ``(B + 1,)``."""
    lengths = offsets.diff()  # (B,)
    rank = lengths.argsort(descending=True, stable=True).argsort()  # (B,)
    rows = torch.arange(int(offsets[-1]))  # (N,)
    forwards = rows - offsets[:-1].repeat_interleave(lengths)  # (N,)
    backwards = offsets[1:].repeat_interleave(lengths) - 1 - rows  # (N,)
    steps = torch.stack([forwards, backwards])  # (2, N)
    orders = (steps * len(lengths) + rank.repeat_interleave(lengths)).argsort(1)  # (2, N)
    return Schedule(orders, forwards.bincount().tolist())


def run_bidirectional(gru: nn.GRU, rows: Tensor, schedule: Schedule) -> Tensor:
    """States of a one-layer bidirectional GRU with torch's weights, ``(N, D_e)`` to ``(N, D)``."""
    of_input, of_state, input_bias, state_bias = zip(*gru.all_weights, strict=True)
    inputs = F.linear(rows, torch.cat(of_input), torch.cat(input_bias))  # (N, 2 * 3H)
    return _Recurrence.apply(  # type: ignore[no-untyped-call]  # torch
        inputs, torch.stack(of_state), torch.stack(state_bias), *schedule
    )  # (N, 2H)


class _Recurrence(torch.autograd.Function):
    r"""Reset gate r, update gate z and candidate n of each step, from the state h before it.

    .. math::
        r = \sigma(i_r + g_r), \quad z = \sigma(i_z + g_z), \quad n = \tanh(i_n + r\, g_n),
        \quad h' = n + z (h - n), \qquad g = W h + b
    """

    @staticmethod
    @in_full
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
            of_step = torch.cat(
                [
                    of_argument * per_reset[:, step],
                    of_state * per_update[:, step],
                    of_argument * reset[:, step],
                ],
                2,
            )  # (2, size, 3H)
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
