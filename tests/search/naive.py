"""Search once more, one hypothesis at a time, in plain Python: slow, and easy to check by eye."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

from phraseloom.search.lists import UNLIKELY
from phraseloom.search.phrase import NEGLIGIBLE
from phraseloom.search.settings import Count, Settings
from phraseloom.search.step import EOS, FIRST_WORD, SEP, Phrase
from tests.search.decoders import Distribution

END = -1
"""The end of a phrase, before all words in the order of slots."""


@dataclass(frozen=True)
class Naive:
    slots: Phrase
    total: float
    log_prob: float
    score: float
    dissimilarity: float
    rank: int
    end_prob: float


def all_phrases(segments: Sequence[Sequence[int]], slots: int, settings: Settings) -> set[Phrase]:
    """Every phrase that may be said of a document."""
    lengths = range(1, settings.max_words + 1)
    if settings.mode == "free":
        return {y for n in lengths for y in product(range(FIRST_WORD, slots), repeat=n)}
    return {
        tuple(segment[i : i + n])
        for segment in segments
        for n in lengths
        for i in range(len(segment) - n + 1)
    }


def naive_dissimilarity(phrase: Phrase, said: Sequence[Phrase]) -> float:
    words = {word for y in said for word in y}
    pairs = {pair for y in said for pair in pairwise(y)}
    ratios = [sum(word in words for word in phrase) / len(phrase)]
    if len(phrase) > 1:
        ratios.append(sum(pair in pairs for pair in pairwise(phrase)) / (len(phrase) - 1))
    return 1 - sum(ratios) / len(ratios)


def naive_normalise(log_prob: float, words: int, alpha: float) -> float:
    return log_prob / ((5 + words) / 6) ** alpha


class NaiveSearch:
    """Finds the phrases of one document.

    ``phrases`` are those that may be said; with none given, any words may follow each other, and
    there are so many phrases that they never run out.
    """

    def __init__(
        self,
        distribution: Distribution,
        document: int,
        phrases: set[Phrase] | None,
        settings: Settings,
    ) -> None:
        self.distribution, self.document = distribution, document
        self.phrases, self.settings = phrases, settings
        self.said: list[Phrase] = []

    def find(self, count: Count) -> list[Naive]:
        if self.settings.order == "expected":
            return self.find_expected(count)
        found: list[Naive] = []
        stopped = False
        while self.phrases is None or self.phrases - set(self.said):
            enough = stopped or len(found) >= self.settings.max_phrases
            if enough and not (count.exact and len(found) < (count.limit or 0)):
                break
            best = self.find_next()
            found.append(best)
            self.said.append(best.slots)
            stopped = stopped or best.end_prob > self.settings.stop
        if count.exact or self.settings.order == "score":
            found.sort(key=lambda each: -each.score)
        return found[: count.limit]

    def find_expected(self, count: Count) -> list[Naive]:
        """Equations (S8) and (S9), with all candidates weighed anew for each place of the list."""
        wanted = (count.limit or 0) if count.exact else 0
        seen: dict[Phrase, Naive] = {}
        winners: list[Naive] = []
        doubts: dict[Phrase, float] = {}
        going_on = 1.0
        while self.phrases is None or self.phrases - set(self.said):
            is_over = going_on <= UNLIKELY or len(self.said) >= self.settings.max_phrases
            if self.said and is_over and len(seen) >= wanted:
                break
            finished = self.find_finished()
            for each in finished + winners:
                seen.setdefault(each.slots, each)
                doubts.setdefault(each.slots, 1.0)
                doubts[each.slots] *= 1 - going_on * each.score
            going_on *= 1 - finished[0].end_prob
            self.said.append(finished[0].slots)
            winners.append(finished[0])
        found: list[Naive] = []
        while len(found) < len(seen):
            before = [each.slots for each in found]
            left = {y: 1 - doubts[y] for y in seen if y not in before}
            for y in left:
                alike = 1 - naive_dissimilarity(y, before)
                left[y] *= math.exp(-self.settings.lambda1 * alike)
            best = max(left, key=left.__getitem__)
            found.append(replace(seen[best], score=left[best]))
        if count.exact:
            return found[: count.limit]
        listed = [e for e in found[: self.settings.max_phrases] if e.score >= self.settings.floor]
        return (listed or found[:1])[: count.limit]

    def find_next(self) -> Naive:
        return self.find_finished()[0]

    def find_finished(self) -> list[Naive]:
        """Everything that ended, best first."""
        live: list[tuple[Phrase, float]] = [((), 0.0)]
        finished: list[Naive] = []
        while live:
            scored = [
                (-total, parent, slot, log_prob, rank)
                for parent, (prefix, before) in enumerate(live)
                for slot, log_prob, rank, total in self.continuations(prefix, before)
            ]
            grown = []
            for total, parent, slot, log_prob, rank in sorted(scored)[: self.settings.width]:
                prefix = live[parent][0]
                if slot == END:
                    finished.append(self.finish(prefix, -total, log_prob, rank))
                else:
                    grown.append(((*prefix, slot), log_prob))
            live = self.worth_following(grown, finished)
        return sorted(finished, key=lambda each: -each.total)  # of equals the first

    def worth_following(
        self, live: list[tuple[Phrase, float]], finished: list[Naive]
    ) -> list[tuple[Phrase, float]]:
        """All while any may still win; then those that may have a score to speak of."""
        settings = self.settings
        bounds = [naive_normalise(each[1], settings.max_words, settings.alpha) for each in live]
        best = max((each.total for each in finished), default=-math.inf)
        if any(bound + settings.lambda1 >= best for bound in bounds):
            return live
        return [
            each for each, bound in zip(live, bounds, strict=True) if bound >= math.log(NEGLIGIBLE)
        ]

    def continuations(self, prefix: Phrase, before: float) -> list[tuple[int, float, int, float]]:
        """Slot, log-probability so far, rank and total of each way to go on."""
        row = self.distribution(self.document, tuple(self.said), prefix)
        ways = {slot: row[slot] for slot in self.words_after(prefix, len(row))}
        if prefix and prefix not in self.said and (not self.phrases or prefix in self.phrases):
            ways[END] = math.log(math.exp(row[SEP]) + math.exp(row[EOS]))
        ranked = sorted(ways, key=lambda slot: (-ways[slot], slot))
        result = []
        for rank, slot in enumerate(ranked):
            phrase = prefix if slot == END else (*prefix, slot)
            log_prob = before + ways[slot]
            total = (
                naive_normalise(log_prob, len(phrase), self.settings.alpha)
                + self.settings.lambda1 * naive_dissimilarity(phrase, self.said)
                - self.settings.lambda2 * rank
            )
            result.append((slot, log_prob, rank, total))
        return result

    def words_after(self, prefix: Phrase, slots: int) -> set[int]:
        """Words that may follow and lead to something not yet said."""
        t = len(prefix)
        if self.phrases is not None:
            left = self.phrases - set(self.said)
            return {y[t] for y in left if len(y) > t and y[:t] == prefix}
        if t == self.settings.max_words:
            return set()
        spent = {y[t] for y in self.said if y[:t] == prefix and len(y) == self.settings.max_words}
        return set(range(FIRST_WORD, slots)) - (
            spent if t + 1 == self.settings.max_words else set()
        )

    def finish(self, phrase: Phrase, total: float, log_prob: float, rank: int) -> Naive:
        row = self.distribution(self.document, tuple(self.said), phrase)
        sep, eos = math.exp(row[SEP]), math.exp(row[EOS])
        return Naive(
            slots=phrase,
            total=total,
            log_prob=log_prob,
            score=math.exp(naive_normalise(log_prob, len(phrase), self.settings.alpha)),
            dissimilarity=naive_dissimilarity(phrase, self.said),
            rank=rank,
            end_prob=eos / (sep + eos),
        )
