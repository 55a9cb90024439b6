"""Fit `phraseloom.ranker`'s weights to documents whose keyphrases are known.

Logistic regression by Newton's method: a score is a probability on documents like these. One more
for each kind of text tells that kind by its words.
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
from phraseloom.features import FEATURES, count_tokens
from phraseloom.io.records import CorpusDocument
from phraseloom.network.model import kind_vector
from phraseloom.options import Options
from phraseloom.parallel import in_batches
from phraseloom.query import list_options
from phraseloom.ranker import (
    choose_list,
    describe_candidates,
    score_candidates,
    sigmoid,
    tell_kinds,
    whole_terms,
)
from phraseloom.text.document import Document
from phraseloom.text.matching import split_keywords
from phraseloom.text.phrases import Stems
from phraseloom.train.corpus.prepare import OnProgress, ignore_progress

Array = NDArray[np.float64]

_RIDGE = 10.0
_KIND_RIDGE = 20.0  # there are far fewer documents than candidates
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
    by_kind: bool = Field(False, description="other weights for each kind of text")
    min_score: float = Field(0.15, ge=0, le=1, description="a list goes on as long as this")
    min_phrases: int = Field(4, ge=1, description="of a text that is long enough")
    taste_of: dict[str, dict[str, float]] = Field({}, description="see StyleRanking")
    lambda1_of: dict[str, float] = Field({}, description="see StyleRanking")
    term_share: float = Field(1.0, ge=0, le=1, description="see StyleRanking")
    fixed: dict[str, float] = Field({}, description="weights that are set, not fitted")

    def share(self, origin: str) -> float:
        """How much a document of a set counts."""
        return self.weight_of.get(origin, 1.0) if not self.sets or origin in self.sets else 0.0


class KindPlan(Section):
    """What one kind of text is learned from."""

    sets: tuple[str, ...] = Field((), description="of documents; none: all that no other kind has")
    share: float = Field(1.0, gt=0, description="how much each document counts when it is told")


class RankingPlan(Section):
    """What is fitted: styles, the default first, and the kinds of text that are told apart."""

    kinds: dict[str, KindPlan] = {}
    styles: dict[str, StylePlan]

    def kind_of(self, origin: str) -> str:
        """The kind of a set's documents; none of them: an empty string."""
        by_default = ""
        for kind, plan in self.kinds.items():
            if origin in plan.sets:
                return kind
            by_default = by_default if plan.sets else kind
        return by_default


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
    """See `network.model.kind_vector`, ``(V,)``."""

    @property
    def is_gold(self) -> Array:
        """``(C,)``, 0 or 1."""
        return np.array([phrase in self.gold for phrase in self.phrases], dtype=np.float64)


@dataclass(frozen=True)
class Fit:
    """Weights of one style, and of what tells the kinds of text."""

    ranking: StyleRanking
    kinds: dict[str, tuple[float, ...]]

    def scores(self, document: LabelledCandidates) -> Array:
        """Chances of a document's candidates, ``(C,)``."""
        return score_candidates(document.features, self.ranking, self.tell_kinds(document))

    def tell_kinds(self, document: LabelledCandidates) -> dict[str, float]:
        """The chance of each kind of text."""
        return tell_kinds(document.vector, self.kinds)


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
        fits[name] = fit_style(taken, style, plan)
        fit = partial(fit_style, style=style, plan=plan)
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
                vector=kind_vector(document, extractor.model),
            )


def _present(document: Document, keywords: Sequence[str]) -> tuple[Stems, ...]:
    stems = [token.stem for token in document.tokens()]
    present = split_keywords(document, keywords).present
    return tuple(tuple(stems[place.start : place.start + place.length]) for place in present)


def fit_style(documents: Sequence[LabelledCandidates], style: StylePlan, plan: RankingPlan) -> Fit:
    """Weights for one style.

    Args:
        documents: with keyphrases.
        style: how much each counts.
        plan: the kinds of text, for a style that weighs them in other ways.
    """
    by_kind: dict[str, list[LabelledCandidates]] = {}
    for document in documents if style.by_kind else ():
        by_kind.setdefault(plan.kind_of(document.origin), []).append(document)
    ranking = StyleRanking(
        network_style=style.network_style,
        weights={} if by_kind else _fit_weights(documents, style),
        weights_of={kind: _fit_weights(of_kind, style) for kind, of_kind in by_kind.items()},
        min_score=style.min_score,
        min_phrases=style.min_phrases,
        taste_of=style.taste_of,
        lambda1_of=style.lambda1_of,
        term_share=style.term_share,
    )
    return Fit(ranking, {kind: _fit_kind(documents, kind, plan) for kind in by_kind})


def _fit_weights(documents: Sequence[LabelledCandidates], style: StylePlan) -> dict[str, float]:
    labelled = [document for document in documents if document.gold and document.phrases]
    if not labelled:
        raise CorpusError("no document with a keyphrase that stands in it: nothing to fit to")
    shares = [style.share(document.origin) for document in labelled]
    is_fitted = np.array([name not in style.fixed for name in FEATURES])  # (F,)
    weights = fit_logistic(
        np.concatenate([document.features for document in labelled]) * is_fitted,
        np.concatenate([document.is_gold for document in labelled]),
        np.repeat(shares, [len(document.phrases) for document in labelled]),
    )
    fitted = {name: round(float(w), 5) for name, w in zip(FEATURES, weights, strict=True)}
    return fitted | style.fixed


def _fit_kind(
    documents: Sequence[LabelledCandidates], kind: str, plan: RankingPlan
) -> tuple[float, ...]:
    """Weights by which one kind of text is told from all others, see `kind_vector`."""
    kinds = [plan.kind_of(document.origin) for document in documents]
    vectors = np.array([document.vector for document in documents])  # (B, V)
    is_kind = np.array([of == kind for of in kinds], dtype=np.float64)  # (B,)
    shares = np.array([plan.kinds[of].share for of in kinds])  # (B,)
    weights = fit_logistic(vectors, is_kind, shares, strength=_KIND_RIDGE)
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
            score_of, terms, fit.ranking, options, document.tokens, fit.tell_kinds(document)
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
