"""What turns strings into numbers for one model: words, labels, subwords, styles, known phrases."""

import json
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from phraseloom.errors import CheckpointError
from phraseloom.text.terms import TermLabels

Ids = NDArray[np.int64]

AUTO = "auto"
"""Style of a document whose annotators are not known: the network has to tell by the text."""
_MAX_NGRAM, _MAX_BUCKETS, _MAX_DOCUMENTS = 20, 10**8, 10**12

OUTSIDE = -1
"""Id of a word that the vocabulary lacks: it has no row, but is still a node of its document."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words with a vector of their own, the most frequent first; a word's id is its index."""

    words: tuple[str, ...]
    _ids: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ids", _number(self.words))

    @classmethod
    def from_counts(cls, words: Sequence[str], counts: Iterable[int], size: int) -> Self:
        """The ``size`` most frequent words, ties in alphabetical order.

        A word given twice (say, by two corpora) counts as often as both say; one that was never
        seen is left out.
        """
        if size < 1:
            raise ValueError(f"a vocabulary has at least one word, not {size}")
        totals: Counter[str] = Counter()
        for word, count in zip(words, counts, strict=True):
            totals[word] += int(count)
        seen = [word for word, count in totals.items() if count > 0]
        return cls(tuple(sorted(seen, key=lambda word: (-totals[word], word))[:size]))

    def __len__(self) -> int:
        return len(self.words)

    def id(self, word: str) -> int | None:
        """Id of a word, or none if it is outside."""
        return self._ids.get(word)

    def ids(self, words: Iterable[str]) -> Ids:
        """Ids of many words; ``OUTSIDE`` for those without one."""
        return np.array([self._ids.get(word, OUTSIDE) for word in words], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Labels:
    """POS tags or relations seen in training; id 0 stands for any other label.

    Another parser may use labels that training never saw: they share the unknown entry.
    """

    names: tuple[str, ...]
    """``Labels.UNKNOWN`` first, then the labels in alphabetical order."""
    _ids: dict[str, int] = field(init=False, repr=False, compare=False)

    UNKNOWN = "<unknown>"

    def __post_init__(self) -> None:
        if self.names[:1] != (self.UNKNOWN,):
            raise ValueError(f"the first label is {self.UNKNOWN}")
        object.__setattr__(self, "_ids", _number(self.names))

    @classmethod
    def of(cls, names: Iterable[str]) -> Self:
        """The distinct labels among these, in an order that does not depend on theirs."""
        return cls((cls.UNKNOWN, *sorted(set(names) - {cls.UNKNOWN})))

    def __len__(self) -> int:
        """Number of ids, the unknown one included."""
        return len(self.names)

    def id(self, name: str) -> int:
        """Id of a label; 0 if it was not seen."""
        return self._ids.get(name, 0)

    def ids(self, names: Iterable[str]) -> Ids:
        """Ids of many labels."""
        return np.array([self._ids.get(name, 0) for name in names], dtype=np.int64)


def _number(names: tuple[str, ...]) -> dict[str, int]:
    ids = dict(zip(names, range(len(names)), strict=True))
    if len(ids) < len(names):
        raise ValueError("every entry has one number, so none may be listed twice")
    return ids


def _strings(values: object) -> tuple[str, ...]:
    """A list as read from JSON, if it is one of strings."""
    if not isinstance(values, list) or not {*map(type, values)} <= {str}:
        raise ValueError("what should be a list of words is not")
    return tuple(values)


def _labels(values: object) -> TermLabels | None:
    """A mapping as read from JSON, if it is one of strings; none if it is empty."""
    if not isinstance(values, dict):
        raise ValueError("what should be labels are not")
    labels = dict(zip(values, _strings(list(values.values())), strict=True))
    return TermLabels(labels) if labels else None


def _whole_numbers(values: object, least: object, most: object) -> list[int]:
    """A list as read from JSON, if it is one of whole numbers within bounds."""
    bounds = [least, most]
    if not isinstance(values, list) or not {*map(type, [*values, *bounds])} <= {int}:
        raise ValueError("what should be whole numbers are not")
    if values and not least <= min(values) <= max(values) <= most:
        raise ValueError(f"what should be from {least!s:.20} to {most!s:.20} is not")
    return values


_NO_PHRASES: dict[str, Any] = {"phrases": [], "listed": [], "standing": [], "corpora": []}

MAX_GLOSSARY_WORDS = 5
"""Words of a known phrase, at most."""
MIN_KEYPHRASE_COUNT = 2
"""Documents that have to list a phrase before it is known."""
SHARE_EDGES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
"""Shares of documents at which the next level begins."""
HIGHEST_LEVEL = 1 + len(SHARE_EDGES)
"""Of a phrase that is a keyphrase nearly wherever it occurs; the lowest, 0, is of unknown ones."""
GLOSSARY_FEATURE_SIZES = (1 + HIGHEST_LEVEL,) * 4
"""Levels of each of a word's four glossary features: alone, begins, continues, ends."""
_UNKNOWN_LEVEL = 0
_SMOOTHING = 2  # documents that stand for all those not seen: a share of one in one says little
_USUAL_SHARE = 0.02  # of documents with a phrase that list it, if nothing else is known


class PhraseCounts(NamedTuple):
    """In how many documents a phrase is a keyphrase, and in how many it occurs at all."""

    keyphrase_count: int
    document_count: int

    def log_odds(self) -> float:
        """Of being a keyphrase where it occurs, above those of any phrase; 0 if never seen."""
        listed, others = self.keyphrase_count, self.document_count - self.keyphrase_count
        usual = _USUAL_SHARE * _SMOOTHING, (1 - _USUAL_SHARE) * _SMOOTHING
        odds = (listed + usual[0]) / (max(others, 0) + usual[1])
        return math.log(odds * usual[1] / usual[0])

    def without(self, is_keyphrase: bool) -> "PhraseCounts":
        """The same without the vote of one document that it occurs in.

        Whoever counted it may have seen other keyphrases; so nothing falls below zero.
        """
        listed, standing = self.keyphrase_count - is_keyphrase, self.document_count - 1
        return PhraseCounts(max(listed, 0), max(standing, 0))

    def level(self) -> int:
        """How often it is a keyphrase where it occurs: 0 unknown, then hardly ever to mostly."""
        return _level(self.keyphrase_count, self.document_count)


NEVER_SEEN = PhraseCounts(0, 0)


@lru_cache(maxsize=100_000)
def _level(keyphrase_count: int, document_count: int) -> int:
    if keyphrase_count < MIN_KEYPHRASE_COUNT:
        return _UNKNOWN_LEVEL
    return 1 + bisect_right(SHARE_EDGES, keyphrase_count / (document_count + _SMOOTHING))


@dataclass(frozen=True, slots=True)
class Glossary:
    """Known phrases, as stems joined by spaces; without any, every feature is zero.

    An author who writes "support vector machine" lists it far more often than one who writes
    "results". `phraseloom.train.corpus.glossary` counts that; here it becomes features of words.
    """

    counts: Mapping[str, PhraseCounts] = field(default_factory=dict)
    corpora: frozenset[str] = frozenset()
    """Fingerprints of what was counted: of corpora, or of each document of a collection."""

    def features(
        self, sentences: Iterable[Sequence[str]], *, own: AbstractSet[str] | None = None
    ) -> Ids:
        """The highest level of a known phrase that each word is, begins, continues or ends.

        Args:
            sentences: stems of the document's words.
            own: keyphrases of the document, if it was counted itself. Its vote is taken back, or
                its keyphrases could be read off its features.

        Returns:
            ``(N, 4)``; the last three are of phrases of several words.
        """
        rows: list[list[int]] = []
        for stems in sentences:
            levels = [[_UNKNOWN_LEVEL] * len(GLOSSARY_FEATURE_SIZES) for _ in stems]
            for phrase, start, end in stem_runs(stems, among=self.counts) if self.counts else ():
                counts = self.counts[phrase]
                if own is not None:
                    counts = counts.without(phrase in own)
                level = counts.level()
                if end == start + 1:
                    levels[start][0] = level
                    continue
                levels[start][1] = max(level, levels[start][1])
                for inside in range(start + 1, end):
                    levels[inside][2] = max(level, levels[inside][2])
                levels[end - 1][3] = max(level, levels[end - 1][3])
            rows += levels
        return np.array(rows, dtype=np.int64).reshape(-1, len(GLOSSARY_FEATURE_SIZES))

    def columns(self) -> dict[str, Any]:
        """As lists for JSON; `from_columns` reads them."""
        return {
            "phrases": list(self.counts),
            "listed": [counts.keyphrase_count for counts in self.counts.values()],
            "standing": [counts.document_count for counts in self.counts.values()],
            "corpora": sorted(self.corpora),
        }

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any]) -> Self:
        """What `columns` gave.

        Raises:
            KeyError, TypeError, ValueError: it is something else.
        """
        listed, standing = (
            _whole_numbers(columns[name], 0, _MAX_DOCUMENTS) for name in ("listed", "standing")
        )
        counts = map(PhraseCounts, listed, standing)
        phrases = zip(_strings(columns["phrases"]), counts, strict=True)
        return cls(dict(phrases), frozenset(_strings(columns["corpora"])))


def stem_runs(
    stems: Sequence[str], *, among: Container[str] | None = None
) -> Iterator[tuple[str, int, int]]:
    """Runs of up to `MAX_GLOSSARY_WORDS` words as ``(joined, start, end)``; all, or known ones."""
    for start, run in enumerate(stems):
        if among is None or run in among:
            yield run, start, start + 1
        for end in range(start + 2, min(start + MAX_GLOSSARY_WORDS, len(stems)) + 1):
            run = f"{run} {stems[end - 1]}"  # faster than joining each anew
            if among is None or run in among:
                yield run, start, end


_FNV_OFFSET = 2166136261
_FNV_PRIME = 16777619
_UINT32 = 0xFFFFFFFF
_SIGN_BITS = 0xFFFFFF00


@lru_cache(maxsize=200_000)
def ngram_ids(word: str, *, min_n: int, max_n: int, buckets: int) -> Ids:
    """Buckets of a word's character n-grams, its ends marked by ``<`` and ``>``.

    Numbered as FastText does: 32-bit FNV-1a over the UTF-8 bytes. A test holds it to gensim's
    numbers, which people who only extract do not install. The result is cached and read-only.

    Args:
        word: any text; an empty word has n-grams too, of its marks.
        min_n: characters in the shortest n-gram, marks included; at least one.
        max_n: characters in the longest.
        buckets: how many buckets there are; zero gives no ids.
    """
    hashes = [] if buckets == 0 else _hashes(word, min_n, max_n)
    ids = np.array([hashed % buckets for hashed in hashes], dtype=np.int64)
    ids.flags.writeable = False
    return ids


def _hashes(word: str, min_n: int, max_n: int) -> list[int]:
    """Hash of every n-gram, by where it begins and then by length."""
    characters = [_signed_bytes(character) for character in f"<{word}>"]
    hashes = []
    for start in range(len(characters)):
        hashed = _FNV_OFFSET
        end = min(start + max_n, len(characters))
        for length, character in enumerate(characters[start:end], start=1):
            for byte in character:
                hashed = ((hashed ^ byte) * _FNV_PRIME) & _UINT32
            is_lone_mark = length == 1 and start in (0, len(characters) - 1)
            if length >= min_n and not is_lone_mark:
                hashes.append(hashed)
    return hashes


def _signed_bytes(character: str) -> list[int]:
    """UTF-8 bytes as FastText sees them: signed characters, widened to 32 bits with their sign."""
    encoded = character.encode("utf-8", errors="surrogatepass")
    return [byte | _SIGN_BITS if byte > 127 else byte for byte in encoded]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Every numbering that a network was trained with; saved beside its weights."""

    words: Vocabulary
    pos_tags: Labels
    relations: Labels
    styles: tuple[str, ...]
    min_n: int
    max_n: int
    buckets: int
    glossary: Glossary = field(default_factory=Glossary)
    collection: Glossary = field(default_factory=Glossary)
    """Phrases of the collection that a model was fitted to, those that it never lists too."""
    labels: TermLabels | None = None
    """Preferred label of each form of a controlled vocabulary, if there is one."""

    @property
    def edge_types(self) -> int:
        """How many kinds of edges there are: the self-loop, and each relation both ways."""
        return 1 + 2 * len(self.relations)

    def ngrams(self, word: str) -> Ids:
        """Buckets of the character n-grams that stand in for a word outside the vocabulary."""
        return ngram_ids(word, min_n=self.min_n, max_n=self.max_n, buckets=self.buckets)

    def style_id(self, style: str | None) -> int:
        """Number of a style; without a name, of `AUTO` or else the first."""
        if style is None:
            style = AUTO
        return self.styles.index(style) if style in self.styles else 0

    def save(self, path: Path) -> None:
        """Write as JSON."""
        values = {
            "words": self.words.words,
            "pos_tags": self.pos_tags.names,
            "relations": self.relations.names,
            "styles": self.styles,
            "subwords": {"min_n": self.min_n, "max_n": self.max_n, "buckets": self.buckets},
            "glossary": self.glossary.columns(),
            "collection": self.collection.columns(),
            "labels": dict(self.labels.labels) if self.labels else {},
        }
        path.write_text(json.dumps(values, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> "Lexicon":
        """Read what `save` wrote; a damaged file is named."""
        try:
            values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            subwords = values["subwords"]
            return cls(
                words=Vocabulary(_strings(values["words"])),
                pos_tags=Labels(_strings(values["pos_tags"])),
                relations=Labels(_strings(values["relations"])),
                styles=_strings(values["styles"]),
                min_n=_whole_numbers([subwords["min_n"]], 1, subwords["max_n"])[0],
                max_n=_whole_numbers([subwords["max_n"]], 1, _MAX_NGRAM)[0],
                buckets=_whole_numbers([subwords["buckets"]], 0, _MAX_BUCKETS)[0],
                glossary=Glossary.from_columns(values["glossary"]),
                collection=Glossary.from_columns(values.get("collection", _NO_PHRASES)),
                labels=_labels(values.get("labels", {})),
            )
        except OSError as error:
            raise CheckpointError(f"cannot read {path}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise CheckpointError(f"{path} is damaged: {error!s:.100}; copy it again") from None
