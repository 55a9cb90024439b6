"""What a ranking knows of a phrase: numbers that can be counted or were found by the network."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phraseloom.keyphrase import ScoredStems
from phraseloom.network.lexicon import HIGHEST_LEVEL, NEVER_SEEN, Lexicon
from phraseloom.text.document import Document
from phraseloom.text.phrases import REGION, PhraseStanding, Stems
from phraseloom.text.terms import label_phrases

Array = NDArray[np.float64]
Columns = dict[str, NDArray[Any]]
"""A feature of each phrase, ``(C,)``, by name; switches are booleans."""

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
    "stray",  # whether it is hardly a term: see `_is_stray`
    "regions",  # log of how many stretches of a long text it stands in; see `spread_over_regions`
    "own_odds",  # log odds in the collection that the model was fitted to, of what it lists
    "own_odds_unlisted",  # the same of what it never does
    "own_listed",  # whether the collection lists it
    "in_vocabulary",  # whether it is a form of a controlled vocabulary's term
)
MIN_CHANCE = 1e-3
"""What the search did not find counts as this probable."""
_UNIMPORTANT = -4.0  # log odds of a word of which the network says nothing
_NOTHING_LONGER = -7.0
_USUAL_TOKENS = 200
_SHORTEST = 30  # hardly any text that weights are fitted to is shorter: they know nothing of those
_OFTEN_LISTED = 1.0  # log odds in the glossary
_TIMES = (
    "monday tuesday wednesday thursday friday saturday sunday januari februari april june juli"
    " august septemb octob novemb decemb"
)
_CALENDAR = frozenset(_TIMES.split())
"""Stems of days and months; "march" and "may" are words, too."""
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
) -> Array:
    """`FEATURES` of each phrase, ``(C, F)``; ``counts`` are of those that may be listed."""
    phrases = list(counts)
    length = math.log(max(count_tokens(document), _SHORTEST) / _USUAL_TOKENS)
    columns = _standing_columns(list(counts.values()), phrases, count_tokens(document))
    columns |= _word_columns(phrases, _describe_stems(document, lexicon))
    columns |= _network_columns(phrases, found)
    columns |= _glossary_columns(counts, lexicon)
    forms = label_phrases(document, lexicon.labels, counts) if lexicon.labels else {}
    columns["in_vocabulary"] = np.array([stems in forms for stems in phrases])
    columns["bias"] = np.ones(len(phrases))
    columns["long_text"] = np.full(len(phrases), length)
    columns["log_odds_long"] = columns["log_odds"] * length
    return np.stack([columns[name] for name in FEATURES], axis=1)


def _standing_columns(
    standings: Sequence[PhraseStanding], phrases: Sequence[Stems], tokens: int
) -> Columns:
    """How phrases stand in a text of so many tokens."""

    def each(name: str) -> Array:
        return np.array([getattr(one, name) for one in standings], dtype=np.float64)  # (C,)

    words = np.array(list(map(len, phrases)), dtype=np.int64)  # (C,)
    total, of_one, size = np.maximum(each("occurrences"), 1), words == 1, max(tokens, 1)
    log_count, name, noun = np.log(total), each("names") / total, each("nouns") / total
    return {
        "whole": each("whole") / total,
        "tail": each("tail") / total,
        "joined": each("joined") / total,
        "log_count": log_count,
        "log_count_of_one": log_count * of_one,
        "first": -np.log1p(10 * each("first") / size),
        "spread": (each("last") - each("first")) / size,
        "in_title": each("in_title"),
        "two_words": words == 2,
        "three_words": words == 3,
        "many_words": words > 3,
        "name": name,
        "name_of_one": name * of_one,
        "noun": noun,
        "noun_of_one": noun * of_one,
        "in_longer": each("in_longer") / total,
        "modifier": each("modifiers") / total,
        "adverbial": each("adverbials") / total,
        "regions": spread_over_regions(each("regions"), tokens),
    }


def _word_columns(phrases: Sequence[Stems], stem_of: Mapping[str, _Stem]) -> Columns:
    """What is known of the words of phrases."""
    parts = [[stem_of[stem] for stem in stems] for stems in phrases]
    return {
        "word_count": np.array([sum(p.log_count for p in of) / len(of) for of in parts]),
        "title_words": np.array([sum(p.in_title for p in of) / len(of) for of in parts]),
        "rarity": np.array([max(p.rarity for p in of) for of in parts]),
        "letters": np.log([sum(map(len, stems)) for stems in phrases]),
    }


def _network_columns(phrases: Sequence[Stems], found: Found) -> Columns:
    """What the network and its search say of phrases, alone and beside the others."""
    chances, importance = found.chances, found.importance
    odds_of = {stems: _log_odds(chances.get(stems, 0.0)) for stems in phrases}
    longer = _longer_odds(odds_of)
    log_odds = np.array(list(odds_of.values()))  # (C,)
    weights = [[importance.get(stem, _UNIMPORTANT) for stem in stems] for stems in phrases]
    return {
        "log_odds": log_odds,
        "not_found": np.array([stems not in chances for stems in phrases]),
        "importance": np.array([sum(of) / len(of) for of in weights]),
        "least_important": np.array(list(map(min, weights))),
        "relative_odds": log_odds - log_odds.max(initial=-math.inf),
        "longer_odds": np.array([longer.get(stems, _NOTHING_LONGER) for stems in phrases]),
    }


def _glossary_columns(counts: Mapping[Stems, PhraseStanding], lexicon: Lexicon) -> Columns:
    """What glossary and collection say of phrases."""
    joined = [" ".join(stems) for stems in counts]
    known = [lexicon.glossary.counts.get(run) for run in joined]
    own = [lexicon.collection.counts.get(run, NEVER_SEEN) for run in joined]
    known_odds = np.array([of.log_odds() if of else 0.0 for of in known])  # (C,)
    own_odds = np.array([of.log_odds() for of in own])  # (C,)
    is_listed = np.array([of.keyphrase_count > 0 for of in own], np.bool_)  # (C,)
    is_stray = np.array([_is_stray(*pair) for pair in counts.items()], np.bool_)  # (C,)
    return {
        "known": np.array([of.level() / HIGHEST_LEVEL if of else 0.0 for of in known]),
        "known_odds": known_odds,
        "stray": is_stray & (known_odds <= _OFTEN_LISTED),
        "own_odds": own_odds * is_listed,
        "own_odds_unlisted": own_odds * ~is_listed,
        "own_listed": is_listed,
    }


def _is_stray(stems: Stems, counted: PhraseStanding) -> bool:
    """Whether a phrase can hardly be a term in this text, unless collections often list it.

    A word that nowhere is a noun phrase or ends one ("injunctive" of "injunctive relief"), a part
    of a longer name, or what says when ("Friday").
    """
    is_cut = not counted.whole + counted.tail + counted.joined
    is_part = is_cut if len(stems) == 1 else counted.name_parts == counted.occurrences
    return is_part or not _CALENDAR.isdisjoint(stems)


def _log_odds(chance: float) -> float:
    chance = min(max(chance, MIN_CHANCE), 1 - 1e-6)
    return math.log(chance / (1 - chance))


def spread_over_regions(regions: Array, tokens: int) -> Array:
    """How spread out phrases are: nothing in texts of two stretches, and all of it in longer ones.

    More than `_MOST_REGIONS` count as so many: what stands everywhere is often a common word.
    """
    share = min(max(math.log2(max(tokens, 1) / (2 * REGION)), 0.0), 1.0)
    return share * np.log(np.clip(regions, 1, _MOST_REGIONS))


def _longer_odds(odds_of: Mapping[Stems, float]) -> dict[Stems, float]:
    """Of each phrase that is part of others, the highest log odds among those."""
    longer: dict[Stems, float] = {}
    for stems, odds in odds_of.items():
        for start, end in combinations(range(len(stems) + 1), 2):
            part = stems[start:end]
            if part in odds_of and part != stems and odds > longer.get(part, -math.inf):
                longer[part] = odds
    return longer


def count_tokens(document: Document) -> int:
    """Tokens of a document, its title included."""
    return sum(len(sentence.tokens) for sentence in document.sentences)
