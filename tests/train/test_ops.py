"""The operations of training: what NumPy's give, and gradients that equal those of loops."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_sequence, unpack_sequence

from phraseloom.network.encoder import bigru
from phraseloom.network.graph import Edges, Groups, offsets_of, schedule_steps
from phraseloom.network.ops import masked_log_softmax
from phraseloom.train import ops as module
from phraseloom.train.ops import TorchOps, as_arrays, to_torch
from tests.network.graphs import make_edges

OPS = TorchOps()
LENGTHS = [[4], [3, 5, 1], [2, 2], [1, 1, 6, 2]]
GROUPS = to_torch(Groups(np.array([1, 5, 0, 2, 4, 3]), np.array([0, 2, 5, 6])))
"""Rows 1 and 5; 0, 2 and 4; 3."""


def leaf(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.double, generator=generator).requires_grad_()


def single(*tensors: Tensor) -> list[Tensor]:
    """The same numbers in the precision of training."""
    return [tensor.detach().float().requires_grad_() for tensor in tensors]


def assert_same_gradients(result: Tensor, expected: Tensor, inputs: Sequence[Tensor]) -> None:
    """Two expressions of the same inputs have the same value and the same gradients."""
    torch.testing.assert_close(result, expected)
    weights = torch.randn(result.shape, generator=torch.Generator().manual_seed(0)).to(result)
    pairs = zip(
        torch.autograd.grad((result * weights).sum(), inputs),
        torch.autograd.grad((expected * weights).sum(), inputs),
        strict=True,
    )
    for gradient, of_expected in pairs:
        torch.testing.assert_close(gradient, of_expected)


def dense(edges: Edges, weights: Tensor) -> Tensor:
    size = len(edges.into.offsets) - 1
    return weights.new_zeros(size, size).index_put((edges.targets, edges.sources), weights)


@pytest.mark.parametrize(("seed", "nodes"), [(0, 1), (1, 2), (2, 7), (3, 12)])
def test_a_graph_product_equals_the_dense_one(seed: int, nodes: int) -> None:
    edges = to_torch(make_edges(seed, nodes))
    weights, states = single(leaf(len(edges.sources)), leaf(nodes, 5, seed=1))

    product = OPS.graph_product(edges, weights, states)

    assert_same_gradients(product, dense(edges, weights) @ states, [weights, states])


def test_a_segment_mean_equals_the_mean_of_each_group() -> None:
    (rows,) = single(leaf(6, 3))
    expected = torch.stack([rows[[1, 5]].mean(0), rows[[0, 2, 4]].mean(0), rows[3]])

    assert_same_gradients(OPS.segment_mean(rows, GROUPS), expected, [rows])


@pytest.mark.parametrize("size", [4, 20], ids=["few rows", "many rows"])
def test_gathering_rows_equals_indexing(size: int) -> None:
    (table,) = single(leaf(size, 3))
    index = torch.tensor([3, 0, 0, 2, 3, 3])

    assert_same_gradients(OPS.gather_rows(table, index), table[index], [table])


def test_a_bag_equals_the_mean_of_its_rows_and_is_zero_without_any() -> None:
    (table,) = single(leaf(4, 3))
    groups = to_torch(Groups(np.array([3, 0, 3]), np.array([0, 2, 2, 3])))
    expected = torch.stack([table[[3, 0]].mean(0), torch.zeros(3), table[3]])

    assert_same_gradients(OPS.bag_mean(table, groups), expected, [table])


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
def test_a_scan_has_the_states_and_gradients_of_torch(lengths: list[int]) -> None:
    torch.manual_seed(0)
    gru = nn.GRU(5, 3, bidirectional=True)
    rows = torch.randn(sum(lengths), 5, requires_grad=True)
    weights = {f"encoder.context.{name}": weight for name, weight in gru.named_parameters()}
    offsets = offsets_of(np.array(lengths))
    parts = {"schedule": to_torch(schedule_steps(offsets)), "node_offsets": offsets}
    batch: Any = type("Batch", (), parts)

    states = bigru(weights, rows, batch, OPS)

    packed, _ = gru(pack_sequence(list(rows.split(lengths)), enforce_sorted=False))
    expected = torch.cat(unpack_sequence(packed))
    assert_same_gradients(states, expected, [rows, *gru.parameters()])


EDGES = to_torch(make_edges(5, 6))
SCHEDULE = to_torch(schedule_steps(offsets_of(np.array([2, 3]))))
DIFFERENTIABLE: dict[str, tuple[Callable[..., Tensor], list[tuple[int, ...]]]] = {
    "graph product": (
        lambda weights, nodes: OPS.graph_product(EDGES, weights, nodes),
        [(len(EDGES.sources),), (6, 3)],
    ),
    "segment mean": (lambda rows: OPS.segment_mean(rows, GROUPS), [(6, 2)]),
    "gathered rows": (lambda rows: OPS.gather_rows(rows, torch.tensor([3, 0, 0, 2])), [(4, 2)]),
    "scan": (
        lambda inputs, weights, biases: OPS.gru_scan(inputs, weights, biases, SCHEDULE),
        [(5, 12), (2, 6, 2), (2, 6)],
    ),
}


@pytest.mark.parametrize(
    ("operation", "shapes"), DIFFERENTIABLE.values(), ids=DIFFERENTIABLE.keys()
)
def test_a_gradient_is_that_of_small_differences(
    operation: Callable[..., Tensor],
    shapes: list[tuple[int, ...]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inputs = tuple(leaf(*shape, seed=seed) for seed, shape in enumerate(shapes))

    assert torch.autograd.gradcheck(operation, inputs)


def test_without_mkl_the_products_at_the_edges_are_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    edges = to_torch(make_edges(3, 8))
    left, right = torch.randn(8, 5), torch.randn(8, 5)
    pattern = (edges.into.offsets, edges.sources, edges.targets)
    products = [module._edge_products(left, right, *pattern)]
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: False)
    products.append(module._edge_products(left, right, *pattern))

    expected = (left @ right.t())[edges.targets, edges.sources]
    for of_edges in products:
        torch.testing.assert_close(of_edges, expected)


def test_gradients_reach_only_what_asks_for_them() -> None:
    edges = to_torch(make_edges(3, 5))
    weights, nodes = torch.randn(len(edges.sources)), torch.randn(5, 4)
    learned_weights, learned_nodes = weights.clone(), nodes.clone()
    OPS.graph_product(edges, learned_weights.requires_grad_(), nodes).sum().backward()
    OPS.graph_product(edges, weights, learned_nodes.requires_grad_()).sum().backward()

    assert learned_weights.grad is not None and learned_nodes.grad is not None
    assert weights.grad is None and nodes.grad is None


def test_what_is_masked_neither_matters_nor_spoils_the_gradient() -> None:
    scores = torch.tensor([[1.0, 2.0, 1e30], [0.5, -1.0, -1e30]], requires_grad=True)
    mask = torch.tensor([[True, True, False], [True, True, False]])

    log_probs = masked_log_softmax(scores, mask, OPS.xp)
    log_probs[:, :2].exp().square().sum().backward()

    assert scores.grad is not None
    expected = scores.detach()[:, :2].clone().requires_grad_()
    expected.log_softmax(1).exp().square().sum().backward()
    torch.testing.assert_close(scores.grad[:, :2], expected.grad)
    assert scores.grad[:, 2].tolist() == [0, 0]
    assert log_probs[:, 2].isinf().all()


def test_dropout_zeroes_a_share_and_keeps_the_mean() -> None:
    torch.manual_seed(0)
    array = torch.ones(10_000)

    dropped = TorchOps(dropout=0.3).dropout(array)

    assert float((dropped == 0).float().mean()) == pytest.approx(0.3, abs=0.02)
    assert float(dropped.mean()) == pytest.approx(1.0, abs=0.02)
    assert TorchOps().dropout(array) is array


def test_arrays_and_tensors_are_one_memory() -> None:
    array = np.zeros(3, np.float32)
    tensor: Any = to_torch(array)
    tensor[0] = 1

    assert array.tolist() == [1, 0, 0]
    assert as_arrays({"w": tensor})["w"].ctypes.data == array.ctypes.data
