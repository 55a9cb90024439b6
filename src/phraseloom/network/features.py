"""What is known of each token from its text and tree: its shape and its part in a noun phrase.

The benchmark files are lower-case and without hyphens, so both features have a value for "cannot be
told", and training shows them absent often enough (`TrainConfig.feature_dropout`).
"""

from collections.abc import Sequence
from enum import IntEnum

import numpy as np

from phraseloom.network.lexicon import Ids
from phraseloom.text.noun_phrases import Role, noun_phrases, phrase_roles


class Shape(IntEnum):
    """How a token is written."""

    UNKNOWN = 0
    """Nothing in the text has a capital letter."""
    OTHER = 1
    LOWER = 2
    CAPITALIZED = 3
    FIRST = 4
    """Capitalized, but as the first of its sentence it would be anyway."""
    UPPER = 5
    MIXED = 6


class Joint(IntEnum):
    """Whether a hyphen joins a token to its neighbours."""

    NONE = 0
    NEXT = 1
    PREVIOUS = 2
    BOTH = 3


TOKEN_FEATURE_SIZES = (len(Shape), len(Role), len(Joint))


def token_features(
    texts: Sequence[str],
    joined: Sequence[bool],
    tags: Sequence[str],
    heads: Sequence[int],
    sentences: Sequence[int],
) -> Ids:
    """Shape, role and joint of each token, ``(N, 3)``.

    Args:
        texts: of the tokens, as they stand in the document.
        joined: whether a hyphen joins each to the next.
        tags: Penn Treebank tags.
        heads: governing tokens, counted in the document.
        sentences: first token of each sentence.
    """
    roles = phrase_roles(len(texts), noun_phrases(tags, heads, joined))
    joints = [
        (Joint.NEXT if after else 0) | (Joint.PREVIOUS if before else 0)
        for before, after in zip([False, *joined[:-1]], joined, strict=True)
    ]
    columns = [_shapes(texts, sentences), roles, joints]
    return np.array(columns, dtype=np.int64).reshape(len(columns), -1).T  # (N, 3)


def hide_writing(features: Ids) -> Ids:
    """The same features of a text that shows neither case nor hyphens."""
    return features * np.array([0, 1, 0])


def _shapes(texts: Sequence[str], sentences: Sequence[int]) -> list[Shape]:
    if all(text == text.lower() for text in texts):
        return [Shape.UNKNOWN] * len(texts)
    firsts = set(sentences)
    return [_shape(text, token in firsts) for token, text in enumerate(texts)]


def _shape(text: str, is_first: bool) -> Shape:
    if text.islower():
        return Shape.LOWER
    if text[:1].isupper() and (len(text) == 1 or text[1:].islower()):
        return Shape.FIRST if is_first else Shape.CAPITALIZED
    if text.isupper():
        return Shape.UPPER
    return Shape.MIXED if any(map(str.isupper, text)) else Shape.OTHER
