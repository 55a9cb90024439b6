"""How a collection's lists are put together: weights, where a list ends, and whether it is gain.

The weights begin as those of the model and move as far as the documents move them. What comes of it
is measured on documents that it was not fitted to, each in its turn, and kept only if it is better,
probably.
"""

from collections.abc import Sequence
from itertools import islice, product
from typing import NamedTuple

import numpy as np

from phraseloom.config import SearchConfig, StyleRanking
from phraseloom.errors import ConfigError
from phraseloom.evaluate.bootstrap import Difference, compare
from phraseloom.evaluate.metrics import harmonic_mean, ratio
from phraseloom.evaluate.phrases import Judged
from phraseloom.evaluate.report import Report, score_documents
from phraseloom.extractor import Extractor
from phraseloom.features import FEATURES
from phraseloom.ranker import MIN_WORTH, Kinds, order_phrases, weight_vector, whole_terms
from phraseloom.train.logistic import Array, fit_logistic
from phraseloom.train.ranking import (
    Fit,
    LabelledCandidates,
    calibration_error,
    judge_lists,
    usual_options,
)

F1_AT_5, F1_AT_M = "present.filled.macro.f1@5", "present.macro.f1@M"
_PULL = 5.0  # of the model's own weights
_FOLDS = 5
_MIN_SCORES = (0.05, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3)
_MIN_PHRASES = (1, 2, 3, 4, 5)
_DOUBT = 0.2  # two-sided p value: one chance in ten that nothing is gained


class Measured(NamedTuple):
    """Lists of documents, none of which they were fitted to."""

    judged: list[Judged]
    report: Report
    calibration_error: float


def default_lists(extractor: Extractor) -> Fit:
    """The lists that a model makes by default.

    Raises:
        ConfigError: it does not rank what its search finds.
    """
    search = extractor.search
    if search.order != "expected" or search.mode == "free":
        raise ConfigError("a model can be fitted if it has search.order=expected, mode=extractive")
    if extractor.ranking:
        return Fit(next(iter(extractor.ranking.values())), extractor.kinds)
    weights = {"log_odds": 1.0}  # the search's own chance
    ranking = StyleRanking(weights=weights, min_score=search.min_score, min_phrases=1)
    return Fit(ranking, {})


def measure_fitted(
    documents: Sequence[LabelledCandidates], base: Fit, search: SearchConfig
) -> Measured:
    """Fit to all but a part of the documents and list that part; so for each part."""
    folds = min(_FOLDS, len(documents))
    fits = [
        fit_lists([d for i, d in enumerate(documents) if i % folds != fold], base, search)
        for fold in range(folds)
    ]
    return measure(documents, [fits[i % folds] for i in range(len(documents))], search)


def measure(
    documents: Sequence[LabelledCandidates], fits: Sequence[Fit], search: SearchConfig
) -> Measured:
    """The lists that users would get, each by a fit of its own."""
    judged = judge_lists(documents, fits, search)
    report = score_documents(judged, parts=("present",))
    return Measured(judged, report, calibration_error(documents, fits))


def gain(after: Measured, before: Measured) -> Difference:
    """In F1@5, with an interval."""
    return compare(after.report, before.report)[F1_AT_5]


def is_better(difference: Difference) -> bool:
    """Whether a gain is probable: nine of ten resamples gain.

    That is less than sure, and a report says so (see `FitReport.is_sure`). To ask for a 95 %
    interval above zero would deny small collections what they gain: of twelve collections of
    twenty archive descriptions each it took one, and this took four; on 120 other descriptions all
    four gained. Of ten collections of sixty, both took all ten. (Measured by hand.)
    """
    return difference.value > 0 and difference.p_value <= _DOUBT


def fit_lists(documents: Sequence[LabelledCandidates], base: Fit, search: SearchConfig) -> Fit:
    """Weights near those of the model, and the stopping rule that suits these documents best."""
    told = [base.tell_kinds(document) for document in documents]
    kinds = {kind: float(np.mean([of[kind] for of in told])) for kind in base.kinds}
    features = np.concatenate([document.features for document in documents])  # (C, F)
    targets = np.concatenate([document.is_gold for document in documents])  # (C,)
    weights = fit_logistic(
        features,
        targets,
        np.ones(len(targets)),
        towards=_weights_for(base.ranking, kinds),
        strength=_PULL,
    )
    named = {name: round(float(w), 5) for name, w in zip(FEATURES, weights, strict=True)}
    changes = {"weights": named, "weights_of": {}}
    fit = Fit(base.ranking.model_copy(update=changes), base.kinds)
    return choose_rule(documents, fit, search)


def _weights_for(ranking: StyleRanking, kinds: Kinds) -> Array:
    """One set of weights for a collection of one kind, ``(F,)``."""
    if not ranking.weights_of:
        return weight_vector(ranking.weights)
    vectors = [kinds[kind] * weight_vector(of) for kind, of in ranking.weights_of.items()]
    return np.sum(vectors, axis=0)


def choose_rule(documents: Sequence[LabelledCandidates], fit: Fit, search: SearchConfig) -> Fit:
    """The same weights with the stopping rule that gives the best F1@5 and F1@M, on average."""
    options = usual_options(search)
    rows = [_ordered_hits(document, fit, search) for document in documents]
    gold = np.array([len(document.gold) for document in documents], dtype=np.float64)  # (B,)
    best, rule = -1.0, {}
    for least, fewest in product(_MIN_SCORES, _MIN_PHRASES):
        lengths = np.array(
            [_list_length(worths, least, fewest) for worths, _ in rows], dtype=np.int64
        ).clip(max=options.max_phrases)  # (B,)
        score = _mean_f1([hits for _, hits in rows], lengths, gold)
        if score > best:
            best, rule = score, {"min_score": least, "min_phrases": fewest}
    return Fit(fit.ranking.model_copy(update=rule), fit.kinds)


def _ordered_hits(
    document: LabelledCandidates, fit: Fit, search: SearchConfig
) -> tuple[Array, Array]:
    """What the best phrases are worth, in order, and which are keyphrases; ``(L,)`` each."""
    options, terms = usual_options(search), whole_terms(document.phrases, document.features)
    kinds = fit.tell_kinds(document)
    ordered = order_phrases(fit.score_of(document), terms, fit.ranking, options, kinds)
    best = list(islice(ordered, options.max_phrases))
    worths = np.array([worth for _, worth in best])  # (L,)
    return worths, np.array([phrase.stems in document.gold for phrase, _ in best], dtype=float)


def _list_length(worths: Array, least: float, fewest: int) -> int:
    """As `ranker.worth_listing` ends a list, for what is worth less and less."""
    listed = int((worths >= least).sum())
    return max(listed, min(fewest, int((worths >= MIN_WORTH).sum())), min(1, len(worths)))


def _mean_f1(hits: Sequence[Array], lengths: Array, gold: Array) -> float:
    """Mean of F1@5, short lists filled up, and F1@M, both of macro averages."""
    at_m = np.array([h[:n].sum() for h, n in zip(hits, lengths, strict=True)])  # (B,)
    at_5 = np.array([h[: min(n, 5)].sum() for h, n in zip(hits, lengths, strict=True)])  # (B,)
    pairs = (at_5 / 5, ratio(at_5, gold)), (ratio(at_m, lengths.astype(float)), ratio(at_m, gold))
    return float(
        np.mean(
            [harmonic_mean(np.mean(p, keepdims=True), np.mean(r, keepdims=True)) for p, r in pairs]
        )
    )
