r"""Graph convolutions over dependency edges whose weights change with what was decoded; §3.2.

.. math:: A^p_{ij} = \sigma\big(W_e [e_i ; e_j ; t_{ij} ; \hat e_{<p}]\big)

is the weight of an edge, equations (1) and (7). The product with the joined vector is a sum of
products with its parts. So nodes are scored once each and not once an edge, and only the part of
:math:`\hat e_{<p}` is computed for every phrase.
"""

from dataclasses import dataclass

from phraseloom.config import ModelConfig
from phraseloom.network.graph import Batch, Edges, GraphCopies, PhraseContext
from phraseloom.network.ops import Array, Ops, Weights, linear, relu, sigmoid


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
    history: Array | None,
    copies: GraphCopies,
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
        history: :math:`\hat e_{<p}` of each copy, ``(G, D_w)``; none if the graph is static.
        copies: of the graphs.
        ops: to compute with.
    """
    score = scores.static[copies.edge_ids]  # (E',)
    if history is not None:
        scale = config.word_width**-0.5 if config.scaled_edges else 1.0
        shift = scale * linear(weights, "encoder.shift.score", history)[:, 0]  # (G,)
        score = score + shift[copies.copy_of_edge]  # (E',)
        if scores.end_projections is not None:
            rank = config.interaction_rank
            scale = (rank * config.word_width if config.scaled_edges else rank) ** -0.5
            query = scale * linear(weights, "encoder.interaction.said", history)  # (G, rank)
            projections = scores.end_projections[copies.nodes]  # (N', 2, rank)
            products = ops.xp.sum(projections * query[copies.copy_of_node][:, None], axis=2)
            score = (
                score + products[copies.edges.targets, 0] + products[copies.edges.sources, 1]
            )  # (E',)
    return sigmoid(score, ops.xp)  # (E',)


def mean_history(words: Array, context: PhraseContext, ops: Ops) -> Array:
    r"""Equation (G5), :math:`\hat e_{<p}`: mean vector of all words decoded before, ``(P, D_w)``.

    Zero where nothing was. The word of a merged node is the first with that stem.
    """
    return ops.bag_mean(words, context.history_nodes)  # (P, D_w)


def messages(weights: Weights, layer: int, nodes: Array) -> Array:
    """What each node sends along its edges, :math:`W h_j + b`, ``(N, D)``."""
    return linear(weights, f"encoder.convolutions.{layer}.message", nodes)  # (N, D)


def first_dynamic_layer(config: ModelConfig) -> int:
    """The first convolution that is done for every phrase; those before it are once a document."""
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

    Returns:
        States after the last of the layers, ``(N, D)``.
    """
    normalised = edge_weights / edges.degrees  # (E,)
    for layer in layers:
        if layer != layers.start:
            sent = messages(weights, layer, nodes)  # (N, D)
        received = relu(ops.graph_product(edges, normalised, sent), ops.xp)  # (N, D)
        nodes = nodes + received if config.residual else received  # (N, D)
    return nodes
