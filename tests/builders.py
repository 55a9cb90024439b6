"""Small random lexicons, documents and models for tests of the numbers and of the network."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from phraseloom.config import Config, ModelConfig, SearchConfig
from phraseloom.network.example import (
    NODE_FEATURE_SIZES,
    TOKEN_FEATURE_SIZES,
    Example,
    by_first_occurrence,
)
from phraseloom.network.lexicon import GLOSSARY_FEATURE_SIZES, Labels, Lexicon, Vocabulary
from phraseloom.network.model import KeyphraseModel
from phraseloom.network.shapes import weight_shapes

TINY: dict[str, Any] = {
    "word_width": 6,
    "pos_width": 3,
    "position_width": 4,
    "width": 8,
    "edge_width": 3,
    "layers": 2,
    "decoder_layers": 2,
    "interaction_rank": 3,
    "dropout": 0.0,
}
"""Sizes at which a test of the whole network takes milliseconds."""


def make_lexicon(*, styles: tuple[str, ...] = ()) -> Lexicon:
    """Twenty words, three tags, four relations (the unknown ones included)."""
    return Lexicon(
        words=Vocabulary(tuple(f"word{i}" for i in range(20))),
        pos_tags=Labels.of(["NOUN", "VERB"]),
        relations=Labels.of(["amod", "nsubj", "obj"]),
        styles=styles,
        min_n=3,
        max_n=4,
        buckets=50,
    )


def make_english_lexicon(*, styles: tuple[str, ...] = ()) -> Lexicon:
    """Three words of English; all others have the vectors of their n-grams."""
    return Lexicon(
        words=Vocabulary(("graph", "network", "the")),
        pos_tags=Labels.of(["NN"]),
        relations=Labels.of(["nsubj"]),
        styles=styles,
        min_n=3,
        max_n=5,
        buckets=50,
    )


def make_styled_model() -> tuple[KeyphraseModel, Config]:
    """A network that knows two styles and hardly a word, with all that an extractor needs."""
    styles = ("author", "indexer")
    config = Config(
        model=ModelConfig(word_width=8, width=12, layers=2, decoder_layers=1, styles=styles),
        search=SearchConfig(beam_width=3, max_words=3, max_phrases=5, min_score=0.0),
    )
    lexicon = make_english_lexicon(styles=styles)
    return KeyphraseModel(config.model, lexicon, make_weights(config.model, lexicon)), config


def make_example(seed: int, *, tokens: int = 9, phrases: int = 3, unknown: int = 2) -> Example:
    """A random document: a forest of trees, repeated stems, and gold phrases of 1 to 3 words.

    Args:
        seed: of everything random about it.
        tokens: how many.
        phrases: how many, at most; each differs from the others.
        unknown: how many of its words are outside the vocabulary, at most.
    """
    chance = np.random.default_rng(seed)
    words = chance.integers(0, 20, tokens)
    outside = chance.permutation(tokens)[:unknown]
    words[np.sort(outside)] = 20 + np.arange(len(outside))
    stem_ids = by_first_occurrence(chance.integers(0, max(1, 2 * tokens // 3), tokens))
    spans = [
        tuple(stem_ids[start : start + length].tolist())
        for start, length in zip(
            np.sort(chance.integers(0, tokens, phrases)),
            chance.integers(1, 4, phrases),
            strict=True,
        )
    ]
    return Example(
        word_ids=words,
        unknown=tuple(f"novelty{seed}x{i}" for i in range(len(outside))),
        pos_ids=chance.integers(0, 3, tokens),
        heads=make_heads(chance, tokens),
        relation_ids=chance.integers(0, 4, tokens),
        stem_ids=stem_ids,
        node_features=_draw_columns(chance, tokens, NODE_FEATURE_SIZES),
        glossary_features=_draw_columns(chance, tokens, GLOSSARY_FEATURE_SIZES),
        token_features=_draw_columns(chance, tokens, TOKEN_FEATURE_SIZES),
        style=0,
        phrases=tuple(np.array(phrase) for phrase in dict.fromkeys(spans)),
    )


def make_heads(chance: np.random.Generator, tokens: int) -> NDArray[np.int64]:
    """A random forest: a node hangs on one that comes earlier in a random order, or is a root."""
    order = chance.permutation(tokens)
    heads = np.arange(tokens)
    for rank in range(1, tokens):
        if chance.random() > 0.2:
            heads[order[rank]] = order[chance.integers(0, rank)]
    return heads


def _draw_columns(
    chance: np.random.Generator, tokens: int, sizes: tuple[int, ...]
) -> NDArray[np.int64]:
    return np.stack([chance.integers(0, size, tokens) for size in sizes], axis=1)


def make_model(lexicon: Lexicon, *, seed: int = 0, **settings: Any) -> KeyphraseModel:
    """A tiny model with random weights, n-gram vectors included."""
    config = ModelConfig.model_validate({**TINY, "styles": lexicon.styles, **settings})
    return KeyphraseModel(config, lexicon, make_weights(config, lexicon, seed=seed))


def make_weights(
    config: ModelConfig, lexicon: Lexicon, *, seed: int = 0
) -> dict[str, NDArray[np.float32]]:
    """Random weights; small numbers would hide what goes wrong."""
    chance = np.random.default_rng(seed)
    return {
        name: chance.normal(scale=0.5, size=shape).astype(np.float32)
        for name, shape in weight_shapes(config, lexicon).items()
    }
