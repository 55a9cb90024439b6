"""KeyBERT's call: ``extract_keywords`` and its arguments, as far as they mean something here.

`Extractor` has this function as a method, so nothing of the extractor is imported here.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from phraseloom.errors import OptionsError, shown
from phraseloom.keyphrase import Keyphrase
from phraseloom.options import Options

ScoredTexts = list[tuple[str, float]]
"""Phrases with their scores, best first."""

_MMR_DIVERSITY = 0.5  # KeyBERT's own, if MMR is asked for and nothing else
_INSTEAD = {
    "doc_embeddings": "the model reads the text itself; leave it out",
    "word_embeddings": "the model reads the text itself; leave it out",
    "highlight": "the phrases of extract(text) have spans; the command phraseloom extract"
    " --format html marks them",
    "min_df": "to count phrases over many texts there is KeyphraseVectorizer(min_df=...) in"
    " phraseloom.integrations.sklearn",
    "nr_candidates": "it belongs to use_maxsum; ask for diversity, such as 0.7",
    "threshold": "every text gets phrases of its own; for a lowest score there is"
    " extract(text, min_score=...)",
    "use_maxsum": "ask for diversity, such as 0.7",
    "vectorizer": "give the phrases to choose from as candidates, or lengths as"
    " keyphrase_ngram_range",
}


class _Extracts(Protocol):
    def extract_many(
        self, sources: Iterable[str], options: Options | None = None, *, progress: bool | None
    ) -> Iterator[list[Keyphrase]]: ...


def extract_keywords(
    self: _Extracts,
    docs: str | Iterable[str],
    candidates: Iterable[str] | None = None,
    keyphrase_ngram_range: tuple[int, int] | None = None,
    stop_words: str | None = None,
    top_n: int = 5,
    *,
    use_mmr: bool | None = None,
    diversity: float | None = None,
    seed_keywords: Iterable[str] | None = None,
    **others: object,
) -> ScoredTexts | list[ScoredTexts]:
    """Keyphrases with scores, called as KeyBERT's method of this name is called.

    What differs from KeyBERT:

    - Phrases are returned as they are written in the text, not lower-cased, and are compared by
      stems: "networks" and "network" are one phrase.
    - Scores are the model's, see `Keyphrase.score`; they are not similarities.
    - A list of texts gives a list of lists, even if it has one text only.
    - Without a range of lengths the model decides how long phrases are, instead of one word.

    Args:
        self: the extractor.
        docs: one text, or several.
        candidates: the only phrases that may be returned, see `Options`.
        keyphrase_ngram_range: fewest and most words of a phrase.
        stop_words: ``"english"`` is accepted and changes nothing; the model needs no list.
        top_n: how many phrases per text, as far as it has them.
        use_mmr: False leaves diversity to the model; True alone means a diversity of 0.5.
        diversity: from 0 to 1, see `Options`; needs no ``use_mmr``.
        seed_keywords: phrases to steer towards, see `Options.seeds`.
        **others: KeyBERT's other arguments; of each it is said what to do instead.

    Raises:
        OptionsError: one of these cannot be, or means nothing here.
    """
    _refuse(others, stop_words)
    min_words, max_words = _lengths(keyphrase_ngram_range)
    by_mmr = _MMR_DIVERSITY if use_mmr and diversity is None else diversity
    options = Options(
        top=top_n,
        candidates=candidates,
        seeds=seed_keywords,
        diversity=None if use_mmr is False else by_mmr,
        min_words=min_words,
        max_words=max_words,
    )
    texts = [docs] if isinstance(docs, str) else docs
    if not isinstance(texts, Iterable):
        raise OptionsError(f"docs must be a text or a list of texts, not {type(docs).__name__}")
    lists = [
        [(phrase.text, phrase.score) for phrase in phrases]
        for phrases in self.extract_many(texts, options, progress=False)
    ]
    return lists[0] if isinstance(docs, str) else lists


def _refuse(others: dict[str, object], stop_words: object) -> None:
    """Say what to do instead of an argument; None and False ask for nothing."""
    if stop_words is not None and not (isinstance(stop_words, str) and stop_words == "english"):
        raise OptionsError(
            "stop_words can only be 'english', which changes nothing: the model has learned which"
            " words begin and end a phrase; extract(text, exclude=[...]) leaves phrases out"
        )
    for name, value in others.items():
        if name not in _INSTEAD:
            raise OptionsError(f"extract_keywords has no argument {name}")
        if value is not None and value is not False:
            raise OptionsError(f"{name} means nothing here: {_INSTEAD[name]}")


def _lengths(ngram_range: Any) -> tuple[int, int | None]:
    """Fewest and most words of a phrase; `Options` checks the numbers."""
    if ngram_range is None:
        return 1, None
    if not isinstance(ngram_range, tuple | list) or len(ngram_range) != 2:
        raise OptionsError(
            "keyphrase_ngram_range must be fewest and most words, such as (1, 3),"
            f" not {shown(ngram_range)}"
        )
    return ngram_range[0], ngram_range[1]
