"""One document as numbers: what the network reads, and the phrases it should write.

Two roads lead here, from a parsed `Document` and from a row of a prepared corpus
(`phraseloom.train.corpus.examples`); both give the same example, which a test checks. The benchmark
files are lower-case and without hyphens, so features of the writing have a value for "cannot be
known", and training shows them absent often enough (`TrainConfig.feature_dropout`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phraseloom.config import ModelConfig
from phraseloom.network.lexicon import GLOSSARY_FEATURE_SIZES, Ids, Lexicon
from phraseloom.text.document import Document
from phraseloom.text.phrases import Role, joined_tokens, noun_phrases, phrase_roles

FEATURE_WIDTH = 8
"""Of the vector of each feature."""


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
        for before, after in zip([False, *joined], joined, strict=False)
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


FREQUENCY_EDGES = np.array([2, 3, 4, 6, 9])
"""How often a stem occurs: 1, 2, 3, 4–5, 6–8, 9 and more."""
FIRST_TOKEN_EDGES = np.array([5, 10, 20, 40, 80, 160, 320])
"""Where a stem first occurs, in tokens from the start."""
NODE_FEATURE_SIZES = (len(FREQUENCY_EDGES) + 1, 2, len(FIRST_TOKEN_EDGES) + 1)


@dataclass(frozen=True, slots=True)
class Example:
    """A document of ``N`` tokens and ``M`` distinct stems."""

    word_ids: Ids
    """Vocabulary ids, ``(N,)``; ``V + k`` is the k-th of ``unknown``."""
    unknown: tuple[str, ...]
    """Words outside the vocabulary, in order of first occurrence."""
    pos_ids: Ids
    heads: Ids
    """Token that governs each token, ``(N,)``; itself for a root."""
    relation_ids: Ids
    stem_ids: Ids
    """Which of the document's distinct stems each token has, ``(N,)``, by first occurrence."""
    node_features: Ids
    """Frequency, in title or not, and first token of each token's stem, bucketed, ``(N, 3)``."""
    glossary_features: Ids
    """What the glossary knows of the phrases that each token is a part of, ``(N, 4)``."""
    token_features: Ids
    """Shape, part in its noun phrase, and hyphens of each token, ``(N, 3)``."""
    style: int
    phrases: tuple[Ids, ...]
    """Gold phrases as stem ids, in target order."""

    def __len__(self) -> int:
        return len(self.word_ids)


class ExampleEncoder:
    """Turns documents into examples under one lexicon."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon

    def encode(self, document: Document, *, style: str | None = None) -> Example:
        """Number a parsed document; it has no gold phrases."""
        lexicon = self.lexicon
        tokens = list(document.tokens())
        starts = np.cumsum([0] + [len(sentence.tokens) for sentence in document.sentences])
        heads = [
            start + token.head
            for start, sentence in zip(starts, document.sentences, strict=False)
            for token in sentence.tokens
        ]
        title = sum(len(sentence.tokens) for sentence in document.sentences if sentence.in_title)
        words = [token.word for token in tokens]
        word_ids, unknown = number_unknown(lexicon.words.ids(words), words, len(lexicon.words))
        stems = {stem: i for i, stem in enumerate(document.distinct_stems())}
        stem_ids = np.array([stems[token.stem] for token in tokens], dtype=np.int64)
        return Example(
            word_ids=word_ids,
            unknown=unknown,
            pos_ids=lexicon.pos_tags.ids(token.pos for token in tokens),
            heads=np.array(heads, dtype=np.int64),
            relation_ids=lexicon.relations.ids(token.relation for token in tokens),
            stem_ids=stem_ids,
            node_features=node_features(stem_ids, title),
            glossary_features=lexicon.glossary.features(
                [token.stem for token in sentence.tokens] for sentence in document.sentences
            ),
            token_features=token_features(
                [token.text for token in tokens],
                joined_tokens(document),
                [token.pos for token in tokens],
                heads,
                starts[:-1].tolist(),
            ),
            style=lexicon.style_id(style),
            phrases=(),
        )


def number_unknown(word_ids: Ids, words: Sequence[Any], size: int) -> tuple[Ids, tuple[Any, ...]]:
    """Give words outside the vocabulary the ids from ``size`` up, by first occurrence.

    Returns the ids, and the distinct words outside: strings, or whatever ``words`` holds.
    """
    outside = np.flatnonzero(word_ids < 0)
    if not len(outside):
        return word_ids, ()
    extra: dict[Any, int] = {}
    numbered = word_ids.copy()
    for token in outside.tolist():
        numbered[token] = size + extra.setdefault(words[token], len(extra))
    return numbered, tuple(extra)


def by_first_occurrence(values: NDArray[Any]) -> Ids:
    """Renumber values from 0 up in the order in which they first occur."""
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def node_features(stem_ids: Ids, title_tokens: int) -> Ids:
    """Bucketed frequency, presence in the title and first token of each stem, ``(N, 3)``."""
    if not len(stem_ids):
        return np.zeros((0, len(NODE_FEATURE_SIZES)), dtype=np.int64)
    counts = np.bincount(stem_ids)
    first = np.full(len(counts), len(stem_ids))
    np.minimum.at(first, stem_ids, np.arange(len(stem_ids)))
    features_of_stem = np.stack(
        [
            np.searchsorted(FREQUENCY_EDGES, counts, side="right"),
            first < title_tokens,
            np.searchsorted(FIRST_TOKEN_EDGES, first, side="right"),
        ],
        axis=1,
    )  # (M, 3)
    return features_of_stem[stem_ids].astype(np.int64)  # (N, 3)


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
