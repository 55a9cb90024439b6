"""Fit `phraseloom.ranker`'s weights to documents whose keyphrases are known.

By logistic regression, so a score is a probability on documents like these. One more for each kind
of text tells that kind by its words.
"""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import AfterValidator, Field, ValidationError

from phraseloom.config import SearchConfig, Section, StyleRanking
from phraseloom.errors import ConfigError, CorpusError
from phraseloom.evaluate.phrases import Judged
from phraseloom.evaluate.report import score_documents
from phraseloom.extractor import Extractor
from phraseloom.features import FEATURES, Found, count_tokens
from phraseloom.io.records import CorpusDocument
from phraseloom.network.lexicon import Lexicon
from phraseloom.network.model import kind_vector
from phraseloom.options import Options
from phraseloom.parallel import in_batches
from phraseloom.query import list_options
from phraseloom.ranker import (
    ListOptions,
    choose_list,
    describe_candidates,
    score_candidates,
    tell_kinds,
    whole_terms,
)
from phraseloom.text.document import Document
from phraseloom.text.matching import split_keywords
from phraseloom.text.phrases import Stems
from phraseloom.train.corpus.prepare import OnProgress, ignore_progress
from phraseloom.train.logistic import Array, fit_logistic

_KIND_RIDGE = 20.0  # there are far fewer documents than candidates
_BATCH = 32
_BINS = 10
_LISTED = 0.05  # scores from which a phrase may be listed


def _check_feature(name: str) -> str:
    if name not in FEATURES:
        raise ValueError(f"{name!r:.50} is no feature")
    return name


FeatureName = Annotated[str, AfterValidator(_check_feature)]


class StylePlan(StyleRanking):
    """What one style is fitted to, and what of its ranking is set."""

    sets: tuple[str, ...] = Field((), description="of documents; none: all")
    weight_of: dict[str, float] = Field({}, description="how much a set's documents count")
    by_kind: bool = Field(False, description="other weights for each kind of text")
    fixed: dict[FeatureName, float] = Field({}, description="weights that are set, not fitted")

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

    def score_of(self, document: LabelledCandidates) -> dict[Stems, float]:
        """The chance of each candidate of a document."""
        return dict(zip(document.phrases, self.scores(document).tolist(), strict=True))

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
            gold = _present(document, record.keywords)
            yield label(document, candidates, gold, extractor, origin=record.origin)


def label(
    document: Document,
    found: Found,
    gold: tuple[Stems, ...],
    extractor: Extractor,
    *,
    origin: str,
    lexicon: Lexicon | None = None,
) -> LabelledCandidates:
    """What may be listed of a document, by the extractor's lexicon or another one."""
    options = list_options(document, (), Options(), extractor.search)
    known = extractor.lexicon if lexicon is None else lexicon
    phrases, features = describe_candidates(document, found, known, options)
    return LabelledCandidates(
        origin=origin,
        source=" ".join(token.stem for token in document.tokens()),
        tokens=count_tokens(document),
        phrases=phrases,
        features=features,
        gold=gold,
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
    weights = {
        "weights": {} if by_kind else _fit_weights(documents, style),
        "weights_of": {kind: _fit_weights(of_kind, style) for kind, of_kind in by_kind.items()},
    }
    of_plan = style.model_dump(include={*StyleRanking.model_fields} - {*weights})
    ranking = StyleRanking.model_validate(of_plan | weights)
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


def usual_options(search: SearchConfig, top: int | None = None) -> ListOptions:
    """What is asked of a list by a caller who wants so many phrases, and else nothing."""
    return list_options(Document("", "", ()), (), Options(top=top), search)


def judge_lists(
    documents: Sequence[LabelledCandidates],
    fits: Sequence[Fit],
    search: SearchConfig,
    *,
    top: int | None = None,
) -> list[Judged]:
    """The lists that fits make, one for each document, ready to be scored."""
    options = usual_options(search, top)
    judged = []
    for document, fit in zip(documents, fits, strict=True):
        kinds, terms = fit.tell_kinds(document), whole_terms(document.phrases, document.features)
        score_of = fit.score_of(document)
        phrases = choose_list(score_of, terms, fit.ranking, options, document.tokens, kinds)
        listed = tuple(" ".join(phrase.stems) for phrase in phrases)
        judged.append(Judged(document.source, tuple(map(" ".join, document.gold)), listed))
    return judged


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
    ten, own = (
        score_documents(judge_lists(documents, fits, search, top=top), parts=("present",)).values
        for top in (10, None)
    )
    return RankingReport(
        documents=len(pairs),
        f1_at_5=ten["present.filled.macro.f1@5"],
        f1_at_10=ten["present.filled.macro.f1@10"],
        one_list_f1_at_5=own["present.filled.macro.f1@5"],
        one_list_f1_at_m=own["present.macro.f1@M"],
        calibration_error=calibration_error(documents, fits),
    )


def calibration_error(documents: Sequence[LabelledCandidates], fits: Sequence[Fit]) -> float:
    """That of the scores which fits give, one for each document."""
    pairs = zip(documents, fits, strict=True)
    predicted = np.concatenate([fit.scores(document) for document, fit in pairs])
    observed = np.concatenate([document.is_gold for document in documents])
    return expected_calibration_error(predicted, observed)


def expected_calibration_error(predicted: Array, observed: Array) -> float:
    """Mean distance of score and share of hits over bins of equal width, of what may be listed."""
    is_listed = predicted >= _LISTED
    predicted, observed = predicted[is_listed], observed[is_listed]
    bin_of = np.minimum((predicted * _BINS).astype(int), _BINS - 1)
    gaps = [abs((predicted - observed)[bin_of == number].sum()) for number in range(_BINS)]
    return float(sum(gaps) / max(len(predicted), 1))
