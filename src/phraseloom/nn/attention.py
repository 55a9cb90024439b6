"""Attention of the decoder over what can be copied, aware of what was attended to before.

Both kinds give a score to each of ``S`` entries of a memory from a query and from the coverage of
the entry. What depends on the memory alone is computed once by `prepare`.
"""

import torch
from torch import Tensor, nn


class BilinearAttention(nn.Module):
    r"""Equation (A1) of docs/notation.md, ours: :math:`(W_s s)^\top (h_i + v\, \kappa_i)`.

    :math:`\kappa_i` is the coverage of entry i. One matrix product scores all entries for all
    queries, where the additive form needs a vector for every pair.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query = nn.Linear(width, width)
        self.coverage = nn.Parameter(torch.empty(width).normal_(std=width**-0.5))
        self.scale = width**-0.5

    def prepare(self, memory: Tensor) -> Tensor:
        """Nothing but the memory itself, ``(G, S, D)``."""
        return memory

    def scores(self, queries: Tensor, keys: Tensor) -> "BilinearScores":
        """Scores of all queries ``(G, Q, D)`` before coverage, over keys ``(G, S, D)``."""
        projected = self.query(queries) * self.scale  # (G, Q, D)
        return BilinearScores(
            base=projected @ keys.transpose(1, 2),  # (G, Q, S)
            per_coverage=projected @ self.coverage,  # (G, Q)
        )


class BilinearScores:
    """Scores waiting for coverage, which is known one step at a time."""

    def __init__(self, base: Tensor, per_coverage: Tensor) -> None:
        self.base = base
        self.per_coverage = per_coverage

    def at(self, step: int, coverage: Tensor) -> Tensor:
        """Scores of query ``step``, ``(G, S)``, for coverage ``(G, S)``."""
        return self.base[:, step] + self.per_coverage[:, step, None] * coverage  # (G, S)

    def all(self, coverage: Tensor) -> Tensor:
        """Scores of every query, ``(G, Q, S)``, each with its own coverage ``(G, Q, S)``."""
        return self.base + self.per_coverage[..., None] * coverage  # (G, Q, S)


class AdditiveAttention(nn.Module):
    r"""Equation (A2), the paper's: :math:`v^\top \tanh(W_s s + W_h h_i + w_\kappa \kappa_i)`."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width, bias=False)
        self.coverage = nn.Parameter(torch.empty(width).normal_(std=width**-0.5))
        self.value = nn.Parameter(torch.empty(width).normal_(std=width**-0.5))

    def prepare(self, memory: Tensor) -> Tensor:
        """Keys :math:`W_h h_i`, ``(G, S, D)``."""
        return self.key(memory)  # (G, S, D)

    def scores(self, queries: Tensor, keys: Tensor) -> "AdditiveScores":
        """Scores of all queries ``(G, Q, D)`` before coverage, over keys ``(G, S, D)``."""
        return AdditiveScores(self.query(queries), keys, self.coverage, self.value)


class AdditiveScores:
    """Scores waiting for coverage, which is known one step at a time."""

    def __init__(self, queries: Tensor, keys: Tensor, coverage: Tensor, value: Tensor) -> None:
        self.queries = queries
        self.keys = keys
        self.coverage = coverage
        self.value = value

    def at(self, step: int, coverage: Tensor) -> Tensor:
        """Scores of query ``step``, ``(G, S)``, for coverage ``(G, S)``."""
        features = self.keys + self.queries[:, step, None]  # (G, S, D)
        return torch.tanh(features + coverage[..., None] * self.coverage) @ self.value  # (G, S)

    def all(self, coverage: Tensor) -> Tensor:
        """Scores of every query, ``(G, Q, S)``, each with its own coverage ``(G, Q, S)``."""
        steps = range(self.queries.shape[1])
        return torch.stack([self.at(step, coverage[:, step]) for step in steps], 1)  # (G, Q, S)


Attention = BilinearAttention | AdditiveAttention
