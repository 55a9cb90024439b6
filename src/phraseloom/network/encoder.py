r"""The encoder: a document's graph, encoded once, then again for each phrase; §3.1 to §3.3.

`encode_tokens` does what no phrase changes: embeddings, BiGRU, the static part of the edge scores,
and convolutions whose edges stand still. `encode_graph` does the rest by what has been decoded.

The weight of an edge, equations (1) and (7), is

.. math:: A^p_{ij} = \sigma\big(W_e [e_i ; e_j ; t_{ij} ; \hat e_{<p}]\big).

The product with the joined vector is a sum of products with its parts. So nodes are scored once
each and not once an edge, and only the part of :math:`\hat e_{<p}` is computed for every phrase.
"""

import math
from dataclasses import dataclass
from typing import Any

from phraseloom.config import ModelConfig
from phraseloom.network.example import NODE_FEATURE_SIZES, TOKEN_FEATURE_SIZES
from phraseloom.network.graph import (
    Batch,
    CopiedGraph,
    Edges,
    GraphCopies,
    Groups,
    PhraseContext,
)
from phraseloom.network.lexicon import GLOSSARY_FEATURE_SIZES, Lexicon
from phraseloom.network.ops import Array, Ops, Weights, linear, product, relu, sigmoid

FEATURE_WIDTH = 8


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
class EdgeScores:
    """The part of the edge scores that no phrase changes."""

    static: Array
    """(G1), ``(E,)``."""
    end_projections: Array | None
    """Each token as the target and as the source of an edge, for (G3), ``(N, 2, rank)``."""


def score_edges(
    weights: Weights, config: ModelConfig, tokens: Array, batch: Batch, ops: Ops
) -> EdgeScores:
    r"""Equation (G1): :math:`W_e [e_i ; e_j ; t_{ij}]`, before the sigmoid.

    Scaled, ours, the score is divided by the root of the joined vector's width. Else Adam's steps,
    of one size in all of hundreds of weights, soon drive it to where the sigmoid is flat.

    Args:
        weights: of the network.
        config: its shape.
        tokens: token embeddings :math:`e_i`, ``(N, D_e)``.
        batch: with the edges.
        ops: to compute with.
    """
    edges = batch.edges
    scale = (2 * tokens.shape[1] + config.edge_width) ** -0.5 if config.scaled_edges else 1.0
    ends = linear(weights, "encoder.edges.ends", tokens)  # (N, 2): as target, as source
    types = linear(weights, "encoder.edges.type_score", weights["encoder.edges.types.weight"])
    static = scale * (
        ends[edges.targets, 0] + ends[edges.sources, 1] + types[batch.edge_types, 0]
    )  # (E,)
    projections = None
    if config.variant == "dgcn" and config.edge_scorer == "interaction":
        as_target = linear(weights, "encoder.interaction.target", tokens)  # (N, rank)
        as_source = linear(weights, "encoder.interaction.source", tokens)  # (N, rank)
        projections = ops.xp.stack([as_target, as_source], axis=1)  # (N, 2, rank)
    return EdgeScores(static, projections)


def weigh_edges(
    weights: Weights,
    config: ModelConfig,
    scores: EdgeScores,
    history: Array,
    copies: CopiedGraph,
    ops: Ops,
) -> Array:
    r"""Equations (1) and (7): :math:`A^p_{ij}` of every copied edge, ``(E',)``.

    Linear, the paper's (G2): :math:`W_e \hat e_{<p}` is one number a phrase, so that all edges of a
    document move by the same amount. Interaction, ours (G3), adds
    :math:`(P \hat e_{<p}) \cdot (Q e_i) + (P \hat e_{<p}) \cdot (Q' e_j)`, so that edges near what
    was decoded can move more than others.

    Args:
        weights: of the network.
        config: its shape.
        scores: of the batch's edges, from `score_edges`.
        history: :math:`\hat e_{<p}` of each copy, ``(G, D_w)``.
        copies: of the graphs.
        ops: to compute with.
    """
    scale = config.word_width**-0.5 if config.scaled_edges else 1.0
    shift = scale * linear(weights, "encoder.shift.score", history)[:, 0]  # (G,)
    score = scores.static[copies.edge_ids] + shift[copies.copy_of_edge]  # (E',)
    if scores.end_projections is not None:
        rank = config.interaction_rank
        scale = (rank * config.word_width if config.scaled_edges else rank) ** -0.5
        query = scale * linear(weights, "encoder.interaction.said", history)  # (G, rank)
        projections = scores.end_projections[copies.nodes]  # (N', 2, rank)
        products = ops.xp.sum(projections * query[copies.copy_of_node][:, None], axis=2)
        score = score + products[copies.edges.targets, 0] + products[copies.edges.sources, 1]
    return sigmoid(score, ops.xp)  # (E',)


def mean_history(words: Array, context: PhraseContext, ops: Ops) -> Array:
    r"""Equation (G5), :math:`\hat e_{<p}`: mean vector of all words decoded before, ``(P, D_w)``.

    Zero where nothing was. The word of a merged node is the first with that stem.
    """
    return ops.bag_mean(words, context.history_nodes)  # (P, D_w)


def messages(weights: Weights, layer: int, nodes: Array, bounds: Array | None = None) -> Array:
    """What each node sends along its edges, :math:`W h_j + b`, ``(N, D)``; see `product`."""
    return linear(weights, f"encoder.convolutions.{layer}.message", nodes, bounds)  # (N, D)


def first_dynamic_layer(config: ModelConfig) -> int:
    """The first convolution that is done for every phrase; those before it are once a document."""
    if config.variant != "dgcn":
        return config.layers
    return config.layers - 1 if config.dynamic_layers == "last" else 0


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
    normalised = edge_weights / edges.degrees  # (E,)
    for layer in layers:
        if layer != layers.start:
            sent = messages(weights, layer, nodes, bounds)  # (N, D)
        received = relu(ops.graph_product(edges, normalised, sent), ops.xp)  # (N, D)
        nodes = nodes + received if config.residual else received  # (N, D)
    return nodes


@dataclass(frozen=True, slots=True)
class MergedNodes:
    """Nodes with the same stem as one, and both products of their gate."""

    nodes: Array
    """(M1), ``(M, D)``."""
    value: Array | None
    """:math:`W_k H`, ``(M, D)``; none without a gate, as is the next."""
    scores: Array | None
    """:math:`W_l H`, ``(M, D)``."""

    def select(self, index: Array, ops: Ops) -> "MergedNodes":
        """Those with these numbers, perhaps several times."""
        parts = (self.nodes, self.value, self.scores)
        return MergedNodes(*(None if x is None else ops.gather_rows(x, index) for x in parts))


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
    """What each node sends in that convolution, ``(N, D)``; none if edges stand still."""
    merged: MergedNodes | None
    """After all convolutions; none if edges move."""


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
    """:math:`A^p` of each copied edge, ``(E',)``; none if edges stand still."""


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
    scores, sent, merged = None, None, None
    if config.variant != "gru":
        scores = score_edges(weights, config, tokens, batch, ops)
        sent = messages(weights, 0, nodes, bounds)  # (N, D)
    if scores is not None and first:
        static = sigmoid(scores.static, ops.xp)  # (E,)
        layers = range(first)
        nodes = convolve(weights, config, batch.edges, static, nodes, sent, layers, ops, bounds)
        is_moving = first < config.layers
        sent = messages(weights, first, nodes, bounds) if is_moving else None  # (N, D)
    if config.variant != "dgcn":
        offsets = batch.stem_offsets if config.merge else bounds
        merged = merge_nodes(weights, config, nodes, batch.nodes_of_stem, offsets, ops)
    return EncodedTokens(words, nodes, ends, scores, sent, merged)


def merge_nodes(
    weights: Weights, config: ModelConfig, nodes: Array, groups: Groups, bounds: Array, ops: Ops
) -> MergedNodes:
    """Equation (M1), unless nodes are not merged, and the products of (M2).

    ``groups`` are the nodes of each stem; ``bounds`` say where each graph's begin, for `product`.
    """
    if config.merge:
        nodes = ops.segment_mean(nodes, groups)  # (M, D)
    if not config.gate:
        return MergedNodes(nodes, None, None)
    value = linear(weights, "encoder.gate.value", nodes, bounds)  # (M, D)
    return MergedNodes(nodes, value, linear(weights, "encoder.gate.gate", nodes, bounds))


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

    Equations (M1) to (M3): nodes with the same stem are averaged into one,
    :math:`H \leftarrow H + (W_k H) \otimes \sigma(W_l H)`, and :math:`c` is their mean. With a node
    gate, ours (M4), what was decoded opens or shuts it: :math:`\sigma(W_l H + W_g \hat e_{<p})`.

    Args:
        weights: of the network.
        config: its shape.
        encoded: the batch, from `encode_tokens`.
        context: what was decoded before each phrase.
        copies: a graph for each phrase.
        ops: to compute with.
    """
    xp, entries, edge_weights = ops.xp, copies.entries, None
    history = mean_history(encoded.words, context, ops)  # (G, D_w)
    if encoded.merged is not None:
        merged = encoded.merged.select(entries.sources, ops)
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
        groups, bounds = graph.nodes_of_stem, graph.entry_offsets
        merged = merge_nodes(weights, config, nodes, groups, bounds, ops)
    nodes = merged.nodes  # (M', D)
    if config.gate:
        scores = merged.scores
        if config.node_gate:
            scores = scores + linear(weights, "encoder.gate.history", history)[entries.copies]
        nodes = nodes + merged.value * sigmoid(scores, xp)  # (M2), (M', D)
    graphs, slots = entries.mask.shape
    padded = xp.zeros((graphs * slots, config.width), dtype=nodes.dtype, device=nodes.device)
    padded[entries.rows] = ops.dropout(nodes)
    padded = padded.reshape(graphs, slots, -1)  # (G, S, D)
    mean = xp.sum(padded, axis=1) / entries.sizes  # (M3), (G, D)
    start = mean if config.pooling else encoded.ends[copies.documents]  # (G, D)
    return EncodedGraph(nodes, padded, start, edge_weights)


def importance_scores(weights: Weights, graph: EncodedGraph) -> Array:
    """Does this node's word belong to any keyphrase? Before the sigmoid; ours, ``(M',)``."""
    return linear(weights, "encoder.importance", graph.nodes)[:, 0]  # (M',)
