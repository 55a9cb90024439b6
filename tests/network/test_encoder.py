"""What must hold of the encoder: recurrent states, merged and gated nodes, the document vector."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pack_sequence, unpack_sequence

from phraseloom.config import ModelConfig
from phraseloom.network.edges import moves_edges
from phraseloom.network.encoder import (
    EncodedGraph,
    embed_tokens,
    embed_words,
    encode_graph,
    encode_tokens,
    importance_scores,
)
from phraseloom.network.example import token_width
from phraseloom.network.graph import collate, copy_graphs, phrase_context
from phraseloom.network.ops import NUMPY, linear
from phraseloom.slots import FIRST_WORD
from tests.builders import TINY, make_example, make_lexicon, make_weights
from tests.network.graphs import Floats, assert_close

LEXICON = make_lexicon()
LENGTHS = [6, 1, 9]
BATCH = collate([make_example(i, tokens=t) for i, t in enumerate(LENGTHS)], LEXICON)
SOURCES = np.arange(len(LENGTHS))
WIDTH = TINY["width"]


def make_config(**settings: Any) -> ModelConfig:
    return ModelConfig.model_validate({**TINY, "importance": True, **settings})


WEIGHTS = make_weights(make_config(), LEXICON)


def encode(config: ModelConfig) -> EncodedGraph:
    """The static graphs of all documents."""
    is_moving = moves_edges(config)
    copies = copy_graphs(BATCH, SOURCES, is_merged=config.merge, is_moving=is_moving)
    encoded = encode_tokens(WEIGHTS, config, BATCH, NUMPY)
    context = phrase_context(BATCH, SOURCES.tolist(), [[]] * len(SOURCES))
    return encode_graph(WEIGHTS, config, encoded, context, copies, NUMPY)


@torch.no_grad()
def test_states_are_those_of_the_gru_of_torch() -> None:
    config = make_config()
    gru = torch.nn.GRU(token_width(config), WIDTH // 2, bidirectional=True)
    gru.load_state_dict(
        {name: torch.from_numpy(WEIGHTS[f"encoder.context.{name}"]) for name in gru.state_dict()}
    )
    words = embed_words(WEIGHTS, BATCH, NUMPY)
    tokens = torch.from_numpy(embed_tokens(WEIGHTS, config, words, BATCH, NUMPY))

    encoded = encode_tokens(WEIGHTS, config, BATCH, NUMPY)

    states, last = gru(pack_sequence(list(tokens.split(LENGTHS)), enforce_sorted=False))
    assert_close(encoded.nodes, torch.cat(unpack_sequence(states)))
    assert_close(encoded.ends, torch.cat([last[0], last[1]], 1))
    assert_close(encoded.words, words, tolerance=0)


def test_nodes_of_one_stem_become_their_mean() -> None:
    config = make_config(gate=False)
    nodes = encode(config.model_copy(update={"merge": False})).nodes

    merged = encode(config).nodes

    for stem in range(int(BATCH.stem_offsets[-1])):
        assert_close(merged[stem], nodes[BATCH.stem_of_node == stem].mean(0))


def test_the_gate_matches_its_equation_written_as_loops() -> None:
    plain, gated = encode(make_config(gate=False)).nodes, encode(make_config()).nodes
    value, gate = (WEIGHTS[f"encoder.gate.{part}.weight"] for part in ("value", "gate"))
    for node, states in zip(plain, gated, strict=True):
        for d in range(WIDTH):
            expected = node[d] + (value[d] @ node) / (1 + np.exp(-gate[d] @ node))
            assert_close(states[d], expected)


@pytest.mark.parametrize("merge", [True, False])
def test_nodes_are_padded_behind_two_rows_and_their_mean_is_the_start(merge: bool) -> None:
    config = make_config(merge=merge)
    offsets = BATCH.stem_offsets if merge else BATCH.node_offsets

    graph = encode(config)

    for document in SOURCES:
        nodes = graph.nodes[offsets[document] : offsets[document + 1]]
        end = FIRST_WORD + len(nodes)
        assert_close(graph.padded[document, FIRST_WORD:end], nodes, tolerance=0)
        assert not graph.padded[document, :FIRST_WORD].any()
        assert not graph.padded[document, end:].any()
        assert_close(graph.start[document], nodes.mean(0))


def test_without_pooling_the_start_is_the_ends_of_the_gru() -> None:
    config = make_config(pooling=False)

    assert_close(encode(config).start, encode_tokens(WEIGHTS, config, BATCH, NUMPY).ends)


def test_without_a_graph_nodes_are_the_states_and_edges_weigh_nothing() -> None:
    config = make_config(variant="gru", merge=False, gate=False)

    graph = encode(config)

    assert graph.edge_weights is None
    assert_close(graph.nodes, encode_tokens(WEIGHTS, config, BATCH, NUMPY).nodes)


def test_what_was_decoded_moves_the_edges_of_its_own_copy_only() -> None:
    config = make_config()
    encoded = encode_tokens(WEIGHTS, config, BATCH, NUMPY)
    copies, all_copies = (copy_graphs(BATCH, np.array(rows)) for rows in ([2, 2], SOURCES))
    copied, all_copied = copies.graph, all_copies.graph
    assert copied is not None and all_copied is not None
    context = phrase_context(BATCH, [2, 2], [[], [(2, 3)]])

    graph = encode_graph(WEIGHTS, config, encoded, context, copies, NUMPY)

    assert graph.edge_weights is not None
    first, second = (graph.edge_weights[copied.copy_of_edge == copy] for copy in (0, 1))
    static = np.asarray(encode(config).edge_weights)
    assert_close(first, static[all_copied.copy_of_edge == 2])
    assert np.abs(first - second).min() > 0
    assert np.abs(graph.start[0] - graph.start[1]).max() > 1e-3


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("variant", ["gru", "gcn"])
def test_still_graphs_are_those_of_their_documents_however_often(variant: str, merge: bool) -> None:
    config, documents = make_config(variant=variant, merge=merge), np.array([1, 0, 0])
    whole, offsets = encode(config), BATCH.stem_offsets if merge else BATCH.node_offsets
    copies = copy_graphs(BATCH, documents, is_merged=merge, is_moving=False)
    context = phrase_context(BATCH, documents.tolist(), [[], [], [(2,)]])

    encoded = encode_tokens(WEIGHTS, config, BATCH, NUMPY)
    graph = encode_graph(WEIGHTS, config, encoded, context, copies, NUMPY)

    assert_close(graph.start, whole.start[documents], tolerance=1e-6)
    rows = [np.arange(offsets[i], offsets[i + 1]) for i in documents]
    assert_close(graph.nodes, whole.nodes[np.concatenate(rows)], tolerance=0)


def test_importance_is_one_product_a_node() -> None:
    graph = encode(make_config())

    scores: Floats = importance_scores(WEIGHTS, graph)

    assert_close(scores, linear(WEIGHTS, "encoder.importance", graph.nodes)[:, 0], tolerance=0)
    assert scores.shape == (int(BATCH.stem_offsets[-1]),)
