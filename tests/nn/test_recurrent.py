"""The linear-time GRU is torch's GRU, forwards and backwards."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_sequence, unpack_sequence

from phraseloom.nn.recurrent import Schedule, _Recurrence, run_bidirectional, schedule_steps
from tests.nn.graphs import idle_parameters

LENGTHS = [[4], [3, 5, 1], [2, 2], [1, 1, 6, 2]]
every_batch = pytest.mark.parametrize("lengths", LENGTHS, ids=str)


def make_gru() -> nn.GRU:
    torch.manual_seed(0)
    return nn.GRU(5, 3, bidirectional=True)


def offsets_of(lengths: list[int]) -> Tensor:
    return torch.tensor([0, *lengths]).cumsum(0)


def run_torch(gru: nn.GRU, rows: Tensor, lengths: list[int]) -> Tensor:
    """The same by torch."""
    packed = pack_sequence(list(rows.split(lengths)), enforce_sorted=False)
    states, _ = gru(packed)
    return torch.cat(unpack_sequence(states))


@every_batch
def test_states_and_gradients_are_those_of_torch(lengths: list[int]) -> None:
    gru = make_gru()
    rows = torch.randn(sum(lengths), 5, requires_grad=True)
    inputs = [rows, *gru.parameters()]
    found = run_bidirectional(gru, rows, schedule_steps(offsets_of(lengths)))
    expected = run_torch(gru, rows, lengths)

    torch.testing.assert_close(found, expected)
    weights = torch.randn(found.shape)
    pairs = zip(
        torch.autograd.grad((found * weights).sum(), inputs),
        torch.autograd.grad((expected * weights).sum(), inputs),
        strict=True,
    )
    for of_found, of_expected in pairs:
        torch.testing.assert_close(of_found, of_expected)


def test_the_recurrence_has_the_gradient_of_its_differences() -> None:
    torch.manual_seed(0)
    schedule = schedule_steps(offsets_of([2, 3]))
    shapes = ((5, 12), (2, 6, 2), (2, 6))
    inputs = tuple(torch.randn(s, dtype=torch.double, requires_grad=True) for s in shapes)

    def run(*each: Tensor) -> Tensor:
        found: Tensor = _Recurrence.apply(*each, *schedule)  # type: ignore[no-untyped-call]  # torch
        return found

    assert torch.autograd.gradcheck(run, inputs)


@every_batch
def test_documents_do_not_touch(lengths: list[int]) -> None:
    gru, rows = make_gru(), torch.randn(sum(lengths), 5)

    together = run_bidirectional(gru, rows, schedule_steps(offsets_of(lengths)))

    for found, alone in zip(together.split(lengths), rows.split(lengths), strict=True):
        schedule = schedule_steps(offsets_of([len(alone)]))
        torch.testing.assert_close(found, run_bidirectional(gru, alone, schedule))


@every_batch
def test_every_row_is_read_once_in_each_direction(lengths: list[int]) -> None:
    schedule: Schedule = schedule_steps(offsets_of(lengths))

    for order in schedule.orders:
        assert sorted(order.tolist()) == list(range(sum(lengths)))
    assert schedule.sizes == [sum(n > t for n in lengths) for t in range(max(lengths))]


def test_every_weight_learns() -> None:
    gru = make_gru()
    schedule = schedule_steps(offsets_of([3, 4]))
    run_bidirectional(gru, torch.randn(7, 5), schedule).square().sum().backward()

    assert idle_parameters(gru) == []
