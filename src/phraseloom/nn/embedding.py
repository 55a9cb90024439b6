"""What is known of a token before its context: word, POS tag, position and features."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class WordEmbedding(nn.Module):
    r"""Vectors of words, learned for those of the vocabulary, from n-grams for all others.

    Equation (E1) of docs/notation.md: :math:`e^w_i` is the word's row of a learned table or, for a
    word outside the vocabulary, the mean of its character n-grams' fixed vectors.
    """

    ngrams: Tensor

    def __init__(self, words: int, width: int, *, buckets: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(words, width).normal_(std=width**-0.5))
        self.register_buffer("ngrams", torch.zeros(buckets, width))

    def forward(self, word_ids: Tensor, ngram_ids: Tensor, ngram_offsets: Tensor) -> Tensor:
        """Look words up.

        Args:
            word_ids: ``(N,)``; from ``words`` up they count the unknown words.
            ngram_ids: buckets of all unknown words' n-grams.
            ngram_offsets: where each unknown word's n-grams begin, ``(U,)``.

        Returns:
            Vectors, ``(N, D_w)``.
        """
        if not len(ngram_offsets):
            return F.embedding(word_ids, self.table)  # (N, D_w)
        unknown = F.embedding_bag(ngram_ids, self.ngrams, ngram_offsets, mode="mean")  # (U, D_w)
        known = F.embedding(word_ids.clamp(max=len(self.table) - 1), self.table)  # (N, D_w)
        outside = word_ids >= len(self.table)  # (N,)
        return known.masked_fill(outside[:, None], 0.0).index_put(
            (outside.nonzero().squeeze(1),), unknown[word_ids[outside] - len(self.table)]
        )  # (N, D_w)


class TokenEmbedding(nn.Module):
    r"""Equation (E2): :math:`e_i = [e^w_i ; e^{pos}_i ; e^p_i]`, and our features if any.

    Positions are sinusoidal. A feature is a small bucketed number with a table of its own: those of
    the node's stem, the marks of known phrases, the style.
    """

    def __init__(
        self,
        word_width: int,
        *,
        pos_tags: int,
        pos_width: int,
        position_width: int,
        feature_sizes: Sequence[int] = (),
        feature_width: int = 8,
    ) -> None:
        super().__init__()
        self.pos = nn.Embedding(pos_tags, pos_width)
        self.position_width = position_width
        self.features = nn.ModuleList(nn.Embedding(size, feature_width) for size in feature_sizes)
        self.width = word_width + pos_width + position_width + feature_width * len(feature_sizes)

    def forward(
        self, words: Tensor, pos_ids: Tensor, positions: Tensor, features: Tensor
    ) -> Tensor:
        """Join what is known of each token.

        Args:
            words: word vectors, ``(N, D_w)``.
            pos_ids: ``(N,)``.
            positions: place in the document, ``(N,)``.
            features: bucketed features, ``(N, F)``.

        Returns:
            Token embeddings, ``(N, width)``.
        """
        parts = [words, self.pos(pos_ids), sinusoids(positions, self.position_width)]
        parts += [table(ids) for table, ids in zip(self.features, features.t(), strict=True)]
        return torch.cat(parts, dim=1)  # (N, width)


def sinusoids(positions: Tensor, width: int) -> Tensor:
    r"""Equation (E3): :math:`\sin` and :math:`\cos` of the position at ``width / 2`` wavelengths.

    Wavelengths grow from :math:`2\pi` to :math:`2\pi \cdot 10^4` in equal ratios.
    """
    rates = torch.exp(torch.arange(0, width, 2) * (-math.log(1e4) / width))  # (width / 2,)
    angles = positions[:, None] * rates  # (N, width / 2)
    return torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)  # (N, width)
