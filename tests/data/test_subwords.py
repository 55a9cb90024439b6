"""N-gram buckets are gensim's, whatever the word."""

import numpy as np
import pytest
from gensim.models.fasttext import ft_ngram_hashes
from hypothesis import given
from hypothesis import strategies as st

from phraseloom.data.subwords import ngram_ids

encodable = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(encodable, st.integers(1, 4), st.integers(0, 4), st.integers(1, 3_000_000))
def test_agrees_with_gensim(word: str, min_n: int, more: int, buckets: int) -> None:
    ids = ngram_ids(word, min_n=min_n, max_n=min_n + more, buckets=buckets)

    assert ids.tolist() == ft_ngram_hashes(word, min_n, min_n + more, buckets)


@pytest.mark.parametrize("word", ["graph", "naïve", "граф", "図", "🕸️", "<digit>", ""])
def test_agrees_with_gensim_beyond_ascii(word: str) -> None:
    ids = ngram_ids(word, min_n=3, max_n=6, buckets=100_000)

    assert ids.tolist() == ft_ngram_hashes(word, 3, 6, 100_000)


def test_a_lone_surrogate_has_n_grams_like_any_character() -> None:
    ids = ngram_ids("\ud800", min_n=3, max_n=6, buckets=1000)

    assert len(ids) == 1


def test_without_buckets_there_are_no_ids() -> None:
    ids = ngram_ids("graph", min_n=3, max_n=6, buckets=0)

    assert ids.dtype == np.int64
    assert len(ids) == 0


def test_cached_ids_cannot_be_overwritten() -> None:
    ids = ngram_ids("graph", min_n=3, max_n=6, buckets=1000)

    with pytest.raises(ValueError, match="read-only"):
        ids[0] = 0
