"""The encoder: a document's graph, encoded once, then again for each phrase; §3.1 to §3.3.

`encode_tokens` does what no phrase changes: embeddings, BiGRU, the static part of the edge scores.
`encode_graph` weighs the edges by what has been decoded, convolves, merges and gates.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

from phraseloom.config import ModelConfig
from phraseloom.network.example import NODE_FEATURE_SIZES, TOKEN_FEATURE_SIZES
from phraseloom.network.gcn import (
    EdgeScores,
    convolve,
    first_dynamic_layer,
    mean_history,
    messages,
    score_edges,
    weigh_edges,
)
from phraseloom.network.graph import Batch, Entries, GraphCopies, PhraseContext
from phraseloom.network.lexicon import GLOSSARY_FEATURE_SIZES, Lexicon
from phraseloom.network.ops import Array, Ops, Weights, linear, product, sigmoid

FEATURE_WIDTH = 8


def embed_words(weights: Weights, batch: Batch, ops: Ops) -> Array:
    r"""Equation (E1): :math:`e^w_i` is the word's row of a learned table.

    A word outside the vocabulary is the mean of its character n-grams' fixed vectors.

    Returns:
        ``(N, D_w)``.
    """
    xp, table = ops.xp, weights["encoder.words.table"]
    size = table.shape[0]
    known = ops.gather_rows(table, xp.clip(batch.word_ids, None, size - 1))  # (N, D_w)
    if not len(batch.unknown_ngrams.offsets) - 1:
        return known
    unknown = ops.bag_mean(weights["encoder.words.ngrams"], batch.unknown_ngrams)  # (U, D_w)
    outside = (batch.word_ids >= size)[:, None]  # (N, 1)
    return xp.where(outside, unknown[xp.clip(batch.word_ids - size, 0, None)], known)


def embed_tokens(
    weights: Weights, config: ModelConfig, words: Array, batch: Batch, ops: Ops
) -> Array:
    """Equation (E2): word, POS tag, position and features side by side, ``(N, D_e)``."""
    parts = [
        words,
        ops.gather_rows(weights["encoder.tokens.pos.weight"], batch.pos_ids),
        sinusoids(batch.positions, config.position_width, ops.xp),
    ]
    for table, column in enumerate(feature_columns(config)):
        rows = weights[f"encoder.tokens.features.{table}.weight"]
        parts.append(ops.gather_rows(rows, batch.features[:, column]))
    return ops.xp.concat(parts, axis=1)  # (N, D_e)


def sinusoids(positions: Array, width: int, xp: Any) -> Array:
    r"""Equation (E3): :math:`\sin` and :math:`\cos` of the position at ``width / 2`` wavelengths.

    Wavelengths grow from :math:`2\pi` to :math:`2\pi \cdot 10^4` in equal ratios.
    """
    wavelengths = [math.exp(-math.log(1e4) * k / width) for k in range(0, width, 2)]
    rates = xp.asarray(wavelengths, dtype=positions.dtype, device=positions.device)  # (width / 2,)
    angles = positions[:, None] * rates  # (N, width / 2)
    return xp.stack([xp.sin(angles), xp.cos(angles)], axis=2).reshape(-1, width)  # (N, width)


def feature_columns(config: ModelConfig) -> list[int]:
    """Columns of `Batch.features` that this network reads."""
    stem, glossary = len(NODE_FEATURE_SIZES), len(GLOSSARY_FEATURE_SIZES)
    columns = [*range(stem)] if config.node_features else []
    columns += [*range(stem, stem + glossary)] if config.glossary_features else []
    columns += [stem + glossary] if config.styles else []
    first = stem + glossary + 1
    return columns + (
        [*range(first, first + len(TOKEN_FEATURE_SIZES))] if config.token_features else []
    )


def feature_sizes(config: ModelConfig, lexicon: Lexicon) -> list[int]:
    """Number of buckets of each feature that this network reads."""
    annotators = (*GLOSSARY_FEATURE_SIZES, len(lexicon.styles))
    sizes = (*NODE_FEATURE_SIZES, *annotators, *TOKEN_FEATURE_SIZES)
    return [sizes[column] for column in feature_columns(config)]


def token_width(config: ModelConfig) -> int:
    """Width of a token embedding, :math:`D_e`."""
    features = FEATURE_WIDTH * len(feature_columns(config))
    return config.word_width + config.pos_width + config.position_width + features


@dataclass(frozen=True, slots=True)
class EncodedTokens:
    """What is known of a batch before any phrase."""

    words: Array
    """Word vectors, ``(N, D_w)``."""
    nodes: Array
    """States :math:`h^k_i` before the first convolution that phrases change, ``(N, D)``."""
    ends: Array
    """Last states of the BiGRU's two directions, ``(B, D)``."""
    edge_scores: EdgeScores | None
    """None without a graph."""
    messages: Array | None
    """What each node sends in that convolution, ``(N, D)``; none without a graph."""


@dataclass(frozen=True, slots=True)
class EncodedGraph:
    """What the decoder reads of ``G`` graphs: :math:`H^p` and :math:`c^p`."""

    nodes: Array
    """Merged, gated nodes on one axis, ``(M', D)``."""
    padded: Array
    """:math:`H^p`, the same padded, ``(G, S, D)``; two first rows are left for SEP and EOS."""
    start: Array
    """:math:`c^p`, ``(G, D)``."""
    edge_weights: Array | None
    """:math:`A^p` of each copied edge, ``(E',)``; none without a graph."""


def encode_tokens(weights: Weights, config: ModelConfig, batch: Batch, ops: Ops) -> EncodedTokens:
    """Once a document: up to :math:`h^0`, and the convolutions that no phrase changes."""
    words = embed_words(weights, batch, ops)  # (N, D_w)
    tokens = embed_tokens(weights, config, words, batch, ops)  # (N, D_e)
    states = bigru(weights, ops.dropout(tokens), batch, ops)  # (N, D)
    half = config.width // 2
    lasts = [states[batch.node_offsets[1:] - 1, :half], states[batch.node_offsets[:-1], half:]]
    ends = ops.xp.concat(lasts, axis=1)  # (B, D)
    nodes = ops.dropout(states)  # (N, D)
    if config.variant == "gru":
        return EncodedTokens(words, nodes, ends, None, None)
    scores = score_edges(weights, config, tokens, batch, ops)
    sent, first = messages(weights, 0, nodes), first_dynamic_layer(config)  # (N, D)
    if first:
        static = sigmoid(scores.static, ops.xp)  # (E,)
        nodes = convolve(weights, config, batch.edges, static, nodes, sent, range(first), ops)
        sent = messages(weights, first, nodes)  # (N, D)
    return EncodedTokens(words, nodes, ends, scores, sent)


def bigru(weights: Weights, tokens: Array, batch: Batch, ops: Ops) -> Array:
    r"""Equation (E4), both directions: :math:`h^0_i = [\overrightarrow h_i ; \overleftarrow h_i]`.

    Documents are packed, so padding costs nothing. The inputs' share of all gates is one product.
    """
    xp, name = ops.xp, "encoder.context"
    of_input = xp.concat([weights[f"{name}.weight_ih_l0{way}"] for way in ("", "_reverse")])
    input_bias = xp.concat([weights[f"{name}.bias_ih_l0{way}"] for way in ("", "_reverse")])
    of_state = xp.stack([weights[f"{name}.weight_hh_l0{way}"] for way in ("", "_reverse")])
    state_bias = xp.stack([weights[f"{name}.bias_hh_l0{way}"] for way in ("", "_reverse")])
    inputs = product(tokens, of_input)  # (N, 2 * 3H)
    inputs += input_bias
    return ops.gru_scan(inputs, of_state, state_bias, batch.schedule)  # (N, D)


def encode_graph(
    weights: Weights,
    config: ModelConfig,
    encoded: EncodedTokens,
    context: PhraseContext | None,
    copies: GraphCopies,
    ops: Ops,
) -> EncodedGraph:
    r"""The graphs as they are for each begun phrase, or once per document if they are static.

    Equations (M1) to (M3): nodes with the same stem are averaged into one,
    :math:`H \leftarrow H + (W_k H) \otimes \sigma(W_l H)`, and :math:`c` is their mean.

    Args:
        weights: of the network.
        config: its shape.
        encoded: the batch, from `encode_tokens`.
        context: what was decoded before each phrase; none if the graph is static.
        copies: a graph for each phrase, or for each document.
        ops: to compute with.
    """
    xp, entries = ops.xp, copies.entries
    nodes = ops.gather_rows(encoded.nodes, copies.nodes)  # (N', D)
    edge_weights = None
    if encoded.edge_scores is not None:
        history = None if context is None else mean_history(encoded.words, context, ops)
        edge_weights = weigh_edges(weights, config, encoded.edge_scores, history, copies, ops)
        sent = ops.gather_rows(encoded.messages, copies.nodes)  # (N', D)
        layers = range(first_dynamic_layer(config), config.layers)
        nodes = convolve(weights, config, copies.edges, edge_weights, nodes, sent, layers, ops)
    if config.merge:
        nodes = ops.segment_mean(nodes, copies.nodes_of_stem)  # (M1), (M', D)
    if config.gate:
        value = linear(weights, "encoder.gate.value", nodes)  # (M', D)
        gate = sigmoid(linear(weights, "encoder.gate.gate", nodes), xp)  # (M', D)
        nodes = nodes + value * gate  # (M2), (M', D)
    graphs, slots = entries.mask.shape
    padded = xp.zeros((graphs * slots, config.width), dtype=nodes.dtype, device=nodes.device)
    padded[entries.rows] = ops.dropout(nodes)
    padded = padded.reshape(graphs, slots, -1)  # (G, S, D)
    mean = xp.sum(padded, axis=1) / entries.sizes  # (M3), (G, D)
    start = mean if config.pooling else encoded.ends[copies.documents]  # (G, D)
    return EncodedGraph(nodes, padded, start, edge_weights)


def select_graphs(
    graph: EncodedGraph, entries: Entries, documents: Array, slots: int
) -> tuple[EncodedGraph, Entries]:
    """Static graphs, one a document, as one a phrase: those of ``(P,)`` documents.

    Merged nodes are cut to ``slots``, the most that any of these documents has.
    """
    size, slot_of_entry = slots, entries.slot_of_entry
    if slot_of_entry is not None:
        size, slot_of_entry = slot_of_entry.shape[1], slot_of_entry[documents, :, :slots]
    selected = replace(graph, padded=graph.padded[documents, :size], start=graph.start[documents])
    mask = entries.mask[documents, :size]
    return selected, replace(entries, mask=mask, slot_of_entry=slot_of_entry)


def importance_scores(weights: Weights, graph: EncodedGraph) -> Array:
    """Does this node's word belong to any keyphrase? Before the sigmoid; ours, ``(M',)``."""
    return linear(weights, "encoder.importance", graph.nodes)[:, 0]  # (M',)
