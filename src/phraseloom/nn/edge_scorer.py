"""A weight for every edge, and how it moves with what has been said."""

import torch
from torch import Tensor, nn


class EdgeScorer(nn.Module):
    r"""Score of an edge before the sigmoid, for one document: the part that no phrase changes.

    Equation (G1) of docs/notation.md, :math:`W_e [e_i ; e_j ; t_{ij}]`. The product with the joined
    vector is the sum of three products, so nodes are scored once each and not once an edge.

    Scaled, ours, the score is divided by the root of the joined vector's width. Else Adam's steps,
    of one size in all of hundreds of weights, soon drive it to where the sigmoid is flat.
    """

    def __init__(
        self, token_width: int, *, edge_types: int, edge_width: int, is_scaled: bool = False
    ) -> None:
        super().__init__()
        self.ends = nn.Linear(token_width, 2)  # as target, as source
        self.types = nn.Embedding(edge_types, edge_width)
        self.type_score = nn.Linear(edge_width, 1, bias=False)
        self.scale = (2 * token_width + edge_width) ** -0.5 if is_scaled else 1.0

    def forward(self, tokens: Tensor, sources: Tensor, targets: Tensor, types: Tensor) -> Tensor:
        """Score edges.

        Args:
            tokens: token embeddings, ``(N, D_e)``.
            sources: node j that each edge comes from, ``(E,)``.
            targets: node i that each edge runs to, ``(E,)``.
            types: type of each edge, ``(E,)``.

        Returns:
            Scores before the sigmoid, ``(E,)``.
        """
        as_target, as_source = self.ends(tokens).unbind(1)  # (N,), (N,)
        of_type = self.type_score(self.types.weight).squeeze(1)  # (edge types,)
        return self.scale * (as_target[targets] + as_source[sources] + of_type[types])  # (E,)


class SaidShift(nn.Module):
    r"""Equation (G2), linear: the term :math:`W_e \hat e_{<p}` that eq. (7) of the paper adds.

    It is one number a phrase: every edge of a document moves by the same amount.
    """

    def __init__(self, word_width: int, *, is_scaled: bool = False) -> None:
        super().__init__()
        self.score = nn.Linear(word_width, 1, bias=False)
        self.scale = word_width**-0.5 if is_scaled else 1.0

    def forward(self, said: Tensor) -> Tensor:
        """Shift of each copy's edges, ``(G,)``, for mean said words ``(G, D_w)``."""
        return self.scale * self.score(said).squeeze(1)  # (G,)


class SaidInteraction(nn.Module):
    r"""Equation (G3), ours: each end of an edge also answers to what was said.

    .. math:: (P \hat e_{<p}) \cdot (Q e_i) + (P \hat e_{<p}) \cdot (Q' e_j)

    So edges near what was said can move more than others.
    """

    def __init__(
        self, word_width: int, token_width: int, *, rank: int, is_scaled: bool = False
    ) -> None:
        super().__init__()
        self.said = nn.Linear(word_width, rank, bias=False)
        self.target = nn.Linear(token_width, rank, bias=False)
        self.source = nn.Linear(token_width, rank, bias=False)
        self.scale = (rank * word_width if is_scaled else rank) ** -0.5

    def listen(self, tokens: Tensor) -> Tensor:
        """What of each token answers, as target and as source, ``(N, D_e)`` to ``(N, 2, rank)``."""
        return torch.stack([self.target(tokens), self.source(tokens)], 1)  # (N, 2, rank)

    def forward(self, said: Tensor, listening: Tensor, copy_of: Tensor, nodes: Tensor) -> Tensor:
        """How each copied node answers, as target and as source.

        Args:
            said: mean said words of each copy, ``(G, D_w)``.
            listening: of each token, from `listen`, ``(N, 2, rank)``.
            copy_of: copy of each copied node, ``(N',)``.
            nodes: node that each copied node copies, ``(N',)``.

        Returns:
            ``(N', 2)``.
        """
        spoken = self.said(said)[copy_of] * self.scale  # (N', rank)
        return (listening[nodes] * spoken[:, None]).sum(2)  # (N', 2)
