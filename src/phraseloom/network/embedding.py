r"""What is known of a token before its context: word, POS tag, position and features; §3.1.

Equation (E2) of docs/notation.md: :math:`e_i = [e^w_i ; e^{pos}_i ; e^p_i]`, and our features.
"""

import math
from typing import Any

from phraseloom.config import ModelConfig
from phraseloom.network.example import NODE_FEATURE_SIZES
from phraseloom.network.features import TOKEN_FEATURE_SIZES
from phraseloom.network.graph import Batch
from phraseloom.network.lexicon import GLOSSARY_FEATURE_SIZES, Lexicon
from phraseloom.network.ops import Array, Ops, Weights

FEATURE_WIDTH = 8


def embed_words(weights: Weights, batch: Batch, ops: Ops) -> Array:
    r"""Equation (E1): :math:`e^w_i` is the word's row of a learned table.

    A word outside the vocabulary is the mean of its character n-grams' fixed vectors.

    Returns:
        ``(N, D_w)``.
    """
    xp, table = ops.xp, weights["encoder.words.table"]
    size = table.shape[0]
    known = ops.gather_rows(table, xp.clip(batch.word_ids, None, size - 1))  # (N, D_w)
    if not len(batch.unknown_ngrams.offsets) - 1:
        return known
    unknown = ops.bag_mean(weights["encoder.words.ngrams"], batch.unknown_ngrams)  # (U, D_w)
    outside = (batch.word_ids >= size)[:, None]  # (N, 1)
    return xp.where(outside, unknown[xp.clip(batch.word_ids - size, 0, None)], known)


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
    rates = xp.asarray([math.exp(-math.log(1e4) * k / width) for k in range(0, width, 2)])
    angles = positions[:, None] * xp.astype(rates, positions.dtype)  # (N, width / 2)
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
