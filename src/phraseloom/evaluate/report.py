"""All numbers of a set of documents: `score_documents` is the one way in.

Every reported value is a function of *sums of per-document columns*. So the same few lines give the
value itself, and its value in any resampled set of documents (see bootstrap.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from phraseloom.errors import CorpusError
from phraseloom.evaluate import metrics
from phraseloom.evaluate.diversity import count_nested, count_repeated_words
from phraseloom.evaluate.phrases import Judged
from phraseloom.evaluate.rankings import PARTS, Array, Lists, Part, Rankings, rank, split_parts

CUTOFFS = ("5", "10", "M", "O")
"""@5, @10; @M: all that were predicted; @O: as many as there are targets."""

_COUNTINGS = {"filled": metrics.count_filled, "unfilled": metrics.count_unfilled}
_RANK_METRICS = ("ndcg", "alpha_ndcg", "map")


@dataclass(frozen=True, slots=True)
class Report:
    """Scores of a set of documents; docs/metrics.md lists and explains the keys."""

    values: dict[str, float]
    """Flat: ``present.filled.macro.f1@5``, ``present.macro.f1@M``, ``absent.map@10`` …"""
    columns: dict[str, Array]
    """Per-document values behind them, each ``(D,)``: what the bootstrap resamples."""

    @property
    def documents(self) -> int:
        return len(next(iter(self.columns.values())))


def score_documents(documents: Sequence[Judged], *, parts: Sequence[Part] = PARTS) -> Report:
    """Score predictions against targets, to the letter of the literature's evaluation script.

    Args:
        documents: made by `judge_text` or `judge_stems`; at least one.
        parts: which of present, absent and all phrases to score; fewer take less time.

    >>> from phraseloom.evaluate.phrases import judge_text
    >>> document = judge_text("graph models", ["graph model"], ["graph models", "graph"])
    >>> round(score_documents([document]).values["present.macro.f1@M"], 3)
    0.667
    """
    if not documents:
        raise CorpusError("nothing to score: there are no documents")
    split = [split_parts(document) for document in documents]
    columns: dict[str, Array] = {}
    for part in parts:
        lists = [one[part] for one in split]
        measured = _ranking_columns(rank(lists)) | _diversity_columns(lists)
        columns |= {f"{part}.{name}": column for name, column in measured.items()}
    totals = {name: np.atleast_1d(column.sum()) for name, column in columns.items()}
    values = {key: float(value[0]) for key, value in finish(totals, len(documents)).items()}
    return Report(values, columns)


def finish(totals: Mapping[str, Array], documents: int) -> dict[str, Array]:
    """Turn column sums over some documents into the reported values.

    Args:
        totals: sum of each of a report's columns; ``(R,)`` for R resamples at once.
        documents: how many documents were summed.
    """
    values: dict[str, Array] = {}
    for part in PARTS:
        own = {
            name.removeprefix(f"{part}."): total
            for name, total in totals.items()
            if name.startswith(f"{part}.")
        }
        if own:
            finished = _finish_part(own, documents)
            values |= {f"{part}.{key}": value for key, value in finished.items()}
    return values


def _ranking_columns(rankings: Rankings) -> dict[str, Array]:
    """Per-document values of one part's metrics."""
    predicted, targets = rankings.predicted, rankings.targets
    columns = {"predicted": predicted, "targets": targets, "correct": rankings.hits.sum(axis=1)}
    ideal_hits = metrics.hits_first(rankings.hits)
    for name in CUTOFFS:
        cutoff = {"M": predicted, "O": targets}.get(name)
        if cutoff is None:
            cutoff = np.full_like(predicted, float(name))
        hits = metrics.sum_up_to(rankings.hits, cutoff)
        recall = metrics.ratio(hits, targets)
        columns |= {f"hits@{name}": hits, f"recall@{name}": recall}
        for counting, count in _COUNTINGS.items():
            counted = count(predicted, cutoff)
            precision = metrics.ratio(hits, counted)
            columns[f"{counting}.counted@{name}"] = counted
            columns[f"{counting}.precision@{name}"] = precision
            columns[f"{counting}.f1@{name}"] = metrics.harmonic_mean(precision, recall)
        columns |= {
            f"ndcg@{name}": metrics.ndcg(rankings.hits, ideal_hits, cutoff),
            f"alpha_ndcg@{name}": metrics.ndcg(rankings.gains, rankings.ideal_gains, cutoff),
            f"map@{name}": metrics.average_precision(rankings.hits, targets, cutoff),
        }
    return columns


def _diversity_columns(lists: Sequence[Lists]) -> dict[str, Array]:
    words = [count_repeated_words(one.unique) for one in lists]
    counts = {
        "returned": [len(one.returned) for one in lists],
        "duplicates": [len(one.returned) - len(one.unique) for one in lists],
        "nested": [count_nested(one.unique) for one in lists],
        "repeated_words": [repeated for repeated, _ in words],
        "words": [total for _, total in words],
    }
    return {name: np.array(column, dtype=np.float64) for name, column in counts.items()}


def _finish_part(totals: Mapping[str, Array], documents: int) -> dict[str, Array]:
    values: dict[str, Array] = {}
    for counting in _COUNTINGS:
        for k in CUTOFFS:
            averages = _averages(totals, counting, k, documents)
            values |= {f"{counting}.{key}": value for key, value in averages.items()}
            if counting == "filled":
                values |= averages  # the plain name is the filled one's
    for name in _RANK_METRICS:
        values |= {f"{name}@{k}": totals[f"{name}@{k}"] / documents for k in CUTOFFS}
    values |= {name: totals[name] / documents for name in ("predicted", "correct", "targets")}
    values["duplicate_rate"] = metrics.ratio(totals["duplicates"], totals["returned"])
    values["nested_rate"] = metrics.ratio(totals["nested"], totals["predicted"])
    values["repeated_word_rate"] = metrics.ratio(totals["repeated_words"], totals["words"])
    return values


def _averages(
    totals: Mapping[str, Array], counting: str, k: str, documents: int
) -> dict[str, Array]:
    """Macro, mean per-document and micro precision, recall and F1 at one cut-off."""
    precision = totals[f"{counting}.precision@{k}"] / documents
    recall = totals[f"recall@{k}"] / documents
    hits = totals[f"hits@{k}"]
    micro_precision = metrics.ratio(hits, totals[f"{counting}.counted@{k}"])
    micro_recall = metrics.ratio(hits, totals["targets"])
    return {
        f"macro.precision@{k}": precision,
        f"macro.recall@{k}": recall,
        f"macro.f1@{k}": metrics.harmonic_mean(precision, recall),
        f"mean.precision@{k}": precision,
        f"mean.recall@{k}": recall,
        f"mean.f1@{k}": totals[f"{counting}.f1@{k}"] / documents,
        f"micro.precision@{k}": micro_precision,
        f"micro.recall@{k}": micro_recall,
        f"micro.f1@{k}": metrics.harmonic_mean(micro_precision, micro_recall),
    }
