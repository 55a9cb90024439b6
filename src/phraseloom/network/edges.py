r"""Weights of edges: how far a word is heard by another, and how that changes; §3.2.

The weight of an edge, equations (1) and (7), is

.. math:: A^p_{ij} = \sigma\big(W_e [e_i ; e_j ; t_{ij} ; \hat e_{<p}]\big).

The product with the joined vector is a sum of products with its parts. So nodes are scored once
each and not once an edge, and only the part of :math:`\hat e_{<p}` is computed for every phrase.
"""

from dataclasses import dataclass

from phraseloom.config import ModelConfig
from phraseloom.network.graph import Batch, CopiedGraph, Entries, PhraseContext
from phraseloom.network.ops import Array, Ops, Weights, linear, sigmoid


def moves_edges(config: ModelConfig) -> bool:
    """Whether edges are weighed for every phrase one by one, and their convolutions done anew."""
    return config.variant == "dgcn" and config.dynamic_layers != "merged"


@dataclass(frozen=True, slots=True)
class EdgeScores:
    """The part of the edge scores that no phrase changes."""

    static: Array
    """(G1), ``(E,)``."""
    projections: Array | None
    """Each token as the target and as the source of an edge, for (G3), ``(N, 2, rank)``; as the
    target only for (G6), ``(N, 1, rank)``."""


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
    bounds = batch.node_offsets
    ends = linear(weights, "encoder.edges.ends", tokens, bounds)  # (N, 2): as target, as source
    types = linear(weights, "encoder.edges.type_score", weights["encoder.edges.types.weight"])
    static = scale * (
        ends[edges.targets, 0] + ends[edges.sources, 1] + types[batch.edge_types, 0]
    )  # (E,)
    if config.variant != "dgcn" or config.edge_scorer != "interaction":
        return EdgeScores(static, None)
    sides = ("target", "source") if moves_edges(config) else ("target",)
    parts = [linear(weights, f"encoder.interaction.{side}", tokens, bounds) for side in sides]
    return EdgeScores(static, ops.xp.stack(parts, axis=1))


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
    shift, query = _project_history(weights, config, history)  # (G,), (G, rank)
    score = scores.static[copies.edge_ids] + shift[copies.copy_of_edge]  # (E',)
    if scores.projections is not None and query is not None:
        projections = scores.projections[copies.nodes]  # (N', 2, rank)
        products = ops.xp.sum(projections * query[copies.copy_of_node][:, None], axis=2)
        score = score + products[copies.edges.targets, 0] + products[copies.edges.sources, 1]
    return sigmoid(score, ops.xp)  # (E',)


def scale_stems(
    weights: Weights,
    config: ModelConfig,
    projections: Array | None,
    history: Array,
    entries: Entries,
    ops: Ops,
) -> Array:
    r"""Equation (G6), ours: how much of its edges' weights each stem keeps, ``(M', 1)``.

    All edges into a stem's words move alike in the last convolution, :math:`A^p_{ij} = f^p_s
    A_{ij}` with :math:`f^p_s = 2 \sigma(2 (W_e \hat e_{<p} + (P \hat e_{<p}) \cdot (Q e_s)))`. So
    what a stem receives is computed once a document, and for each phrase only multiplied. Where
    weights are small, it is nearly what (G3) makes of the target's end.
    """
    shift, query = _project_history(weights, config, history)  # (G,), (G, rank)
    score = shift[entries.copies]  # (M',)
    if projections is not None and query is not None:
        of_stems = ops.gather_rows(projections, entries.sources)  # (M', rank)
        score = score + ops.xp.sum(of_stems * query[entries.copies], axis=1)
    return 2 * sigmoid(2 * score, ops.xp)[:, None]


def _project_history(
    weights: Weights, config: ModelConfig, history: Array
) -> tuple[Array, Array | None]:
    r"""What was decoded in edge scores: :math:`W_e \hat e_{<p}`; :math:`P \hat e_{<p}` or none."""
    scale = config.word_width**-0.5 if config.scaled_edges else 1.0
    shift = scale * linear(weights, "encoder.shift.score", history, by_row=True)[:, 0]  # (G,)
    if config.edge_scorer == "linear":
        return shift, None
    rank = config.interaction_rank
    scale = (rank * config.word_width if config.scaled_edges else rank) ** -0.5
    return shift, scale * linear(weights, "encoder.interaction.said", history, by_row=True)


def mean_history(words: Array, context: PhraseContext, ops: Ops) -> Array:
    r"""Equation (G5), :math:`\hat e_{<p}`: mean vector of all words decoded before, ``(P, D_w)``.

    Zero where nothing was. The word of a merged node is the first with that stem.
    """
    return ops.bag_mean(words, context.history_nodes)  # (P, D_w)
