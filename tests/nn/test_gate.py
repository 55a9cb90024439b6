"""What must hold of the residual gated linear unit."""

import torch

from phraseloom.nn.gate import GatedLinear
from tests.nn.graphs import idle_parameters


def test_matches_the_equation_written_as_loops() -> None:
    torch.manual_seed(0)
    layer, nodes = GatedLinear(4), torch.randn(3, 4)
    expected = torch.empty(3, 4)
    for i in range(3):
        for d in range(4):
            value, gate = layer.value.weight[d] @ nodes[i], layer.gate.weight[d] @ nodes[i]
            expected[i, d] = nodes[i, d] + value / (1 + torch.exp(-gate))

    torch.testing.assert_close(layer(nodes), expected)


def test_each_node_is_gated_alone() -> None:
    layer, nodes = GatedLinear(4), torch.randn(3, 4)

    torch.testing.assert_close(torch.cat([layer(node[None]) for node in nodes]), layer(nodes))


def test_every_weight_learns() -> None:
    layer = GatedLinear(4)
    layer(torch.randn(3, 4)).square().sum().backward()

    assert idle_parameters(layer) == []
