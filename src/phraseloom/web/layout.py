"""Where the words and arcs of a sentence go in a picture, in pixels.

Laws: words do not overlap, no two arcs leave a word at one point, and labels do not overlap.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from phraseloom.text.document import Sentence, Token
from phraseloom.web.relation_groups import RelationGroup, group_of

WORD_SIZE = 16.0
LABEL_SIZE = 11.0
CORNER = 9.0
"""Radius of an arc's corners; a label has this much of its arc on each side."""
_GAP = 18.0  # between words
_PORT = 9.0  # between the arcs that meet at a word
_LONGEST_WORD = 40  # characters shown
_NARROW = set("ijltfrI.,;:'|!()[]/ `\u2019")
_BROAD = set("mwMW@%\u2014\u2026")


@dataclass(frozen=True, slots=True)
class Arc:
    """A dependency drawn over the words between its two ends."""

    head: int
    dependent: int
    relation: str
    group: RelationGroup
    level: int
    """Height above the words, from 1. Arcs over a common stretch have different levels."""

    @property
    def left(self) -> int:
        return min(self.head, self.dependent)

    @property
    def right(self) -> int:
        return max(self.head, self.dependent)


def stack_arcs(tokens: Sequence[Token]) -> list[Arc]:
    """Arcs of a sentence, shortest first, each as low as the arcs beneath it allow."""
    ends = [(token.head, i) for i, token in enumerate(tokens) if token.head != i]
    tops = [0] * len(tokens)  # of the arcs so far, over the gap that follows each word
    arcs = []
    for head, dependent in sorted(ends, key=lambda pair: abs(pair[0] - pair[1])):
        left, right = sorted((head, dependent))
        level = 1 + max(tops[left:right])
        tops[left:right] = [level] * (right - left)
        relation = tokens[dependent].relation
        arcs.append(Arc(head, dependent, relation, group_of(relation), level))
    return arcs


@dataclass(frozen=True, slots=True)
class Word:
    """A token with its place: ``x`` is the middle of the word."""

    token: Token
    shown: str
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class PlacedArc:
    """An arc with the two points at which it meets its words."""

    arc: Arc
    head_x: float
    dependent_x: float


@dataclass(frozen=True, slots=True)
class RowLayout:
    """One sentence, ready to be drawn from ``0`` to ``width``."""

    words: tuple[Word, ...]
    arcs: tuple[PlacedArc, ...]
    width: float
    levels: int


def text_width(text: str, size: float) -> float:
    """Rather generous width of a text in a sans-serif font; no font is at hand to ask."""
    return size * sum(map(_character_width, text))


def lay_out(sentence: Sentence) -> RowLayout:
    """Place a sentence; one in a right-to-left script runs from right to left."""
    tokens = sentence.tokens
    arcs = stack_arcs(tokens)
    shown = [_shorten(token.text) for token in tokens]
    ports = _order_ports(arcs, len(tokens))
    widths = [
        max(text_width(word, WORD_SIZE), text_width(token.pos, LABEL_SIZE), _PORT * len(meeting))
        for word, token, meeting in zip(shown, tokens, ports, strict=True)
    ]
    centres, points = _place(arcs, ports, widths)
    total = centres[-1] + widths[-1] / 2 if tokens else 0.0
    if _is_right_to_left(tokens):
        centres = [total - x for x in centres]
        points = {end: total - x for end, x in points.items()}
    words = zip(tokens, shown, centres, widths, strict=True)
    return RowLayout(
        words=tuple(Word(*word) for word in words),
        arcs=tuple(
            PlacedArc(arc, points[arc.head, arc], points[arc.dependent, arc]) for arc in arcs
        ),
        width=total,
        levels=max((arc.level for arc in arcs), default=0),
    )


def _order_ports(arcs: Sequence[Arc], count: int) -> list[list[Arc]]:
    """Arcs that meet at each word, from left to right: the far-reaching ones in the middle."""
    from_left: list[list[Arc]] = [[] for _ in range(count)]
    from_right: list[list[Arc]] = [[] for _ in range(count)]
    for arc in arcs:  # shortest first
        from_left[arc.right].append(arc)
        from_right[arc.left].append(arc)
    return [near + far[::-1] for near, far in zip(from_left, from_right, strict=True)]


def _place(
    arcs: Sequence[Arc], ports: Sequence[Sequence[Arc]], widths: Sequence[float]
) -> tuple[list[float], dict[tuple[int, Arc], float]]:
    """Middle of each word, and where each arc meets each of its two words.

    From left to right, a word goes as far left as its neighbour and the labels of the arcs that end
    at it allow.
    """
    centres: list[float] = []
    points: dict[tuple[int, Arc], float] = {}
    edge = 0.0
    for i, (meeting, width) in enumerate(zip(ports, widths, strict=True)):
        offsets = [_PORT * (k - (len(meeting) - 1) / 2) for k in range(len(meeting))]
        x = edge + width / 2
        for arc, offset in zip(meeting, offsets, strict=True):
            if arc.right == i:
                label = text_width(arc.relation, LABEL_SIZE)
                x = max(x, points[arc.left, arc] + label + 2 * CORNER - offset)
        centres.append(x)
        points |= {(i, arc): x + offset for arc, offset in zip(meeting, offsets, strict=True)}
        edge = x + width / 2 + _GAP
    return centres, points


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST_WORD else text[: _LONGEST_WORD - 1] + "\u2026"


def _character_width(character: str) -> float:
    """In units of the font size."""
    if character in _NARROW:
        return 0.36
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Cf"}:
        return 0.0
    if unicodedata.east_asian_width(character) in "WF" or ord(character) >= 0x1F000:
        return 1.3  # emoji are wider than ideographs
    if character in _BROAD:
        return 0.95
    return 0.7 if character.isupper() else 0.58


def _is_right_to_left(tokens: Sequence[Token]) -> bool:
    """Whether more letters run from right to left than from left to right."""
    kinds = [unicodedata.bidirectional(letter) for token in tokens for letter in token.text]
    return kinds.count("R") + kinds.count("AL") > kinds.count("L")
