"""Where training begins: a deep stack of convolutions passes on what tells nodes apart."""

import pytest
import torch

from phraseloom.config import ModelConfig
from phraseloom.network.encoder import convolve, encode_tokens
from phraseloom.network.graph import collate
from phraseloom.network.ops import sigmoid
from phraseloom.train.initial import CONVOLUTION_GAIN, initial_weights
from phraseloom.train.ops import TorchOps, to_torch
from tests.builders import make_example, make_lexicon


def nodes_at_the_end(config: ModelConfig, gain: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Nodes of one document after all convolutions, and the first convolution's weights."""
    lexicon = make_lexicon()
    weights = initial_weights(config, lexicon, seed=0)
    with torch.no_grad():
        for name, weight in weights.items():
            if name.startswith("encoder.convolutions."):
                weight.mul_(gain)
    batch = to_torch(collate([make_example(0, tokens=40)], lexicon))
    ops = TorchOps()
    encoded = encode_tokens(weights, config, batch, ops)
    assert encoded.edge_scores is not None
    edges, layers = sigmoid(encoded.edge_scores.static, ops.xp), range(config.layers)
    sent = encoded.messages
    nodes = convolve(weights, config, batch.edges, edges, encoded.nodes, sent, layers, ops)
    return nodes, weights["encoder.convolutions.0.message.weight"]


@pytest.mark.parametrize("gain", [1.0, 1 / CONVOLUTION_GAIN], ids=["as drawn", "as usual"])
def test_a_deep_stack_tells_nodes_apart_and_its_first_layer_learns(gain: float) -> None:
    config = ModelConfig(width=64, word_width=32)

    nodes, first = nodes_at_the_end(config, gain)
    direction = torch.linspace(-1, 1, nodes.shape[1])
    (nodes @ direction).square().sum().backward()

    assert config.layers == 6
    assert first.grad is not None
    is_alive = float(nodes.detach().norm()) > 1e-1 and float(first.grad.norm()) > 1e-3
    assert is_alive == (gain == 1.0)


def test_a_network_that_adds_to_its_input_begins_as_ever() -> None:
    lexicon = make_lexicon()
    drawn, usual = (
        initial_weights(ModelConfig(width=16, residual=residual), lexicon, seed=0)
        for residual in (False, True)
    )
    for name, weight in drawn.items():
        is_wider = name.startswith("encoder.convolutions.")
        gain = CONVOLUTION_GAIN if is_wider and name.endswith("weight") else float(not is_wider)
        torch.testing.assert_close(weight, gain * usual[name])
