"""An extractor that knows the terms of a controlled vocabulary."""

import copy
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from phraseloom.config import StyleRanking
from phraseloom.errors import OptionsError, shown
from phraseloom.io.vocabulary import Term, read_vocabulary, to_terms
from phraseloom.network.lexicon import MAX_GLOSSARY_WORDS
from phraseloom.options import as_path
from phraseloom.text.matching import unit_stems

T = TypeVar("T")

Terms = Path | str | Mapping[str, Iterable[str]] | Iterable[str]

_FEATURE = "in_vocabulary"
_WEIGHT = 1.5
"""Log odds that a term has before other phrases, of a model that was not fitted with one."""


def with_vocabulary(extractor: T, terms: Terms) -> T:
    """The same extractor, which also finds the terms of a vocabulary and prefers them.

    Found forms of a term carry its preferred label, `Keyphrase.label`, and of several forms in a
    text the best one is returned.

    Args:
        extractor: to begin from; it stays as it is.
        terms: a file (see `read_vocabulary`), labels, or labels with their other forms.

    Raises:
        PhraseloomError: there are no terms in it.
    """
    try:
        if isinstance(terms, Path | str):
            read = read_vocabulary(as_path(terms, "a vocabulary"))
        else:
            read = to_terms(terms)
    except (TypeError, AttributeError):
        wanted = "a file, a list of labels, or a mapping from labels to lists of other forms"
        raise OptionsError(f"a vocabulary is {wanted}, not {shown(terms)}") from None
    labels = stem_labels(read)
    if not labels:
        raise OptionsError("a vocabulary needs terms")
    changed: Any = copy.copy(extractor)
    lexicon = replace(changed.model.lexicon, labels=labels)
    changed.model = replace(changed.model, lexicon=lexicon)
    changed.ranking = {name: _prefer(ranking) for name, ranking in changed.ranking.items()}
    changed._directory = None  # the vocabulary is not in there
    return changed


def stem_labels(terms: Iterable[Term]) -> dict[str, str]:
    """Preferred label of each form, by its stems; of two terms of one form, the first's."""
    labels: dict[str, str] = {}
    for term in terms:
        for form in term.forms:
            stems = unit_stems(form)
            if 0 < len(stems) <= MAX_GLOSSARY_WORDS:
                labels.setdefault(" ".join(stems), term.label)
    return labels


def _prefer(ranking: StyleRanking) -> StyleRanking:
    def more(weights: dict[str, float]) -> dict[str, float]:
        fitted = weights.get(_FEATURE)  # zero: to documents without a vocabulary
        return {**weights, _FEATURE: fitted or _WEIGHT} if weights else weights

    weights_of = {kind: more(weights) for kind, weights in ranking.weights_of.items()}
    changes = {"weights": more(ranking.weights), "weights_of": weights_of}
    return ranking.model_copy(update=changes)
