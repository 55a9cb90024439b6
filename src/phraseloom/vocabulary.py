"""An extractor that knows the terms of a controlled vocabulary."""

import copy
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from phraseloom.config import StyleRanking
from phraseloom.errors import OptionsError, shown
from phraseloom.io.vocabulary import Term, Terms, read_vocabulary, to_terms
from phraseloom.options import as_path
from phraseloom.text.terms import MAX_TERM_WORDS, TermLabels, form_name
from phraseloom.text.words import normalise

T = TypeVar("T")

_FEATURE = "in_vocabulary"
_WEIGHT = 1.5
"""Log odds that a term has before other phrases, of a model that was not fitted with one."""

_logger = logging.getLogger(__name__)


def with_vocabulary(extractor: T, terms: Terms) -> T:
    """The same extractor, which also finds the terms of a vocabulary and prefers them.

    Found forms of a term carry its preferred label, `Keyphrase.label`, and of several forms in a
    text the best one is returned. Terms that the extractor knows already stay; of a form that both
    have, the new label is taken. A form of several terms is logged as a warning.

    Args:
        extractor: to begin from; it stays as it is.
        terms: a file (see `read_vocabulary`), labels, or labels with their other forms.

    Raises:
        PhraseloomError: there are no terms in it.
    """
    labels = name_labels(load_terms(terms))
    if not labels:
        raise OptionsError(f"a vocabulary needs terms, of {MAX_TERM_WORDS} words at most")
    changed: Any = copy.copy(extractor)
    lexicon = changed.model.lexicon
    known = lexicon.labels.labels if lexicon.labels else {}
    lexicon = replace(lexicon, labels=TermLabels({**known, **labels}))
    changed.model = replace(changed.model, lexicon=lexicon)
    changed.ranking = {name: _prefer(ranking) for name, ranking in changed.ranking.items()}
    changed._directory = None  # the vocabulary is not in there
    return changed


def load_terms(terms: Terms) -> list[Term]:
    """The terms of a file, or those that a caller hands in."""
    wanted = "a vocabulary is a file, a list of labels, or a mapping from labels to other forms"
    try:
        if not isinstance(terms, Path | str):
            return to_terms(terms)
        if not str(terms).strip():
            raise OptionsError(f"{wanted}, not {shown(terms)}")
        return read_vocabulary(as_path(terms, "a vocabulary"))
    except (TypeError, AttributeError):
        raise OptionsError(f"{wanted}, not {shown(terms)}") from None


def name_labels(terms: Sequence[Term]) -> dict[str, str]:
    """Preferred label of each form, by what it is called; a term has what is its own label.

    Of other forms that several terms have, it is the first's, and one line tells of them.
    """
    pairs = [(term.label, term.label) for term in terms]
    pairs += [(form, term.label) for term in terms for form in term.forms]
    labels: dict[str, str] = {}
    shared: dict[str, tuple[str, str]] = {}
    for form, label in pairs:
        if 0 < len(normalise(form).split()) <= MAX_TERM_WORDS and (name := form_name(form)):
            first = labels.setdefault(name, label)
            if form_name(first) != form_name(label):
                shared.setdefault(form, (first, label))
    if shared:
        form, (first, other) = next(iter(shared.items()))
        others = f"; so with {len(shared) - 1} more" if len(shared) > 1 else ""
        line = f"{shown(form)} is a form of {shown(first)} and of {shown(other)}; the first has it"
        _logger.warning("%s%s", line, others)
    return labels


def _prefer(ranking: StyleRanking) -> StyleRanking:
    def more(weights: dict[str, float]) -> dict[str, float]:
        fitted = weights.get(_FEATURE)  # zero: to documents without a vocabulary
        return {**weights, _FEATURE: fitted or _WEIGHT} if weights else weights

    weights_of = {kind: more(weights) for kind, weights in ranking.weights_of.items()}
    changes = {"weights": more(ranking.weights), "weights_of": weights_of}
    return ranking.model_copy(update=changes)
