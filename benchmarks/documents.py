"""Made-up documents with the shape of scientific abstracts, as numbers; `texts` has text."""

import numpy as np
from numpy.typing import NDArray

from phraseloom.network.example import (
    NODE_FEATURE_SIZES,
    TOKEN_FEATURE_SIZES,
    Example,
    by_first_occurrence,
)
from phraseloom.network.lexicon import GLOSSARY_FEATURE_SIZES, Labels, Lexicon, Vocabulary
from phraseloom.slots import FIRST_WORD

TOKENS = 190
"""Tokens of a document, on average."""
PHRASES = 2.7
"""Present keyphrases of a document, on average; two words each."""
_SENTENCE = 22  # tokens
_REACH = 6  # tokens between a word and its head, at most
_UNKNOWN = 0.03  # share of words outside the vocabulary
_STEM = 3  # neighbouring words that share a stem
_SEGMENT = 12  # words between two punctuation marks


def make_lexicon(words: int = 50_000, *, styles: tuple[str, ...] = ()) -> Lexicon:
    """As many words, tags, relations and n-gram buckets as a real one has."""
    return Lexicon(
        words=Vocabulary(tuple(f"w{i}" for i in range(words))),
        pos_tags=Labels.of(f"tag{i}" for i in range(44)),
        relations=Labels.of(f"relation{i}" for i in range(44)),
        styles=styles,
        min_n=3,
        max_n=6,
        buckets=20_000,
    )


def make_examples(
    count: int, lexicon: Lexicon, *, seed: int = 0, tokens: int | None = None, phrases: int = 0
) -> list[Example]:
    """Documents of random length and number of phrases, or all of the same if those are given."""
    chance = np.random.default_rng(seed)
    lengths = np.clip(chance.lognormal(np.log(TOKENS) - 0.06, 0.35, count), 40, 500).astype(int)
    numbers = 1 + chance.poisson(PHRASES - 1, count)
    if tokens:
        lengths[:] = tokens
    if phrases:
        numbers[:] = phrases
    return [
        _make_example(chance, lexicon, int(length), int(number))
        for length, number in zip(lengths, numbers, strict=True)
    ]


def _make_example(
    chance: np.random.Generator, lexicon: Lexicon, tokens: int, phrases: int
) -> Example:
    size = len(lexicon.words)
    ranks = np.minimum(chance.zipf(1.2, tokens), size) - 1
    words = np.where(ranks < 60, ranks, chance.permutation(size)[:tokens])  # function words recur
    outside = np.flatnonzero(chance.random(tokens) < _UNKNOWN)
    word_ids = words.copy()
    word_ids[outside] = size + np.arange(len(outside))
    stem_ids = by_first_occurrence(words // _STEM)
    starts = np.sort(chance.integers(0, tokens - 3, phrases))
    return Example(
        word_ids=word_ids,
        unknown=tuple(f"novelty{chance.integers(1_000_000)}" for _ in outside),
        pos_ids=chance.integers(0, len(lexicon.pos_tags), tokens),
        heads=_make_heads(chance, tokens),
        relation_ids=chance.integers(0, len(lexicon.relations), tokens),
        stem_ids=stem_ids,
        node_features=_draw_columns(chance, tokens, NODE_FEATURE_SIZES),
        glossary_features=_draw_columns(chance, tokens, GLOSSARY_FEATURE_SIZES),
        token_features=_draw_columns(chance, tokens, TOKEN_FEATURE_SIZES),
        style=0,
        phrases=tuple(
            stem_ids[start : start + length]
            for start, length in zip(starts, chance.integers(1, 4, phrases), strict=True)
        ),
    )


def _make_heads(chance: np.random.Generator, tokens: int) -> NDArray[np.int64]:
    """One tree per sentence: every word hangs on one a few words before it, the first on none."""
    places = np.arange(tokens)
    return places - np.minimum(places % _SENTENCE, chance.integers(1, _REACH + 1, tokens))


def _draw_columns(
    chance: np.random.Generator, tokens: int, sizes: tuple[int, ...]
) -> NDArray[np.int64]:
    return np.stack([chance.integers(0, size, tokens) for size in sizes], axis=1)


def segments_of(example: Example) -> list[list[int]]:
    """The document's slots, cut every few words as punctuation would."""
    slots = (example.stem_ids + FIRST_WORD).tolist()
    return [slots[start : start + _SEGMENT] for start in range(0, len(slots), _SEGMENT)]
