"""Which keyphrases stand in a document, and where: by stems, inside one sentence.

Parsers cut "c++", "10.5" or "web2.0" in their own ways, so both sides are cut further, into
*units*: runs of letters and digits, and single other characters. A phrase is present where its
units begin with a token and end with a token.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from phraseloom.text.document import Document, Sentence
from phraseloom.text.words import DIGIT, as_word, normalise, stem

_UNIT = re.compile(rf"{DIGIT}|[^\W_]+|[^\w\s]|_", re.IGNORECASE)

Units = tuple[str, ...]


class Occurrence(NamedTuple):
    """A keyphrase and the tokens ``[start, start + length)`` where it first stands."""

    phrase: str
    start: int
    length: int


class KeywordSplit(NamedTuple):
    """Keyphrases of a document, without repetitions: those that stand in it, and those that don't.

    The present ones are in the order of their first occurrence, the longer first where two begin
    at one token; the absent ones in the order given.
    """

    present: tuple[Occurrence, ...]
    absent: tuple[str, ...]


def cut_units(text: str) -> list[str]:
    """The units of a text, as they are written."""
    return _UNIT.findall(normalise(text))


@lru_cache(maxsize=200_000)
def unit_stems(text: str) -> Units:
    """Cut a text into units, each as its stem.

    >>> unit_stems("Object-Oriented C++ in 2021")
    ('object', 'orient', 'c', '+', '+', 'in', '<digit>')
    """
    return tuple(stem(as_word(unit)) for unit in cut_units(text))


def split_keywords(document: Document, keywords: Iterable[str]) -> KeywordSplit:
    """Tell the keyphrases that stand in a document from those that do not.

    Two keyphrases are the same if their stems are; one without any letter or digit is none.
    """
    distinct: dict[Units, str] = {}
    for keyword in keywords:
        units = unit_stems(keyword)
        if any(unit[-1].isalnum() or unit == DIGIT for unit in units):
            distinct.setdefault(units, " ".join(keyword.split()))
    index = _Index(document.sentences)
    present, absent = [], []
    for units, phrase in distinct.items():
        found = index.find(units)
        if found is None:
            absent.append(phrase)
        else:
            present.append(Occurrence(phrase, *found))
    present.sort(key=lambda occurrence: (occurrence.start, -occurrence.length))
    return KeywordSplit(tuple(present), tuple(absent))


class _Index:
    """Units of a document, and where each of them stands."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        self._units: list[str] = []
        self._tokens: dict[int, int] = {}  # unit at which a token, or a sentence, begins
        self._limits: list[int] = []  # per unit: where its sentence ends
        self._places: dict[str, list[int]] = {}
        tokens = 0
        for sentence in sentences:
            for token in sentence.tokens:
                self._tokens[len(self._units)] = tokens
                self._units += unit_stems(token.word)
                tokens += 1
            end = len(self._units)
            self._limits += [end] * (end - len(self._limits))
        self._tokens[len(self._units)] = tokens
        for place, unit in enumerate(self._units):
            self._places.setdefault(unit, []).append(place)

    def find(self, units: Units) -> tuple[int, int] | None:
        """First token of the first occurrence, and its length in tokens."""
        for place in self._places.get(units[0], ()):
            end = place + len(units)
            if end > self._limits[place] or tuple(self._units[place:end]) != units:
                continue
            if place in self._tokens and end in self._tokens:
                return self._tokens[place], self._tokens[end] - self._tokens[place]
        return None
