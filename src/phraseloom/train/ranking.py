"""Fit `phraseloom.ranker`'s weights to documents whose keyphrases are known.

Logistic regression by Newton's method: a score is a probability on documents like these. Weights of
one more, of the mean word vector, tell everyday text from scientific text.
"""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from phraseloom.config import SearchConfig, Section, StyleRanking
from phraseloom.errors import ConfigError, CorpusError
from phraseloom.evaluate.phrases import Judged
from phraseloom.evaluate.report import score_documents
from phraseloom.extractor import Extractor
from phraseloom.io.records import CorpusDocument
from phraseloom.options import Options
from phraseloom.parallel import in_batches
from phraseloom.query import list_options
from phraseloom.ranker import (
    FEATURES,
    choose_list,
    count_tokens,
    describe_candidates,
    mean_vector,
    score_candidates,
    sigmoid,
    whole_terms,
)
from phraseloom.text.document import Document
from phraseloom.text.matching import split_keywords
from phraseloom.text.phrases import Stems
from phraseloom.train.corpus.prepare import OnProgress, ignore_progress

Array = NDArray[np.float64]

_RIDGE = 3.0
_STEPS = 50
_SMALLEST_STEP = 1e-7
_BATCH = 32
_BINS = 10
_LISTED = 0.05  # scores from which a phrase may be listed
_EMPTY = Document("", "", ())


class StylePlan(Section):
    """What one style is fitted to."""

    network_style: str | None = Field(None, description="that documents are searched with")
    sets: tuple[str, ...] = Field((), description="of documents; none: all")
    weight_of: dict[str, float] = Field({}, description="how much a set's documents count")
    by_kind: bool = Field(False, description="other weights for everyday text than for science")
    min_score: float = Field(0.15, ge=0, le=1, description="a list goes on as long as this")
    min_phrases: int = Field(4, ge=1, description="of a text that is long enough")
    everyday_lambda1: float = Field(1.0, ge=0, description="times lambda1 for everyday text")
    term_share: float = Field(1.0, ge=0, le=1, description="see StyleRanking")

    def share(self, origin: str) -> float:
        """How much a document of a set counts."""
        return self.weight_of.get(origin, 1.0) if not self.sets or origin in self.sets else 0.0


class RankingPlan(Section):
    """What is fitted: styles, the default first, and which sets are of scientific text."""

    science: tuple[str, ...] = ()
    styles: dict[str, StylePlan]


class LabelledCandidates(NamedTuple):
    """What may be listed of one document, and which of it is a keyphrase."""

    origin: str
    source: str
    tokens: int
    phrases: list[Stems]
    features: Array
    """``(C, F)``."""
    gold: tuple[Stems, ...]
    """The keyphrases that stand in the text, candidates or not."""
    vector: Array
    """Mean word vector, ``(D_w,)``."""

    @property
    def is_gold(self) -> Array:
        """``(C,)``, 0 or 1."""
        return np.array([phrase in self.gold for phrase in self.phrases], dtype=np.float64)


@dataclass(frozen=True)
class Fit:
    """Weights of one style, and of what tells everyday text."""

    ranking: StyleRanking
    everyday: tuple[float, ...]

    def scores(self, document: LabelledCandidates) -> Array:
        """Chances of a document's candidates, ``(C,)``."""
        return score_candidates(document.features, self.ranking, self.everyday_chance(document))

    def everyday_chance(self, document: LabelledCandidates) -> float:
        """The chance that a document is no scientific one."""
        if not self.everyday:
            return 0.0
        return float(sigmoid(self.everyday[0] + document.vector @ self.everyday[1:]))


class RankingReport(NamedTuple):
    """How good the lists of one set are."""

    documents: int
    f1_at_5: float
    f1_at_10: float
    """Of lists of ten."""
    one_list_f1_at_5: float
    one_list_f1_at_m: float
    """Of the list that users get."""
    calibration_error: float


def load_plan(path: Path) -> RankingPlan:
    """Read a TOML file.

    Raises:
        ConfigError: it cannot be read, or says something that is no plan.
    """
    try:
        return RankingPlan.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def fit_styles(
    extractor: Extractor,
    documents: Sequence[CorpusDocument],
    plan: RankingPlan,
    *,
    on_progress: OnProgress = ignore_progress,
) -> tuple[dict[str, Fit], dict[str, dict[str, RankingReport]]]:
    """Fit each style; documents are searched once for all styles that share a network style.

    Returns:
        The fits, and how good each is by set: fitted to one half, measured on the other.
    """
    wanted: dict[str | None, list[CorpusDocument]] = {}
    for style in plan.styles.values():
        wanted[style.network_style] = [
            document
            for document in documents
            if any(
                other.network_style == style.network_style and other.share(document.origin)
                for other in plan.styles.values()
            )
        ]
    done, total = 0, sum(map(len, wanted.values()))
    labelled: dict[str | None, list[LabelledCandidates]] = {name: [] for name in wanted}
    for name, of_style in wanted.items():
        for candidates in label_candidates(extractor, of_style, name):
            labelled[name].append(candidates)
            done += 1
            on_progress(done, total)
    fits, reports = {}, {}
    for name, style in plan.styles.items():
        taken = [d for d in labelled[style.network_style] if style.share(d.origin)]
        fits[name] = fit_style(taken, style, plan.science)
        fit = partial(fit_style, style=style, science=plan.science)
        reports[name] = cross_validate(taken, fit, extractor.search)
    return fits, reports


def label_candidates(
    extractor: Extractor, documents: Iterable[CorpusDocument], network_style: str | None
) -> Iterator[LabelledCandidates]:
    """Search documents, and mark what is one of their keyphrases."""
    for batch in in_batches(documents, _BATCH):
        parsed = extractor.parse([document.source for document in batch])
        found = extractor.find_candidates(parsed, network_style=network_style)
        for record, document, candidates in zip(batch, parsed, found, strict=True):
            options = list_options(document, (), Options(), extractor.search)
            phrases, features = describe_candidates(
                document, candidates, extractor.lexicon, options
            )
            yield LabelledCandidates(
                origin=record.origin,
                source=" ".join(token.stem for token in document.tokens()),
                tokens=count_tokens(document),
                phrases=phrases,
                features=features,
                gold=_present(document, record.keywords),
                vector=mean_vector(document, extractor.model),
            )


def _present(document: Document, keywords: Sequence[str]) -> tuple[Stems, ...]:
    stems = [token.stem for token in document.tokens()]
    present = split_keywords(document, keywords).present
    return tuple(tuple(stems[place.start : place.start + place.length]) for place in present)


def fit_style(
    documents: Sequence[LabelledCandidates], style: StylePlan, science: Sequence[str] = ()
) -> Fit:
    """Weights for one style.

    Args:
        documents: with keyphrases.
        style: how much each counts.
        science: sets of scientific text, for a style that weighs everyday text in another way.
    """
    kinds = [
        [document for document in documents if document.origin in science],
        [document for document in documents if document.origin not in science],
    ]
    if style.by_kind and all(kinds):
        weights, everyday_weights = (_fit_weights(of_kind, style) for of_kind in kinds)
        everyday = _fit_kind(documents, science)
    else:
        weights, everyday_weights, everyday = _fit_weights(documents, style), {}, ()
    ranking = StyleRanking(
        network_style=style.network_style,
        weights=weights,
        everyday_weights=everyday_weights,
        min_score=style.min_score,
        min_phrases=style.min_phrases,
        everyday_lambda1=style.everyday_lambda1,
        term_share=style.term_share,
    )
    return Fit(ranking, everyday)


def _fit_weights(documents: Sequence[LabelledCandidates], style: StylePlan) -> dict[str, float]:
    labelled = [document for document in documents if document.gold and document.phrases]
    if not labelled:
        raise CorpusError("no document with a keyphrase that stands in it: nothing to fit to")
    shares = [style.share(document.origin) for document in labelled]
    weights = fit_logistic(
        np.concatenate([document.features for document in labelled]),
        np.concatenate([document.is_gold for document in labelled]),
        np.repeat(shares, [len(document.phrases) for document in labelled]),
    )
    return {name: round(float(w), 5) for name, w in zip(FEATURES, weights, strict=True)}


def _fit_kind(documents: Sequence[LabelledCandidates], science: Sequence[str]) -> tuple[float, ...]:
    """Bias and weights of the mean word vector for everyday text against science."""
    vectors = np.array([[1.0, *document.vector] for document in documents])  # (B, 1 + D_w)
    is_everyday = np.array([d.origin not in science for d in documents], dtype=np.float64)  # (B,)
    weights = fit_logistic(vectors, is_everyday, np.ones(len(documents)))
    return tuple(round(float(weight), 4) for weight in weights)


def fit_logistic(
    features: Array,
    targets: Array,
    shares: Array,
    *,
    towards: Array | None = None,
    strength: float = _RIDGE,
) -> Array:
    """Weights of the features for probable targets, ``(F,)``; the first is a bias.

    Args:
        features: ``(C, F)``.
        targets: 0 or 1, ``(C,)``.
        shares: how much each target counts, ``(C,)``.
        towards: weights to stay near where little speaks against them, ``(F,)``; none: zero.
        strength: of that pull, on features of variance one; the bias is free.
    """
    mean, scale = features.mean(axis=0), features.std(axis=0) + 1e-9  # (F,), (F,)
    mean[0], scale[0] = 0.0, 1.0
    inputs = (features - mean) / scale  # (C, F)
    ridge = np.full(len(mean), strength)  # (F,)
    ridge[0] = 1e-9
    start = np.zeros(len(mean)) if towards is None else towards * scale  # (F,)
    if towards is not None:
        start[0] += towards[1:] @ mean[1:]
    weights = start.copy()

    def loss(weights: Array) -> float:
        logits = inputs @ weights  # (C,)
        penalty = ridge @ (weights - start) ** 2 / 2
        return float(shares @ (np.logaddexp(0, logits) - targets * logits) + penalty)

    for _ in range(_STEPS):
        probs = sigmoid(inputs @ weights)  # (C,)
        pull = ridge * (weights - start)  # (F,)
        gradient = inputs.T @ (shares * (targets - probs)) - pull  # (F,)
        curvature = (inputs * (shares * probs * (1 - probs))[:, None]).T @ inputs  # (F, F)
        step = np.linalg.solve(curvature + np.diag(ridge), gradient)
        before = loss(weights)
        while loss(weights + step) > before and np.abs(step).max() > _SMALLEST_STEP:
            step /= 2  # far from the optimum a whole step may go beyond it
        weights += step
        if np.abs(step).max() < _SMALLEST_STEP:
            break
    weights /= scale
    weights[0] -= weights[1:] @ mean[1:]
    return weights


def score_lists(
    documents: Sequence[LabelledCandidates],
    fits: Sequence[Fit],
    search: SearchConfig,
    *,
    top: int | None = None,
) -> dict[str, float]:
    """Metrics of the lists that fits make, one for each document."""
    options = list_options(_EMPTY, (), Options(top=top), search)
    judged = []
    for document, fit in zip(documents, fits, strict=True):
        score_of = dict(zip(document.phrases, fit.scores(document).tolist(), strict=True))
        terms = whole_terms(document.phrases, document.features)
        phrases = choose_list(
            score_of, terms, fit.ranking, options, document.tokens, fit.everyday_chance(document)
        )
        gold = tuple(map(" ".join, document.gold))
        listed = tuple(" ".join(phrase.stems) for phrase in phrases)
        judged.append(Judged(document.source, gold, listed))
    return score_documents(judged, parts=("present",)).values


def cross_validate(
    documents: Sequence[LabelledCandidates],
    fit: Callable[[Sequence[LabelledCandidates]], Fit],
    search: SearchConfig,
) -> dict[str, RankingReport]:
    """Fit to every second document and measure on the others, and the other way round; by set."""
    halves = documents[::2], documents[1::2]
    if not all(halves):
        return {}
    fits = fit(halves[1]), fit(halves[0])
    by_set: dict[str, list[tuple[LabelledCandidates, Fit]]] = {}
    for half, of_other in zip(halves, fits, strict=True):
        for document in half:
            by_set.setdefault(document.origin, []).append((document, of_other))
    return {origin: _report(pairs, search) for origin, pairs in sorted(by_set.items())}


def _report(pairs: Sequence[tuple[LabelledCandidates, Fit]], search: SearchConfig) -> RankingReport:
    documents, fits = zip(*pairs, strict=True)
    ten = score_lists(documents, fits, search, top=10)
    own = score_lists(documents, fits, search)
    predicted = np.concatenate([fit.scores(document) for document, fit in pairs])
    observed = np.concatenate([document.is_gold for document in documents])
    return RankingReport(
        documents=len(pairs),
        f1_at_5=ten["present.filled.macro.f1@5"],
        f1_at_10=ten["present.filled.macro.f1@10"],
        one_list_f1_at_5=own["present.filled.macro.f1@5"],
        one_list_f1_at_m=own["present.macro.f1@M"],
        calibration_error=expected_calibration_error(predicted, observed),
    )


def expected_calibration_error(predicted: Array, observed: Array) -> float:
    """Mean distance of score and share of hits over bins of equal width, of what may be listed."""
    is_listed = predicted >= _LISTED
    predicted, observed = predicted[is_listed], observed[is_listed]
    bin_of = np.minimum((predicted * _BINS).astype(int), _BINS - 1)
    gaps = [abs((predicted - observed)[bin_of == number].sum()) for number in range(_BINS)]
    return float(sum(gaps) / max(len(predicted), 1))
