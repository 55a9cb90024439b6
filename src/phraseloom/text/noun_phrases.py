"""The noun phrases of a dependency tree: what a phrase has to be to look whole to a reader.

A noun phrase here is a base one, a noun with the nouns, adjectives and participles before it that
it governs: "severe property damage", not "severe property" and not "damage of the storm". Words
that a hyphen joins in the text ("sign-on") are one word.
"""

from collections.abc import Sequence
from enum import IntEnum

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
