"""Graph convolutions over weighted dependency edges; §3.2."""

from phraseloom.config import ModelConfig
from phraseloom.network.graph import Edges
from phraseloom.network.ops import Array, Ops, Weights, linear, relu


def messages(weights: Weights, layer: int, nodes: Array) -> Array:
    """What each node sends along its edges, :math:`W h_j + b`, ``(N, D)``."""
    return linear(weights, f"encoder.convolutions.{layer}.message", nodes)  # (N, D)


def convolve(
    weights: Weights,
    config: ModelConfig,
    edges: Edges,
    normalised: Array,
    nodes: Array,
    first_messages: Array,
    ops: Ops,
) -> Array:
    r"""Equation (G4), the paper's (2), layer by layer.

    .. math:: h^k_i = \mathrm{ReLU}\Big(\sum_j \frac{A_{ij}}{d_i} (W^k h^{k-1}_j + b^k)\Big)

    The residual form, ours, is :math:`h^{k-1}_i + h^k_i`.

    Args:
        weights: of the network.
        config: its shape.
        edges: from j to i.
        normalised: :math:`A_{ij} / d_i` of each edge, ``(E,)``.
        nodes: :math:`h^0`, ``(N, D)``.
        first_messages: of the first layer; they are the same for all copies of a document.
        ops: to compute with.

    Returns:
        States after the last layer, ``(N, D)``.
    """
    for layer in range(config.layers):
        sent = messages(weights, layer, nodes) if layer else first_messages  # (N, D)
        received = relu(ops.graph_product(edges, normalised, sent), ops.xp)  # (N, D)
        nodes = nodes + received if config.residual else received  # (N, D)
    return nodes
