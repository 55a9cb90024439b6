"""What must hold of graph convolutions, whatever their weights."""

import numpy as np
import pytest

from phraseloom.config import ModelConfig
from phraseloom.network.encoder import convolve, messages
from phraseloom.network.graph import Edges
from phraseloom.network.ops import NUMPY
from tests.builders import TINY, make_lexicon, make_weights
from tests.network.graphs import Floats, assert_close, draw, edges_of, make_edges, to_dense

HEADS = np.array([1, 1, 1, 2, 4])
WEIGHTS = make_weights(ModelConfig.model_validate(TINY), make_lexicon())
WIDTH, LAYERS = TINY["width"], TINY["layers"]


@pytest.fixture(params=[False, True], ids=["plain", "residual"])
def config(request: pytest.FixtureRequest) -> ModelConfig:
    return ModelConfig.model_validate({**TINY, "residual": request.param})


def run(config: ModelConfig, edges: Edges, normalised: Floats, nodes: Floats) -> Floats:
    sent, weights = messages(WEIGHTS, 0, nodes), normalised * edges.degrees
    layers = range(LAYERS)
    return np.asarray(convolve(WEIGHTS, config, edges, weights, nodes, sent, layers, NUMPY))


def test_matches_the_equation_written_as_loops(config: ModelConfig) -> None:
    edges, nodes = edges_of(HEADS), draw(0, 5, WIDTH)
    normalised = draw(1, len(edges.targets))
    matrix, expected = to_dense(edges, normalised), nodes
    for layer in range(LAYERS):
        name = f"encoder.convolutions.{layer}.message"
        states = np.zeros((5, WIDTH), np.float32)
        for i in range(5):
            for j in range(5):
                message = WEIGHTS[f"{name}.weight"] @ expected[j] + WEIGHTS[f"{name}.bias"]
                states[i] += matrix[i, j] * message
            states[i] = np.maximum(states[i], 0) + (expected[i] if config.residual else 0)
        expected = states

    assert_close(run(config, edges, normalised, nodes), expected, tolerance=1e-4)


def test_graphs_in_one_batch_do_not_touch(config: ModelConfig) -> None:
    edges, both = edges_of(HEADS), edges_of(np.concatenate([HEADS, HEADS + 5]))
    nodes, normalised = draw(0, 2, 5, WIDTH), draw(1, 2, len(edges.targets))

    together = run(config, both, normalised.reshape(-1), nodes.reshape(-1, WIDTH))

    for graph in range(2):
        alone = run(config, edges, normalised[graph], nodes[graph])
        assert_close(together[5 * graph : 5 * graph + 5], alone)


def test_renumbering_the_nodes_renumbers_the_output(config: ModelConfig) -> None:
    order = np.array([3, 0, 4, 1, 2])  # new node n is old node order[n]
    new_of_old = np.argsort(order)
    edges, moved = edges_of(HEADS), edges_of(new_of_old[HEADS[order]])
    nodes, normalised = draw(0, 5, WIDTH), draw(1, len(edges.targets))
    matrix = to_dense(edges, normalised)[order][:, order]

    assert_close(
        run(config, moved, matrix[moved.targets, moved.sources], nodes[order]),
        run(config, edges, normalised, nodes)[order],
    )


def test_an_edge_of_weight_zero_carries_nothing(config: ModelConfig) -> None:
    edges, nodes = make_edges(1, 6), draw(0, 6, WIDTH)
    normalised = np.where(edges.targets == edges.sources, draw(1, len(edges.targets)), 0)
    normalised = normalised.astype(np.float32)

    together = run(config, edges, normalised, nodes)

    loops = normalised[edges.targets == edges.sources]
    for node in range(6):
        alone = run(config, edges_of(np.zeros(1, int)), loops[node : node + 1], nodes[[node]])
        assert_close(together[[node]], alone)
