"""What must hold of the embeddings of words and tokens."""

import math
from dataclasses import replace

import numpy as np

from phraseloom.config import ModelConfig
from phraseloom.network.encoder import embed_tokens, embed_words, sinusoids
from phraseloom.network.example import feature_columns, feature_sizes, token_width
from phraseloom.network.graph import Batch, Groups, collate
from phraseloom.network.ops import NUMPY
from tests.builders import TINY, make_example, make_lexicon, make_weights
from tests.network.graphs import Floats, assert_close, draw

LEXICON = make_lexicon(styles=("authors", "readers"))
FEATURES = {"node_features": True, "glossary_features": True, "token_features": True}
CONFIG = ModelConfig.model_validate({**TINY, **FEATURES, "styles": LEXICON.styles})
WEIGHTS = make_weights(CONFIG, LEXICON)
TABLE, VECTORS = WEIGHTS["encoder.words.table"], WEIGHTS["encoder.words.ngrams"]
BATCH = collate([make_example(0, tokens=5), make_example(1, tokens=7)], LEXICON)


def with_words(ids: list[int], *ngrams: list[int]) -> Batch:
    """A batch of these words, those from 20 up unknown and with these n-grams."""
    rows = np.array([bucket for word in ngrams for bucket in word], dtype=np.int64)
    offsets = np.cumsum([0, *map(len, ngrams)])
    return replace(
        BATCH,
        word_ids=np.array(ids),
        unknown_nodes=np.flatnonzero(np.array(ids) >= 20),
        unknown_ngrams=Groups(rows, offsets),
    )


def embed(batch: Batch) -> Floats:
    return np.asarray(embed_words(WEIGHTS, batch, NUMPY))


def test_known_words_have_their_row_and_others_the_mean_of_their_ngrams() -> None:
    vectors = embed(with_words([2, 21, 0, 20, 21], [3, 1, 1], [0, 4]))

    second = (VECTORS[0] + VECTORS[4]) / 2
    first = (VECTORS[3] + 2 * VECTORS[1]) / 3
    assert_close(vectors, np.stack([TABLE[2], second, TABLE[0], first, second]))


def test_unknown_words_elsewhere_in_the_batch_change_nothing() -> None:
    alone = embed(with_words([5, 1, 5]))

    assert_close(alone, TABLE[[5, 1, 5]], tolerance=0)
    assert_close(embed(with_words([5, 1, 5, 20, 21], [3, 1], [0]))[:3], alone, tolerance=0)


def test_a_word_without_ngrams_is_zero() -> None:
    vectors = embed(with_words([20, 21], [3, 1, 1], []))

    assert vectors[0].any()
    assert not vectors[1].any()


def test_tokens_join_their_parts() -> None:
    words = draw(0, len(BATCH.word_ids), CONFIG.word_width)

    tokens = embed_tokens(WEIGHTS, CONFIG, words, BATCH, NUMPY)

    for i in range(len(words)):
        angles = [float(BATCH.positions[i]) / 10_000 ** (2 * k / 4) for k in range(2)]
        position = [wave(angle) for angle in angles for wave in (math.sin, math.cos)]
        features = [
            WEIGHTS[f"encoder.tokens.features.{column}.weight"][bucket]
            for column, bucket in enumerate(BATCH.features[i])
        ]
        pos = WEIGHTS["encoder.tokens.pos.weight"][BATCH.pos_ids[i]]
        assert_close(tokens[i], np.concatenate([words[i], pos, position, *features]))
    assert tokens.shape[1] == token_width(CONFIG)


def test_only_features_that_the_network_reads_are_joined() -> None:
    every = CONFIG
    none = CONFIG.model_copy(update={**dict.fromkeys(FEATURES, False), "styles": ()})
    glossary = none.model_copy(update={"glossary_features": True})
    written = none.model_copy(update={"token_features": True})

    assert feature_columns(every) == list(range(11))
    assert feature_columns(none) == []
    assert feature_columns(glossary) == [3, 4, 5, 6]
    assert feature_columns(written) == [8, 9, 10]
    for config in (every, none, glossary, written):
        assert len(feature_sizes(config, LEXICON)) == len(feature_columns(config))
    assert BATCH.features.shape[1] == len(feature_sizes(every, LEXICON))
    assert (BATCH.features.max(0) < feature_sizes(every, LEXICON)).all()


def test_renumbering_tokens_renumbers_their_embeddings() -> None:
    order = np.random.default_rng(0).permutation(len(BATCH.word_ids))
    words = draw(0, len(order), CONFIG.word_width)
    columns = ("pos_ids", "positions", "features")
    moved = replace(BATCH, **{name: getattr(BATCH, name)[order] for name in columns})

    tokens = embed_tokens(WEIGHTS, CONFIG, words, BATCH, NUMPY)

    assert_close(embed_tokens(WEIGHTS, CONFIG, words[order], moved, NUMPY), tokens[order])


def test_positions_are_told_apart() -> None:
    waves = sinusoids(np.arange(600, dtype=np.float32), 10, np)

    assert waves.shape == (600, 10)
    assert len(np.unique(waves, axis=0)) == 600
    assert np.abs(waves).max() <= 1
