"""Search once more, one hypothesis at a time, in plain Python: slow, and easy to check by eye."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

from phraseloom.config import SearchConfig
from phraseloom.search.beam import NEGLIGIBLE
from phraseloom.search.constraints import SEED_FACTOR, Seed
from phraseloom.search.decode import UNLIKELY
from phraseloom.slots import EOS, FIRST_WORD, SEP, Phrase
from tests.search.decoders import Distribution

END = -1
"""The end of a phrase, before all words in the order of slots."""


@dataclass(frozen=True)
class NaiveHypothesis:
    slots: Phrase
    total: float
    log_prob: float
    score: float
    dissimilarity: float
    sibling_rank: int
    end_prob: float


def all_phrases(
    segments: Sequence[Sequence[int]], slots: int, config: SearchConfig, *, min_words: int = 1
) -> set[Phrase]:
    """Every phrase that a document has."""
    lengths = range(min_words, config.max_words + 1)
    if config.mode == "free":
        return {phrase for n in lengths for phrase in product(range(FIRST_WORD, slots), repeat=n)}
    return {
        tuple(segment[start : start + n])
        for segment in segments
        for n in lengths
        for start in range(len(segment) - n + 1)
    }


def naive_dissimilarity(phrase: Phrase, history: Sequence[Phrase]) -> float:
    words = {word for earlier in history for word in earlier}
    pairs = {pair for earlier in history for pair in pairwise(earlier)}
    ratios = [sum(word in words for word in phrase) / len(phrase)]
    if len(phrase) > 1:
        ratios.append(sum(pair in pairs for pair in pairwise(phrase)) / (len(phrase) - 1))
    return 1 - sum(ratios) / len(ratios)


def naive_normalise(log_prob: float, words: int, alpha: float) -> float:
    return log_prob / ((5 + words) / 6) ** alpha


def naive_seed_penalty(phrase: Phrase, seeds: Sequence[Seed]) -> float:
    shares = [len({*phrase} & seed.slots) / seed.words for seed in seeds]
    return math.log(SEED_FACTOR) * (1 - max(shares, default=1.0))


class NaiveSearch:
    """Finds the phrases of one document, among those given."""

    def __init__(
        self,
        distribution: Distribution,
        document: int,
        phrases: set[Phrase],
        config: SearchConfig,
        seeds: Sequence[Seed] = (),
    ) -> None:
        self.distribution, self.document = distribution, document
        self.phrases, self.config, self.seeds = phrases, config, seeds
        self.history: list[Phrase] = []

    def find(self, limit: int | None) -> list[NaiveHypothesis]:
        if self.config.order == "expected":
            return self.find_expected(limit)
        winners: list[NaiveHypothesis] = []
        has_ended = False
        while self.phrases - set(self.history):
            is_enough = has_ended or len(winners) >= self.config.max_phrases
            if is_enough and len(winners) >= (limit or 0):
                break
            winner = self.find_finished()[0]
            winners.append(winner)
            self.history.append(winner.slots)
            has_ended = has_ended or winner.end_prob > self.config.eos_threshold
        if limit is not None or self.config.order == "score":
            winners.sort(key=lambda winner: -winner.score)
        return winners[:limit]

    def find_expected(self, limit: int | None) -> list[NaiveHypothesis]:
        """Equations (S8) and (S9), with all phrases weighed anew for each rank of the list."""
        first_seen: dict[Phrase, NaiveHypothesis] = {}
        winners: list[NaiveHypothesis] = []
        doubts: dict[Phrase, float] = {}
        not_ended = 1.0
        while self.phrases - set(self.history):
            is_enough = not_ended <= UNLIKELY or len(winners) >= self.config.max_phrases
            if winners and is_enough and len(first_seen) >= (limit or 0):
                break
            finished = self.find_finished()
            for hypothesis in finished + winners:
                first_seen.setdefault(hypothesis.slots, hypothesis)
                doubts.setdefault(hypothesis.slots, 1.0)
                doubts[hypothesis.slots] *= 1 - not_ended * hypothesis.score
            not_ended *= 1 - finished[0].end_prob
            self.history.append(finished[0].slots)
            winners.append(finished[0])
        chosen: list[NaiveHypothesis] = []
        while len(chosen) < len(first_seen):
            before = [hypothesis.slots for hypothesis in chosen]
            worth = {phrase: 1 - doubts[phrase] for phrase in first_seen if phrase not in before}
            for phrase in worth:
                similarity = 1 - naive_dissimilarity(phrase, before)
                worth[phrase] *= math.exp(-self.config.lambda1 * similarity)
            best = max(worth, key=worth.__getitem__)
            chosen.append(replace(first_seen[best], score=worth[best]))
        if limit is not None:
            return chosen[:limit]
        chosen = chosen[: self.config.max_phrases]
        above = [phrase for phrase in chosen if phrase.score >= self.config.min_score]
        return above or chosen[:1]

    def find_finished(self) -> list[NaiveHypothesis]:
        """Everything that ended, best first."""
        live: list[tuple[Phrase, float]] = [((), 0.0)]
        finished: list[NaiveHypothesis] = []
        while live:
            scored = [
                (-total, parent, slot, log_prob, rank)
                for parent, (prefix, before) in enumerate(live)
                for slot, log_prob, rank, total in self.continuations(prefix, before)
            ]
            grown = []
            for total, parent, slot, log_prob, rank in sorted(scored)[: self.config.beam_width]:
                prefix = live[parent][0]
                if slot == END:
                    finished.append(self.finish(prefix, -total, log_prob, rank))
                else:
                    grown.append(((*prefix, slot), log_prob))
            live = self.worth_following(grown, finished)
        return sorted(finished, key=lambda hypothesis: -hypothesis.total)  # of equals the first

    def worth_following(
        self, live: list[tuple[Phrase, float]], finished: list[NaiveHypothesis]
    ) -> list[tuple[Phrase, float]]:
        """All while any may still win; then those that may have a score to speak of."""
        config = self.config
        bounds = [naive_normalise(log_prob, config.max_words, config.alpha) for _, log_prob in live]
        best = max((hypothesis.total for hypothesis in finished), default=-math.inf)
        if any(bound + config.lambda1 >= best for bound in bounds):
            return live
        return [
            hypothesis
            for hypothesis, bound in zip(live, bounds, strict=True)
            if bound >= math.log(NEGLIGIBLE)
        ]

    def continuations(self, prefix: Phrase, before: float) -> list[tuple[int, float, int, float]]:
        """Slot, log-probability so far, rank and total of each way to go on."""
        row = self.distribution(self.document, tuple(self.history), prefix)
        left = self.phrases - set(self.history)
        t = len(prefix)
        ways = {phrase[t]: row[phrase[t]] for phrase in left if len(phrase) > t}
        ways = {
            slot: log_prob
            for slot, log_prob in ways.items()
            if any(phrase[: t + 1] == (*prefix, slot) for phrase in left)
        }
        if prefix in left:
            ways[END] = math.log(math.exp(row[SEP]) + math.exp(row[EOS]))
        ranked = sorted(ways, key=lambda slot: (-ways[slot], slot))
        result = []
        for rank, slot in enumerate(ranked):
            phrase = prefix if slot == END else (*prefix, slot)
            log_prob = before + ways[slot]
            total = (
                naive_normalise(log_prob, len(phrase), self.config.alpha)
                - self.seed_penalty(phrase, is_ended=slot == END)
                + self.config.lambda1 * naive_dissimilarity(phrase, self.history)
                - self.config.lambda2 * rank
            )
            result.append((slot, log_prob, rank, total))
        return result

    def seed_penalty(self, phrase: Phrase, *, is_ended: bool) -> float:
        """Of a phrase; of a prefix, the least of any phrase that begins so."""
        if is_ended:
            return naive_seed_penalty(phrase, self.seeds)
        longer = [other for other in self.phrases if other[: len(phrase)] == phrase]
        return min(naive_seed_penalty(other, self.seeds) for other in longer)

    def finish(self, phrase: Phrase, total: float, log_prob: float, rank: int) -> NaiveHypothesis:
        row = self.distribution(self.document, tuple(self.history), phrase)
        sep, eos = math.exp(row[SEP]), math.exp(row[EOS])
        normalised = naive_normalise(log_prob, len(phrase), self.config.alpha)
        return NaiveHypothesis(
            slots=phrase,
            total=total,
            log_prob=log_prob,
            score=math.exp(normalised - self.seed_penalty(phrase, is_ended=True)),
            dissimilarity=naive_dissimilarity(phrase, self.history),
            sibling_rank=rank,
            end_prob=eos / (sep + eos),
        )
