"""Phrases in a parsed document: where they stand, and which are whole noun phrases.

A noun phrase here is a base one, a noun with the nouns, adjectives and participles before it that
it governs: "severe property damage", not "severe property" and not "damage of the storm". Words
that a hyphen joins in the text ("sign-on") are one word.
"""

from collections import Counter
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from phraseloom.text.document import Document

Span = tuple[int, int]

_END = ""  # between sentences; no token has an empty stem, so no phrase crosses it


class Occurrences(NamedTuple):
    """All places of a phrase; offsets into the body's string and into the title's."""

    text: str
    """As it is most often written, or first where several are equal; empty if it never occurs."""
    spans: tuple[Span, ...]
    title_spans: tuple[Span, ...]


class SpanIndex:
    """The stems of a document, indexed once to look up many phrases."""

    def __init__(self, document: Document) -> None:
        self._document = document
        stems: list[str] = []
        self._spans: list[Span] = []
        self._body = 0  # the place where the title's tokens have ended
        for sentence in document.sentences:
            stems += [token.stem for token in sentence.tokens]
            stems.append(_END)
            self._spans += [(token.start, token.end) for token in sentence.tokens]
            self._spans.append((0, 0))
            if sentence.in_title:
                self._body = len(stems)
        self._stems = tuple(stems)
        self._places: dict[str, list[int]] = {}
        for place, stem in enumerate(stems):
            self._places.setdefault(stem, []).append(place)

    def find(self, stems: Sequence[str]) -> Occurrences:
        """Every place where these stems follow one another inside a sentence."""
        wanted = tuple(stems)
        places = self._places.get(wanted[0], ()) if wanted and _END not in wanted else ()
        found = [place for place in places if self._stems[place : place + len(wanted)] == wanted]
        spans = [(self._spans[i][0], self._spans[i + len(wanted) - 1][1]) for i in found]
        in_title = sum(place < self._body for place in found)
        surfaces = Counter(
            " ".join(string[start:end].split())
            for string, part in (
                (self._document.title, spans[:in_title]),
                (self._document.text, spans[in_title:]),
            )
            for start, end in part
        )
        text = surfaces.most_common(1)[0][0] if surfaces else ""  # of equals, the first
        return Occurrences(text, tuple(spans[in_title:]), tuple(spans[:in_title]))


Range = tuple[int, int]
"""Tokens ``[start, end)``."""

_HYPHENS = "-\u2010\u2011"
_NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
_MODIFIERS = _NOUNS | {"JJ", "JJR", "JJS", "VBN", "VBG", "CD", "FW", "AFX", "HYPH", "ADD"}


class Role(IntEnum):
    """What a token is in the noun phrase that it stands in."""

    OUTSIDE = 0
    BEGIN = 1
    INSIDE = 2
    HEAD = 3
    ALONE = 4
    """The phrase is this one token."""


def are_joined(text: str, end: int, start: int) -> bool:
    """Whether a hyphen joins what ends at ``end`` to what begins at ``start``."""
    return start == end + 1 and text[end] in _HYPHENS


def noun_phrases(tags: Sequence[str], heads: Sequence[int], joined: Sequence[bool]) -> list[Range]:
    """The maximal base noun phrases of a sentence or of several, from left to right.

    Args:
        tags: Penn Treebank tag of each token.
        heads: token that governs each; a root governs itself.
        joined: whether a hyphen joins each token to the next.
    """
    phrases = []
    end = len(tags)
    while end:
        start = _unit_start(joined, end)
        if not _NOUNS.isdisjoint(tags[start:end]):
            while start:
                left = _unit_start(joined, start)
                if not _modifies(tags, heads, (left, start), end):
                    break
                start = left
            phrases.append((_without_number(tags, joined, start, end), end))
        end = start
    return phrases[::-1]


def phrase_roles(size: int, phrases: Sequence[Range]) -> list[Role]:
    """The role of each token of a text of ``size`` tokens."""
    roles = [Role.OUTSIDE] * size
    for start, end in phrases:
        roles[start:end] = [Role.INSIDE] * (end - start)
        roles[start] = Role.BEGIN
        roles[end - 1] = Role.HEAD if end - start > 1 else Role.ALONE
    return roles


def _unit_start(joined: Sequence[bool], end: int) -> int:
    """Where the word begins that ends at ``end``, hyphens included."""
    start = end - 1
    while start and joined[start - 1]:
        start -= 1
    return start


def _modifies(tags: Sequence[str], heads: Sequence[int], unit: Range, end: int) -> bool:
    """Whether a word may begin the noun phrase that goes on behind it up to ``end``."""
    start, stop = unit
    outer = [heads[token] for token in range(start, stop) if not start <= heads[token] < stop]
    is_modifier = not _MODIFIERS.isdisjoint(tags[start:stop])
    return is_modifier and bool(outer) and all(stop <= head < end for head in outer)


def _without_number(tags: Sequence[str], joined: Sequence[bool], start: int, end: int) -> int:
    """Where the phrase begins without the numbers in front: "three roses" are roses."""
    while start < end - 1 and tags[start] == "CD" and not joined[start]:
        start += 1
    return start
