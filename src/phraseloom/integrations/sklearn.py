"""A scikit-learn transformer: texts in, a sparse matrix with one column per keyphrase out."""

from collections import Counter
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phraseloom.errors import MissingExtraError, OptionsError, shown
from phraseloom.integrations import shared_extractor
from phraseloom.keyphrase import Keyphrase
from phraseloom.options import Options

try:
    from scipy.sparse import csr_matrix
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils import Tags
    from sklearn.utils.validation import check_is_fitted
except ImportError:
    raise MissingExtraError("KeyphraseVectorizer", "sklearn") from None

Stems = tuple[str, ...]

_WEIGHTINGS = ("score", "binary", "count")


class KeyphraseVectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Texts as vectors over the keyphrases that were found when it was fitted.

    Args:
        model: name of an installed model, a model directory, or none for the default.
        weighting: what a phrase of a text counts: its ``score``, 1 (``binary``), or how often it
            stands there (``count``, the one to put before a ``TfidfTransformer``).
        min_df: phrases of fewer texts get no column; a fraction of the texts if it is a float.
        top: phrases per text; this and all others are as in `Options`.

    Attributes:
        vocabulary_: column of each phrase, by its stems: spellings of one phrase share a column.
        phrases_: name of each column: the phrase as most texts write it.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        weighting: str = "score",
        min_df: int | float = 1,
        top: int | None = 10,
        style: str | None = None,
        candidates: Sequence[str] | None = None,
        seeds: Sequence[str] = (),
        diversity: float | None = None,
        exclude: Sequence[str] = (),
        min_words: int = 1,
        max_words: int | None = None,
        min_score: float | None = None,
    ) -> None:
        self.model = model
        self.weighting = weighting
        self.min_df = min_df
        self.top = top
        self.style = style
        self.candidates = candidates
        self.seeds = seeds
        self.diversity = diversity
        self.exclude = exclude
        self.min_words = min_words
        self.max_words = max_words
        self.min_score = min_score

    def fit(self, texts: Iterable[str], y: object = None) -> "KeyphraseVectorizer":
        """Learn which phrases there are."""
        self._learn(self._extract(texts))
        return self

    def fit_transform(self, texts: Iterable[str], y: object = None) -> csr_matrix:
        """Learn which phrases there are, and give the vectors of the same texts."""
        lists = self._extract(texts)
        self._learn(lists)
        return self._weigh(lists)

    def transform(self, texts: Iterable[str]) -> csr_matrix:
        """Vectors of texts, ``(texts, phrases)``; phrases that were not learned are left out."""
        check_is_fitted(self)
        return self._weigh(self._extract(texts))

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """The phrase of each column."""
        check_is_fitted(self)
        return self.phrases_.copy()

    def _extract(self, texts: Iterable[str]) -> list[list[Keyphrase]]:
        if self.weighting not in _WEIGHTINGS:
            known = ", ".join(_WEIGHTINGS)
            raise OptionsError(f"weighting must be one of {known}, not {shown(self.weighting)}")
        if isinstance(self.min_df, bool) or not isinstance(self.min_df, Real):
            raise OptionsError(f"min_df must be a number or a fraction, not {shown(self.min_df)}")
        checked = _check_texts(texts)
        options = Options(**{name: getattr(self, name) for name in Options.model_fields})
        return list(shared_extractor(self.model).extract_many(checked, options, progress=False))

    def _learn(self, lists: Sequence[Sequence[Keyphrase]]) -> None:
        spellings: dict[Stems, Counter[str]] = {}
        for phrases in lists:
            for phrase in phrases:
                spellings.setdefault(phrase.stems, Counter())[phrase.text] += 1
        least = self.min_df * len(lists) if isinstance(self.min_df, float) else self.min_df
        kept = sorted(stems for stems, texts in spellings.items() if texts.total() >= least)
        if not kept:
            raise OptionsError(f"no phrase is in at least {self.min_df} of the texts")
        self.vocabulary_ = {stems: column for column, stems in enumerate(kept)}
        self.phrases_ = np.array([_most_common(spellings[stems]) for stems in kept], dtype=object)

    def _weigh(self, lists: Sequence[Sequence[Keyphrase]]) -> csr_matrix:
        weights: list[float] = []
        columns: list[int] = []
        ends = [0]
        for phrases in lists:
            for phrase in phrases:
                column = self.vocabulary_.get(phrase.stems)
                if column is not None:
                    columns.append(column)
                    weights.append(self._weight(phrase))
            ends.append(len(columns))
        shape = len(lists), len(self.vocabulary_)
        matrix = csr_matrix((weights, columns, ends), shape=shape, dtype=np.float64)
        matrix.sort_indices()
        return matrix

    def _weight(self, phrase: Keyphrase) -> float:
        if self.weighting == "score":
            return phrase.score
        return 1 if self.weighting == "binary" else max(1, len(phrase.spans))

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that this takes a list of strings, not numbers."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _check_texts(texts: Any) -> list[str]:
    """The texts as a list; a table, a lone string and missing values are refused."""
    if isinstance(texts, str):
        raise OptionsError("give a list of texts, not one string")
    if getattr(texts, "ndim", 1) != 1:
        raise OptionsError('give one column of texts, such as table["abstract"], not a table')
    if not isinstance(texts, Iterable):
        raise OptionsError(f"give a list of texts, not {type(texts).__name__}")
    checked = list(texts)
    for row, text in enumerate(checked):
        if not isinstance(text, str):
            raise OptionsError(
                f"text {row} is {shown(text)}, not a string; fill in or drop what is missing first"
            )
    return checked


def _most_common(spellings: Counter[str]) -> str:
    """The most frequent spelling; of equals, the first in the alphabet."""
    return min(spellings, key=lambda text: (-spellings[text], text))
