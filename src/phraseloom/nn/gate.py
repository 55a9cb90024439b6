"""The residual gated linear unit over merged nodes."""

import torch
from torch import Tensor, nn


class GatedLinear(nn.Module):
    r"""Equation (M2) of docs/notation.md: :math:`H + (W_k H) \otimes \sigma(W_l H)`."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.value = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, width, bias=False)

    def forward(self, nodes: Tensor) -> Tensor:
        """``(M, D)`` to ``(M, D)``."""
        return nodes + self.value(nodes) * torch.sigmoid(self.gate(nodes))  # (M, D)
