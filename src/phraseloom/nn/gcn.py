"""Graph convolution over weighted dependency edges."""

import torch
from torch import Tensor, nn

from phraseloom.nn.sparse import Pattern, matrix_product


class GraphConvolution(nn.Module):
    r"""One round of messages along weighted edges.

    Equation (G4) of docs/notation.md:

    .. math:: h'_i = \mathrm{ReLU}\Big(\sum_j \frac{A_{ij}}{d_i} (W h_j + b)\Big)

    The residual form, ours, is :math:`h_i + h'_i`. The linear part is a method of its own because
    in the first layer it is the same for all copies of a document.
    """

    def __init__(self, width: int, *, residual: bool = False) -> None:
        super().__init__()
        self.message = nn.Linear(width, width)
        self.residual = residual

    def messages(self, nodes: Tensor) -> Tensor:
        """What each node has to say, :math:`W h_j + b`, ``(N, D)``."""
        return self.message(nodes)  # (N, D)

    def receive(self, pattern: Pattern, weights: Tensor, messages: Tensor, nodes: Tensor) -> Tensor:
        """Take in the neighbours' messages.

        Args:
            pattern: where the ``(N, N)`` matrix has edges.
            weights: :math:`A_{ij} / d_i` of each edge, ``(E,)``.
            messages: ``(N, D)``.
            nodes: states before the round, ``(N, D)``; read only in the residual form.

        Returns:
            New states, ``(N, D)``.
        """
        received = torch.relu(matrix_product(pattern, weights, messages))  # (N, D)
        return nodes + received if self.residual else received  # (N, D)

    def forward(self, pattern: Pattern, weights: Tensor, nodes: Tensor) -> Tensor:
        """Both halves of the round, ``(N, D)`` to ``(N, D)``."""
        return self.receive(pattern, weights, self.messages(nodes), nodes)  # (N, D)
