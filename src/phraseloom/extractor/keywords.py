"""The arguments of KeyBERT's ``extract_keywords``, as far as they mean something here."""

from collections.abc import Iterable

from phraseloom.errors import PhraseloomError
from phraseloom.extractor.keyphrase import Keyphrase

Scored = list[tuple[str, float]]
"""Phrases with their scores, best first."""


def as_pairs(phrases: Iterable[Keyphrase]) -> Scored:
    """Phrases and their scores, and nothing else."""
    return [(phrase.text, phrase.score) for phrase in phrases]


def check_lengths(ngram_range: tuple[int, int] | None) -> tuple[int, int] | None:
    """Fewest and most words of a phrase."""
    if ngram_range is None:
        return None
    fewest, most = ngram_range
    if not 1 <= fewest <= most:
        raise PhraseloomError(
            "keyphrase_ngram_range must be fewest and most words, such as (1, 3),"
            f" not {ngram_range}"
        )
    return fewest, most


def pick_diversity(diversity: float | None, use_mmr: bool | None) -> float | None:
    """The diversity that is meant: KeyBERT's own default, 0.5, if only MMR was asked for."""
    if use_mmr is False:
        return None
    return 0.5 if use_mmr and diversity is None else diversity


def check_stop_words(stop_words: str | None) -> None:
    """Lists of stop words have no place in the search."""
    if stop_words not in (None, "english"):
        raise PhraseloomError(
            "stop_words can only be 'english', which changes nothing: the model has learned which"
            " words begin and end a phrase; give candidates to limit what is returned"
        )
