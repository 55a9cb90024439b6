"""What must hold of a graph convolution, whatever its weights."""

import numpy as np
import pytest
import torch

from phraseloom.nn.gcn import GraphConvolution
from tests.nn.graphs import dense, idle_parameters, make_pattern, pattern_of

HEADS = np.array([1, 1, 1, 2, 4])


@pytest.fixture(params=[False, True], ids=["plain", "residual"])
def layer(request: pytest.FixtureRequest) -> GraphConvolution:
    torch.manual_seed(0)
    return GraphConvolution(6, residual=request.param)


def test_matches_the_equation_written_as_loops(layer: GraphConvolution) -> None:
    pattern = pattern_of(HEADS)
    nodes, weights = torch.randn(5, 6), torch.rand(len(pattern.columns))
    matrix = dense(pattern, weights)
    expected = torch.zeros(5, 6)
    for i in range(5):
        total = torch.zeros(6)
        for j in range(5):
            total += matrix[i, j] * (layer.message.weight @ nodes[j] + layer.message.bias)
        expected[i] = total.relu() + (nodes[i] if layer.residual else 0)

    torch.testing.assert_close(layer(pattern, weights, nodes), expected)


def test_graphs_in_one_batch_do_not_touch(layer: GraphConvolution) -> None:
    pattern, both = pattern_of(HEADS), pattern_of(np.concatenate([HEADS, HEADS + 5]))
    nodes, weights = torch.randn(2, 5, 6), torch.rand(2, len(pattern.columns))

    together = layer(both, weights.flatten(), nodes.flatten(0, 1))

    for graph in range(2):
        alone = layer(pattern, weights[graph], nodes[graph])
        torch.testing.assert_close(together[5 * graph : 5 * graph + 5], alone)


def test_renumbering_the_nodes_renumbers_the_output(layer: GraphConvolution) -> None:
    order = np.array([3, 0, 4, 1, 2])  # new node n is old node order[n]
    place = np.argsort(order)
    pattern, moved = pattern_of(HEADS), pattern_of(place[HEADS[order]])
    nodes, weights = torch.randn(5, 6), torch.rand(len(pattern.columns))
    matrix = dense(pattern, weights)[order][:, order]

    torch.testing.assert_close(
        layer(moved, matrix[moved.rows, moved.columns], nodes[order]),
        layer(pattern, weights, nodes)[order],
    )


def test_the_two_halves_of_a_round_make_the_whole(layer: GraphConvolution) -> None:
    pattern, nodes = make_pattern(1, 6), torch.randn(6, 6)
    weights = torch.rand(len(pattern.columns))

    halves = layer.receive(pattern, weights, layer.messages(nodes), nodes)

    assert torch.equal(halves, layer(pattern, weights, nodes))


def test_every_weight_learns(layer: GraphConvolution) -> None:
    pattern = pattern_of(HEADS)
    layer(pattern, torch.rand(len(pattern.columns)), torch.randn(5, 6)).square().sum().backward()

    assert idle_parameters(layer) == []
