r"""The encoder: a document's graph, encoded once, then again for each phrase; §3.1 to §3.3.

`encode_tokens` does what no phrase changes: embeddings, BiGRU, the static part of the edge scores,
and convolutions whose edges stand still. `encode_graph` does the rest by what has been decoded.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

from phraseloom.config import ModelConfig
from phraseloom.network.edges import (
    EdgeScores,
    mean_history,
    moves_edges,
    scale_stems,
    score_edges,
    weigh_edges,
)
from phraseloom.network.example import feature_columns
from phraseloom.network.graph import (
    Batch,
    Edges,
    GraphCopies,
    Groups,
    PhraseContext,
)
from phraseloom.network.ops import Array, Ops, Weights, linear, product, relu, sigmoid


def embed_words(weights: Weights, batch: Batch, ops: Ops) -> Array:
    r"""Equation (E1): :math:`e^w_i` is the word's row of a learned table.

    A word outside the vocabulary is the mean of its character n-grams' fixed vectors.

    Returns:
        ``(N, D_w)``.
    """
    xp, table = ops.xp, weights["encoder.words.table"]
    size = table.shape[0]
    words = ops.gather_rows(table, xp.clip(batch.word_ids, None, size - 1))  # (N, D_w)
    if len(batch.unknown_nodes):
        unknown = ops.bag_mean(weights["encoder.words.ngrams"], batch.unknown_ngrams)  # (U, D_w)
        words[batch.unknown_nodes] = unknown[batch.word_ids[batch.unknown_nodes] - size]
    return words


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


def messages(weights: Weights, layer: int, nodes: Array, bounds: Array | None = None) -> Array:
    """What each node sends along its edges, :math:`W h_j + b`, ``(N, D)``; see `product`."""
    return linear(weights, f"encoder.convolutions.{layer}.message", nodes, bounds)  # (N, D)


def first_dynamic_layer(config: ModelConfig) -> int:
    """The first convolution that what was decoded changes; those before it are once a document."""
    if config.variant != "dgcn":
        return config.layers
    return 0 if config.dynamic_layers == "all" else config.layers - 1


def convolve(
    weights: Weights,
    config: ModelConfig,
    edges: Edges,
    edge_weights: Array,
    nodes: Array,
    sent: Array,
    layers: range,
    ops: Ops,
    bounds: Array | None = None,
) -> Array:
    r"""Equation (G4), the paper's (2), layer by layer.

    .. math:: h^k_i = \mathrm{ReLU}\Big(\sum_j \frac{A_{ij}}{d_i} (W^k h^{k-1}_j + b^k)\Big)

    The residual form, ours, is :math:`h^{k-1}_i + h^k_i`.

    Args:
        weights: of the network.
        config: its shape.
        edges: from j to i.
        edge_weights: :math:`A_{ij}`, ``(E,)``.
        nodes: :math:`h^{k-1}` before the first of the layers, ``(N, D)``.
        sent: messages of that layer; they are the same for all copies of a document.
        layers: numbers of the convolutions to do.
        ops: to compute with.
        bounds: where the nodes of each graph begin and the last ones end, for `product`.

    Returns:
        States after the last of the layers, ``(N, D)``.
    """
    for layer in layers:
        if layer != layers.start:
            sent = messages(weights, layer, nodes, bounds)  # (N, D)
        received = receive(edges, edge_weights, sent, ops)  # (N, D)
        nodes = nodes + received if config.residual else received  # (N, D)
    return nodes


def receive(edges: Edges, edge_weights: Array, sent: Array, ops: Ops) -> Array:
    """What the neighbours of each node tell it, by (G4), ``(N, D)``."""
    return relu(ops.graph_product(edges, edge_weights / edges.degrees, sent), ops.xp)


@dataclass(frozen=True, slots=True)
class StillGraph:
    """Merged, gated nodes that are the same for every phrase, but for what (G6) scales."""

    kept: Array
    """``(M, D)``."""
    received: Array | None
    """What the last convolution adds, to be scaled, ``(M, D)``; none if it is in what is kept."""
    projections: Array | None
    """Each stem as the target of edges, for (G6), ``(M, rank)``."""


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
    """What each node sends in that convolution, ``(N, D)``; none if edges are not weighed anew."""
    still: StillGraph | None
    """None if edges are weighed anew, and merged for every phrase."""


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
    """:math:`A^p` of each copied edge, ``(E',)``; none if edges are not weighed anew."""
    factors: Array | None
    """:math:`f^p` of each merged node by (G6), ``(M', 1)``; none if nothing is scaled so."""


def encode_tokens(weights: Weights, config: ModelConfig, batch: Batch, ops: Ops) -> EncodedTokens:
    """Once a document: up to :math:`h^0`, and the convolutions that no phrase changes."""
    words = embed_words(weights, batch, ops)  # (N, D_w)
    tokens = embed_tokens(weights, config, words, batch, ops)  # (N, D_e)
    states = bigru(weights, ops.dropout(tokens), batch, ops)  # (N, D)
    half = config.width // 2
    lasts = [states[batch.node_offsets[1:] - 1, :half], states[batch.node_offsets[:-1], half:]]
    ends = ops.xp.concat(lasts, axis=1)  # (B, D)
    nodes = ops.dropout(states)  # (N, D)
    bounds, first = batch.node_offsets, first_dynamic_layer(config)
    scores, sent = None, None
    if config.variant != "gru":
        scores = score_edges(weights, config, tokens, batch, ops)
        sent = messages(weights, 0, nodes, bounds)  # (N, D)
    if scores is not None and first:
        static, layers = sigmoid(scores.static, ops.xp), range(first)  # (E,)
        nodes = convolve(weights, config, batch.edges, static, nodes, sent, layers, ops, bounds)
        if first < config.layers:
            sent = messages(weights, first, nodes, bounds)  # (N, D)
    encoded = EncodedTokens(words, nodes, ends, scores, sent, None)
    if moves_edges(config):
        return encoded
    return replace(encoded, still=merge_still(weights, config, batch, encoded, ops))


def merge_still(
    weights: Weights, config: ModelConfig, batch: Batch, encoded: EncodedTokens, ops: Ops
) -> StillGraph:
    """Merge and gate the nodes of graphs whose edges are not weighed one by one for each phrase.

    The gate is that of the graph before any phrase: then what (G6) scales is scaled behind it.
    """
    groups, nodes, scores = batch.nodes_of_stem, encoded.nodes, encoded.edge_scores
    bounds = batch.stem_offsets if config.merge else batch.node_offsets
    if config.variant != "dgcn" or scores is None:
        nodes = merge_nodes(config, nodes, groups, ops)  # (M, D)
        opening = open_gate(weights, config, nodes, bounds, ops)  # (M, D)
        return StillGraph(pass_gate(weights, nodes, opening, bounds), None, None)
    received = receive(batch.edges, sigmoid(scores.static, ops.xp), encoded.messages, ops)
    kept = merge_nodes(config, nodes if config.residual else 0 * nodes, groups, ops)  # (M, D)
    received = merge_nodes(config, received, groups, ops)  # (M, D)
    opening = open_gate(weights, config, kept + received, bounds, ops)  # (M, D)
    kept, received = (pass_gate(weights, part, opening, bounds) for part in (kept, received))
    projections = None if scores.projections is None else scores.projections[:, 0]  # (N, rank)
    if projections is not None:
        projections = merge_nodes(config, projections, groups, ops)  # (M, rank)
    return StillGraph(kept, received, projections)


def merge_nodes(config: ModelConfig, nodes: Array, groups: Groups, ops: Ops) -> Array:
    """Equation (M1): nodes with the same stem become their mean, unless none are merged."""
    return ops.segment_mean(nodes, groups) if config.merge else nodes


def open_gate(
    weights: Weights, config: ModelConfig, nodes: Array, bounds: Array, ops: Ops
) -> Array | None:
    r"""How far the gate of (M2) is open, :math:`\sigma(W_l H)`, ``(M, D)``; none if there is none.

    ``bounds`` say where each graph's nodes begin, for `product`, here and in `pass_gate`.
    """
    if not config.gate:
        return None
    return sigmoid(linear(weights, "encoder.gate.gate", nodes, bounds), ops.xp)  # (M, D)


def pass_gate(weights: Weights, nodes: Array, opening: Array | None, bounds: Array) -> Array:
    r"""Equation (M2): :math:`H + (W_k H) \otimes \sigma(W_l H)`, ``(M, D)``."""
    if opening is None:
        return nodes
    return nodes + linear(weights, "encoder.gate.value", nodes, bounds) * opening  # (M, D)


def bigru(weights: Weights, tokens: Array, batch: Batch, ops: Ops) -> Array:
    r"""Equation (E4), both directions: :math:`h^0_i = [\overrightarrow h_i ; \overleftarrow h_i]`.

    Documents are packed, so padding costs nothing. The inputs' share of all gates is one product.
    """
    xp, name = ops.xp, "encoder.context"
    of_input = xp.concat([weights[f"{name}.weight_ih_l0{way}"] for way in ("", "_reverse")])
    input_bias = xp.concat([weights[f"{name}.bias_ih_l0{way}"] for way in ("", "_reverse")])
    of_state = xp.stack([weights[f"{name}.weight_hh_l0{way}"] for way in ("", "_reverse")])
    state_bias = xp.stack([weights[f"{name}.bias_hh_l0{way}"] for way in ("", "_reverse")])
    inputs = product(tokens, of_input, batch.node_offsets)  # (N, 2 * 3H)
    inputs += input_bias
    return ops.gru_scan(inputs, of_state, state_bias, batch.schedule)  # (N, D)


def encode_graph(
    weights: Weights,
    config: ModelConfig,
    encoded: EncodedTokens,
    context: PhraseContext,
    copies: GraphCopies,
    ops: Ops,
) -> EncodedGraph:
    r"""The graphs as they are for each begun phrase.

    Nodes with the same stem are averaged into one (M1) and gated (M2); :math:`c` is the mean (M3).

    Args:
        weights: of the network.
        config: its shape.
        encoded: the batch, from `encode_tokens`.
        context: what was decoded before each phrase.
        copies: a graph for each phrase.
        ops: to compute with.
    """
    xp, entries, edge_weights, factors = ops.xp, copies.entries, None, None
    history = mean_history(encoded.words, context, ops)  # (G, D_w)
    if encoded.still is not None:
        still, sources = encoded.still, entries.sources
        nodes = ops.gather_rows(still.kept, sources)  # (M', D)
        if still.received is not None:
            factors = scale_stems(weights, config, still.projections, history, entries, ops)
            nodes = nodes + factors * ops.gather_rows(still.received, sources)  # (M', D)
    else:
        graph, edges = copies.graph, encoded.edge_scores
        assert graph is not None and edges is not None
        edge_weights = weigh_edges(weights, config, edges, history, graph, ops)  # (E',)
        nodes = ops.gather_rows(encoded.nodes, graph.nodes)  # (N', D)
        sent = ops.gather_rows(encoded.messages, graph.nodes)  # (N', D)
        bounds, layers = graph.node_offsets, range(first_dynamic_layer(config), config.layers)
        nodes = convolve(
            weights, config, graph.edges, edge_weights, nodes, sent, layers, ops, bounds
        )
        nodes = merge_nodes(config, nodes, graph.nodes_of_stem, ops)  # (M', D)
        bounds = graph.entry_offsets
        opening = open_gate(weights, config, nodes, bounds, ops)  # (M', D)
        nodes = pass_gate(weights, nodes, opening, bounds)  # (M', D)
    graphs, slots = entries.mask.shape
    padded = xp.zeros((graphs * slots, config.width), dtype=nodes.dtype, device=nodes.device)
    padded[entries.rows] = ops.dropout(nodes)
    padded = padded.reshape(graphs, slots, -1)  # (G, S, D)
    mean = xp.sum(padded, axis=1) / entries.sizes  # (M3), (G, D)
    start = mean if config.pooling else encoded.ends[copies.documents]  # (G, D)
    return EncodedGraph(nodes, padded, start, edge_weights, factors)


def importance_scores(weights: Weights, graph: EncodedGraph) -> Array:
    """Does this node's word belong to any keyphrase? Before the sigmoid; ours, ``(M',)``."""
    return linear(weights, "encoder.importance", graph.nodes)[:, 0]  # (M',)
