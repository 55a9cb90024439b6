"""The metrics a second time: slow loops over lists, written from the method's description alone.

Shares nothing with the package but NLTK's stemmer, and is what the fast scorer is checked and timed
against.
"""

import math
from typing import NamedTuple

from nltk.stem.porter import PorterStemmer

Words = list[str]

_STEMMER = PorterStemmer()


class Raw(NamedTuple):
    """A document as text: words separated by spaces."""

    source: str
    targets: list[str]
    predictions: list[str]


def naive_scores(documents: list[Raw]) -> dict[str, float]:
    scores: dict[str, float] = {}
    for part in ("present", "absent", "all"):
        pairs = [part_of(document, part) for document in documents]
        for k in ("5", "10", "M", "O"):
            for filled in (True, False):
                name = "filled" if filled else "unfilled"
                for key, value in averages(pairs, k, filled).items():
                    scores[f"{part}.{name}.{key}@{k}"] = value
                    if filled:
                        scores[f"{part}.{key}@{k}"] = value
            scores[f"{part}.ndcg@{k}"] = mean([ndcg(*pair, k) for pair in pairs])
            scores[f"{part}.alpha_ndcg@{k}"] = mean([alpha_ndcg(*pair, k) for pair in pairs])
            scores[f"{part}.map@{k}"] = mean([average_precision(*pair, k) for pair in pairs])
        scores[f"{part}.predicted"] = mean([float(len(found)) for found, _ in pairs])
        scores[f"{part}.targets"] = mean([float(len(gold)) for _, gold in pairs])
        scores[f"{part}.correct"] = mean([float(count_hits(*pair)) for pair in pairs])
    return scores


def stems(text: str) -> Words:
    return [_STEMMER.stem(word.lower()) for word in text.split(" ") if word]


def unique(phrases: list[Words]) -> list[Words]:
    kept: list[Words] = []
    for phrase in phrases:
        if phrase not in kept:
            kept.append(phrase)
    return kept


def occurs(phrase: Words, source: Words) -> bool:
    starts = range(len(source) - len(phrase) + 1)
    return any(source[start : start + len(phrase)] == phrase for start in starts)


def part_of(document: Raw, part: str) -> tuple[list[Words], list[Words]]:
    """Predictions and targets of one part of a document."""
    source = stems(document.source)
    gold = unique([stems(phrase) for phrase in document.targets if stems(phrase)])
    found = []
    for phrase in unique([stems(phrase) for phrase in document.predictions]):
        if phrase and not any(word in (",", ".", "<unk>") for word in phrase):
            found.append(phrase)
    if part == "all":
        return found, gold
    want = part == "present"
    return (
        [phrase for phrase in found if occurs(phrase, source) == want],
        [phrase for phrase in gold if occurs(phrase, source) == want],
    )


def cut(found: list[Words], gold: list[Words], k: str) -> int:
    if k == "M":
        return len(found)
    return len(gold) if k == "O" else int(k)


def count_hits(found: list[Words], gold: list[Words]) -> int:
    return sum(1 for phrase in found if phrase in gold)


def divide(a: float, b: float) -> float:
    return a / b if b else 0.0


def f1(precision: float, recall: float) -> float:
    return divide(2 * precision * recall, precision + recall)


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def averages(
    pairs: list[tuple[list[Words], list[Words]]], k: str, filled: bool
) -> dict[str, float]:
    precisions, recalls, f1s = [], [], []
    all_hits = all_counted = all_targets = 0
    for found, gold in pairs:
        limit = cut(found, gold, k)
        hits = count_hits(found[:limit], gold)
        counted = limit if filled else min(limit, len(found))
        if not found:
            counted = 0
        precisions.append(divide(hits, counted))
        recalls.append(divide(hits, len(gold)))
        f1s.append(f1(precisions[-1], recalls[-1]))
        all_hits, all_counted = all_hits + hits, all_counted + counted
        all_targets += len(gold)
    micro_precision, micro_recall = divide(all_hits, all_counted), divide(all_hits, all_targets)
    return {
        "macro.precision": mean(precisions),
        "macro.recall": mean(recalls),
        "macro.f1": f1(mean(precisions), mean(recalls)),
        "mean.precision": mean(precisions),
        "mean.recall": mean(recalls),
        "mean.f1": mean(f1s),
        "micro.precision": micro_precision,
        "micro.recall": micro_recall,
        "micro.f1": f1(micro_precision, micro_recall),
    }


def discounted(gains: list[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def ndcg(found: list[Words], gold: list[Words], k: str) -> float:
    limit = cut(found, gold, k)
    gains = [1.0 if phrase in gold else 0.0 for phrase in found]
    ideal = sorted(gains, reverse=True)
    return divide(discounted(gains[:limit]), discounted(ideal[:limit]))


def average_precision(found: list[Words], gold: list[Words], k: str) -> float:
    total = 0.0
    for i in range(1, min(cut(found, gold, k), len(found)) + 1):
        if found[i - 1] in gold:
            total += count_hits(found[:i], gold) / i
    return divide(total, len(gold))


def alpha_gain(phrase: Words, earlier: list[Words], gold: list[Words]) -> float:
    gain = 0.0
    for target in gold:
        if " ".join(phrase) in " ".join(target):
            met = sum(1 for one in earlier if " ".join(one) in " ".join(target))
            gain += 0.5**met
    return gain


def alpha_ndcg(found: list[Words], gold: list[Words], k: str) -> float:
    limit = cut(found, gold, k)
    gains = [alpha_gain(phrase, found[:i], gold) for i, phrase in enumerate(found)]
    left, ideal = list(found), []
    ordered: list[Words] = []
    while left:
        offers = [alpha_gain(phrase, ordered, gold) for phrase in left]
        best = offers.index(max(offers))
        ideal.append(offers[best])
        ordered.append(left.pop(best))
    return divide(discounted(gains[:limit]), discounted(ideal[:limit]))
