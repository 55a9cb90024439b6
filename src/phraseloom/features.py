"""What a ranking knows of a phrase: numbers that can be counted or were found by the network."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phraseloom.keyphrase import ScoredStems
from phraseloom.network.lexicon import Glossary, Lexicon, PhraseCounts
from phraseloom.text.document import Document
from phraseloom.text.phrases import REGION, PhraseStanding, Stems

FEATURES = (
    "bias",
    "log_odds",  # of the search's chance
    "not_found",  # by the search
    "whole",  # share of its occurrences that are a complete noun phrase
    "tail",  # share that keeps the head but lacks words in front of it
    "joined",  # share that is several noun phrases, joined by prepositions
    "log_count",
    "log_count_of_one",  # the same for single words
    "first",  # how early it first occurs, on a log scale
    "spread",  # from its first to its last occurrence, as a share of the text
    "in_title",
    "two_words",
    "three_words",
    "many_words",
    "name",  # share of occurrences that end in a proper noun
    "name_of_one",
    "noun",  # share of occurrences that end in a noun
    "noun_of_one",
    "known",  # level in the glossary
    "in_longer",  # share of occurrences inside a longer noun phrase that repeats
    "word_count",  # mean log count of its words
    "title_words",  # share of its words that are in the title
    "rarity",  # of its rarest word, by the vocabulary
    "long_text",  # log of the number of tokens
    "log_odds_long",  # that times the log odds
    "importance",  # mean log odds of its words to belong to a keyphrase, as the network sees it
    "least_important",  # the lowest of them
    "relative_odds",  # log odds, less those of what the search is surest of
    "longer_odds",  # the highest log odds of a longer candidate around it
    "known_odds",  # log odds in the glossary
    "letters",  # log of their number
    "modifier",  # share of occurrences whose last word modifies another
    "adverbial",  # share that says when or how much: "on Friday" is none, "last year" is
    "regions",  # log of how many stretches of a long text it stands in; see `_region_features`
    "own_odds",  # log odds in the collection that the model was fitted to, of what it lists
    "own_odds_unlisted",  # the same of what it never does
    "own_listed",  # whether the collection lists it
    "in_vocabulary",  # whether it is a form of a controlled vocabulary's term
)
MIN_CHANCE = 1e-3
"""What the search did not find counts as this probable."""
NEVER = PhraseCounts(0, 0)
_UNIMPORTANT = -4.0  # log odds of a word of which the network says nothing
_NOTHING_LONGER = -7.0
_USUAL_TOKENS = 200
_LEVELS = 7
_MOST_REGIONS = 4


class Found(NamedTuple):
    """What a search has seen of a document or of a window of it."""

    phrases: Sequence[ScoredStems]
    importance: Mapping[str, float] = {}
    """Log odds of each stem to belong to a keyphrase; empty if the network does not tell."""

    @property
    def chances(self) -> dict[Stems, float]:
        """That of each phrase."""
        return {phrase.stems: phrase.score for phrase in self.phrases}


class _Stem(NamedTuple):
    log_count: float
    in_title: bool
    rarity: float
    """From 0, the most frequent word of the vocabulary, to 1, outside it."""


def _describe_stems(document: Document, lexicon: Lexicon) -> dict[str, _Stem]:
    counts = Counter(token.stem for token in document.tokens())
    stems: dict[str, _Stem] = {}
    most = math.log1p(len(lexicon.words))
    for sentence in document.sentences:
        for token in sentence.tokens:
            if token.stem not in stems:
                rank = lexicon.words.id(token.word)
                rarity = 1.0 if rank is None else math.log1p(rank) / most
                log_count = math.log(counts[token.stem])
                stems[token.stem] = _Stem(log_count, sentence.in_title, rarity)
    return stems


def phrase_features(
    document: Document, counts: Mapping[Stems, PhraseStanding], found: Found, lexicon: Lexicon
) -> NDArray[np.float64]:
    """`FEATURES` of each phrase, ``(C, F)``; ``counts`` are of those that may be listed."""
    own = collection_features(list(counts), lexicon.collection)
    rows: list[tuple[float, ...]] = []
    tokens = count_tokens(document)
    long_text = math.log(max(tokens, 1) / _USUAL_TOKENS)
    stem_of = _describe_stems(document, lexicon)
    chances = found.chances
    odds_of = {stems: _log_odds(chances.get(stems, 0.0)) for stems in counts}
    regions = _region_features(counts.values(), tokens)
    seen = _network_features(odds_of, found.importance)
    for stems, counted in counts.items():
        total, words = max(counted.occurrences, 1), len(stems)
        log_odds = odds_of[stems]
        joined = " ".join(stems)
        known = lexicon.glossary.counts.get(joined)
        log_total, of_one = math.log(total), words == 1
        parts = [stem_of[stem] for stem in stems]
        rows.append(
            (
                1.0,
                log_odds,
                stems not in chances,
                counted.whole / total,
                counted.tail / total,
                counted.joined / total,
                log_total,
                log_total * of_one,
                -math.log1p(10 * counted.first / max(tokens, 1)),
                (counted.last - counted.first) / max(tokens, 1),
                counted.in_title,
                words == 2,
                words == 3,
                words > 3,
                counted.names / total,
                counted.names / total * of_one,
                counted.nouns / total,
                counted.nouns / total * of_one,
                known.level() / _LEVELS if known else 0,
                counted.in_longer / total,
                sum(part.log_count for part in parts) / words,
                sum(part.in_title for part in parts) / words,
                max(part.rarity for part in parts),
                long_text,
                log_odds * long_text,
                *seen[len(rows)],
                known.log_odds() if known else 0.0,
                math.log(sum(map(len, stems))),
                counted.modifiers / total,
                counted.adverbials / total,
                regions[len(rows)],
                *own[len(rows)],
                joined in lexicon.labels,
            )
        )
    return np.array(rows, dtype=np.float64).reshape(-1, len(FEATURES))


def _log_odds(chance: float) -> float:
    chance = min(max(chance, MIN_CHANCE), 1 - 1e-6)
    return math.log(chance / (1 - chance))


def _network_features(
    odds_of: Mapping[Stems, float], importance: Mapping[str, float]
) -> list[tuple[float, float, float, float]]:
    """Mean and least importance of each phrase's words, and its log odds beside others'."""
    longer_odds, best = _longer_odds(odds_of), max(odds_of.values(), default=0.0)
    rows = []
    for stems, odds in odds_of.items():
        weights = [importance.get(stem, _UNIMPORTANT) for stem in stems]
        longer = longer_odds.get(stems, _NOTHING_LONGER)
        rows.append((sum(weights) / len(stems), min(weights), odds - best, longer))
    return rows


def _region_features(counts: Iterable[PhraseStanding], tokens: int) -> list[float]:
    """How spread out phrases are: nothing in texts of two stretches, and all of it in longer ones.

    More than `_MOST_REGIONS` count as so many: what stands everywhere is often a common word.
    """
    share = min(max(math.log2(max(tokens, 1) / (2 * REGION)), 0.0), 1.0)
    return [share * math.log(min(max(one.regions, 1), _MOST_REGIONS)) for one in counts]


def _longer_odds(odds_of: Mapping[Stems, float]) -> dict[Stems, float]:
    """Of each phrase that is part of others, the highest log odds among those."""
    longer: dict[Stems, float] = {}
    for stems, odds in odds_of.items():
        for start, end in combinations(range(len(stems) + 1), 2):
            part = stems[start:end]
            if part in odds_of and part != stems and odds > longer.get(part, -math.inf):
                longer[part] = odds
    return longer


def collection_features(
    phrases: Sequence[Stems], collection: Glossary, own: Collection[Stems] | None = None
) -> list[tuple[float, float, float]]:
    """The features of each phrase that a collection's counts give; zero of what it has not seen.

    Args:
        phrases: of a document.
        collection: whose counts they are.
        own: keyphrases of the document, if it was counted itself: its vote is taken back, or its
            keyphrases could be read off.
    """
    if not collection.counts:
        return [(0.0, 0.0, 0.0)] * len(phrases)
    rows = []
    for stems in phrases:
        counts = collection.counts.get(" ".join(stems), NEVER)
        if own is not None and counts is not NEVER:
            counts = counts.without(stems in own)
        odds, is_listed = counts.log_odds(), counts.keyphrase_count > 0
        rows.append((odds * is_listed, odds * (not is_listed), float(is_listed)))
    return rows


def count_tokens(document: Document) -> int:
    """Tokens of a document, its title included."""
    return sum(len(sentence.tokens) for sentence in document.sentences)
