"""Fit `phraseloom.ranker`'s weights to documents whose keyphrases are known.

Logistic regression by Newton's method: a score is a probability on documents like these. How long a
list goes on is then chosen for the best mean of F1@5 and F1@M.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from phraseloom.ranker import FEATURES, Stems, choose_list, count_tokens, describe_candidates
from phraseloom.text.document import Document
from phraseloom.text.matching import split_keywords
from phraseloom.train.corpus.prepare import OnProgress, ignore_progress

Array = NDArray[np.float64]

_RIDGE = 3.0
_STEPS = 50
_SCORES = np.round(np.arange(0.04, 0.31, 0.01), 2)
_BATCH = 32


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


class RankingReport(NamedTuple):
    """How good lists are on documents that the weights were not fitted to."""

    f1_at_5: float
    f1_at_10: float
    """Of lists of ten."""
    one_list_f1_at_5: float
    one_list_f1_at_m: float
    """Of the list that users get."""
    calibration_error: float
    documents: int


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
                document, candidates, extractor.lexicon.glossary, options
            )
            yield LabelledCandidates(
                origin=record.origin,
                source=" ".join(token.stem for token in document.tokens()),
                tokens=count_tokens(document),
                phrases=phrases,
                features=features,
                gold=_present(document, record.keywords),
            )


def _present(document: Document, keywords: Sequence[str]) -> tuple[Stems, ...]:
    stems = [token.stem for token in document.tokens()]
    present = split_keywords(document, keywords).present
    return tuple(tuple(stems[place.start : place.start + place.length]) for place in present)


def fit_ranking(
    documents: Sequence[LabelledCandidates],
    search: SearchConfig,
    *,
    network_style: str | None,
    weight_of: Mapping[str, float] | None = None,
    min_phrases: int = 5,
) -> StyleRanking:
    """Weights, and how long lists go on, for one style.

    Args:
        documents: with keyphrases.
        search: with what lists are put together by.
        network_style: that the documents were searched with.
        weight_of: how much a document of a set counts, if not 1.
        min_phrases: of a text that is long enough.
    """
    labelled = [document for document in documents if document.gold and document.phrases]
    if not labelled:
        raise CorpusError("no document with a keyphrase that stands in it: nothing to fit to")
    shares = [(weight_of or {}).get(document.origin, 1.0) for document in labelled]
    features = np.concatenate([document.features for document in labelled])
    targets = np.concatenate(
        [[phrase in document.gold for phrase in document.phrases] for document in labelled]
    ).astype(np.float64)
    sizes = [len(document.phrases) for document in labelled]
    weights = fit_logistic(features, targets, np.repeat(shares, sizes))
    ranking = StyleRanking(
        network_style=network_style,
        weights={name: round(float(w), 5) for name, w in zip(FEATURES, weights, strict=True)},
        min_phrases=min_phrases,
    )
    return ranking.model_copy(update={"min_score": _best_min_score(labelled, ranking, search)})


class StylePlan(Section):
    """What one style is fitted to."""

    network_style: str | None = Field(None, description="that documents are searched with")
    sets: tuple[str, ...] = Field((), description="of documents; none: all")
    weight_of: dict[str, float] = Field({}, description="how much a set's documents count")
    min_phrases: int = Field(5, ge=1, description="of a text that is long enough")

    def takes(self, origin: str) -> bool:
        """Whether documents of a set count."""
        return (not self.sets or origin in self.sets) and self.weight_of.get(origin, 1.0) > 0


class FittedStyle(NamedTuple):
    """A style, and how good it is on documents that it was not fitted to."""

    ranking: StyleRanking
    reports: dict[str, RankingReport]
    """By set."""


def load_plans(path: Path) -> dict[str, StylePlan]:
    """Read a TOML file with a table for each style, the default first.

    Raises:
        ConfigError: it cannot be read, or says something that is no plan.
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
        return {style: StylePlan.model_validate(plan) for style, plan in values.items()}
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
    plans: Mapping[str, StylePlan],
    *,
    on_progress: OnProgress = ignore_progress,
) -> dict[str, FittedStyle]:
    """Fit each style; documents are searched once for all styles that share a network style."""
    network_styles = list(dict.fromkeys(plan.network_style for plan in plans.values()))
    sharing = {
        name: [plan for plan in plans.values() if plan.network_style == name]
        for name in network_styles
    }
    wanted = {
        name: [d for d in documents if any(plan.takes(d.origin) for plan in sharing[name])]
        for name in network_styles
    }
    done, total = 0, sum(map(len, wanted.values()))
    labelled: dict[str | None, list[LabelledCandidates]] = {name: [] for name in network_styles}
    for name in network_styles:
        for candidates in label_candidates(extractor, wanted[name], name):
            labelled[name].append(candidates)
            done += 1
            on_progress(done, total)
    fitted = {}
    for style, plan in plans.items():
        taken = [d for d in labelled[plan.network_style] if plan.takes(d.origin)]
        ranking = fit_ranking(
            taken,
            extractor.search,
            network_style=plan.network_style,
            weight_of=plan.weight_of,
            min_phrases=plan.min_phrases,
        )
        reports = cross_validate(taken, extractor.search, weight_of=plan.weight_of)
        fitted[style] = FittedStyle(ranking, reports)
    return fitted


def fit_logistic(features: Array, targets: Array, shares: Array) -> Array:
    """Weights of the features, ``(F,)``, that make the targets most probable."""
    mean, scale = features.mean(axis=0), features.std(axis=0) + 1e-9  # (F,), (F,)
    mean[0], scale[0] = 0.0, 1.0  # the bias
    inputs = (features - mean) / scale  # (C, F)
    ridge = np.full(len(mean), _RIDGE)
    ridge[0] = 0.0
    weights = np.zeros(len(mean))
    for _ in range(_STEPS):
        probs = 1 / (1 + np.exp(-inputs @ weights))  # (C,)
        gradient = inputs.T @ (shares * (targets - probs)) - ridge * weights  # (F,)
        curvature = (inputs * (shares * probs * (1 - probs))[:, None]).T @ inputs  # (F, F)
        step = np.linalg.solve(curvature + np.diag(ridge) + 1e-9 * np.eye(len(mean)), gradient)
        weights += step
        if np.abs(step).max() < 1e-7:
            break
    weights = weights / scale
    weights[0] -= weights[1:] @ mean[1:]
    return weights


def _best_min_score(
    documents: Sequence[LabelledCandidates], ranking: StyleRanking, search: SearchConfig
) -> float:
    def quality(least: float) -> float:
        changed = ranking.model_copy(update={"min_score": float(least)})
        values = score_lists(documents, changed, search)
        return values["present.filled.macro.f1@5"] + values["present.macro.f1@M"]

    return float(max(_SCORES, key=quality))


def score_lists(
    documents: Sequence[LabelledCandidates],
    ranking: StyleRanking,
    search: SearchConfig,
    *,
    top: int | None = None,
) -> dict[str, float]:
    """Metrics of the lists that a ranking makes."""
    weights = np.array([ranking.weights.get(name, 0.0) for name in FEATURES])
    options = list_options(Document("", "", ()), (), Options(top=top), search)
    judged = []
    for document in documents:
        scores = 1 / (1 + np.exp(-document.features @ weights))
        score_of = dict(zip(document.phrases, scores.tolist(), strict=True))
        phrases = choose_list(score_of, ranking, options, document.tokens)
        judged.append(
            Judged(
                document.source,
                tuple(map(" ".join, document.gold)),
                tuple(" ".join(phrase.stems) for phrase in phrases),
            )
        )
    return score_documents(judged, parts=("present",)).values


def cross_validate(
    documents: Sequence[LabelledCandidates],
    search: SearchConfig,
    *,
    weight_of: Mapping[str, float] | None = None,
    folds: int = 2,
) -> dict[str, RankingReport]:
    """Fit on all folds but one, and measure on that one; by set of documents, and of all."""
    held_out: dict[str, list[tuple[LabelledCandidates, StyleRanking]]] = {}
    for fold in range(folds):
        rest = [document for i, document in enumerate(documents) if i % folds != fold]
        ranking = fit_ranking(rest, search, network_style=None, weight_of=weight_of)
        for document in documents[fold::folds]:
            held_out.setdefault(document.origin, []).append((document, ranking))
    return {origin: _report(pairs, search) for origin, pairs in held_out.items()}


def _report(
    pairs: Sequence[tuple[LabelledCandidates, StyleRanking]], search: SearchConfig
) -> RankingReport:
    rankings = {id(ranking): ranking for _, ranking in pairs}
    sums: dict[str, float] = {}
    predicted, observed = [], []
    for key, ranking in rankings.items():
        documents = [document for document, own in pairs if id(own) == key]
        ten = score_lists(documents, ranking, search, top=10)
        own = score_lists(documents, ranking, search)
        share = len(documents) / len(pairs)
        figures = {
            "f1_at_5": ten["present.filled.macro.f1@5"],
            "f1_at_10": ten["present.filled.macro.f1@10"],
            "one_list_f1_at_5": own["present.filled.macro.f1@5"],
            "one_list_f1_at_m": own["present.macro.f1@M"],
        }
        for name, value in figures.items():
            sums[name] = sums.get(name, 0.0) + share * value
        weights = np.array([ranking.weights.get(name, 0.0) for name in FEATURES])
        for document in documents:
            predicted += (1 / (1 + np.exp(-document.features @ weights))).tolist()
            observed += [phrase in document.gold for phrase in document.phrases]
    error = expected_calibration_error(np.array(predicted), np.array(observed, np.float64))
    return RankingReport(**sums, calibration_error=error, documents=len(pairs))


def expected_calibration_error(predicted: Array, observed: Array, *, bins: int = 10) -> float:
    """Mean distance of score and share of hits over bins of equal width, of what may be listed."""
    listed = predicted >= 0.05
    predicted, observed = predicted[listed], observed[listed]
    if not len(predicted):
        return 0.0
    bin_of = np.minimum((predicted * bins).astype(int), bins - 1)
    gaps = [abs((predicted[bin_of == b] - observed[bin_of == b]).sum()) for b in range(bins)]
    return float(sum(gaps) / len(predicted))
