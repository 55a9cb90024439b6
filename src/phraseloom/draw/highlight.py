"""A text cut where phrases begin and end, so that each stretch can be shown in one manner."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from phraseloom.text.document import Source
from phraseloom.text.spans import Span

LEVELS = 4
"""Strengths of a mark: from 1, a weak phrase, to this, one near the best."""


class Marked(Protocol):
    """A phrase with the places where it stands; an extractor's ``Keyphrase`` is one."""

    @property
    def text(self) -> str: ...
    @property
    def score(self) -> float: ...
    @property
    def rank(self) -> int: ...
    @property
    def spans(self) -> Sequence[Span]: ...
    @property
    def title_spans(self) -> Sequence[Span]: ...


class Highlighted(NamedTuple):
    """A document with its phrases, best first, under the name it goes by."""

    name: str
    source: Source
    phrases: Sequence[Marked]


class Stretch(NamedTuple):
    """A piece of the text, and the ranks of the phrases that it is part of, best first."""

    text: str
    ranks: tuple[int, ...]
    begins: tuple[int, ...]
    """Ranks of the phrases of which an occurrence begins here."""


def cut(text: str, places: Iterable[tuple[int, Sequence[Span]]]) -> list[Stretch]:
    """Cut a text at every end of a phrase; joined, the stretches are the text again.

    Args:
        text: in which the spans count code points.
        places: rank and spans of each phrase; those of several phrases may overlap.

    >>> cut("deep graph nets", [(1, [(0, 10)]), (2, [(5, 15)])])  # doctest: +NORMALIZE_WHITESPACE
    [Stretch(text='deep ', ranks=(1,), begins=(1,)),
     Stretch(text='graph', ranks=(1, 2), begins=(2,)),
     Stretch(text=' nets', ranks=(2,), begins=())]
    """
    changes: dict[int, list[tuple[int, int]]] = {0: [], len(text): []}
    for rank, spans in places:
        for start, end in spans:
            changes.setdefault(start, []).append((rank, 1))
            changes.setdefault(end, []).append((rank, -1))
    borders = sorted(changes)
    depths: dict[int, int] = {}
    stretches = []
    for start, end in zip(borders, borders[1:], strict=False):
        for rank, change in changes[start]:
            depths[rank] = depths.get(rank, 0) + change
        ranks = tuple(sorted(rank for rank, depth in depths.items() if depth))
        begins = tuple(sorted(rank for rank, change in changes[start] if change > 0))
        stretches.append(Stretch(text[start:end], ranks, begins))
    return stretches


def body_stretches(document: Highlighted) -> list[Stretch]:
    """The body, cut at its phrases."""
    return cut(document.source.text, ((each.rank, each.spans) for each in document.phrases))


def title_stretches(document: Highlighted) -> list[Stretch]:
    """The title, cut at its phrases."""
    return cut(document.source.title, ((each.rank, each.title_spans) for each in document.phrases))


def levels(phrases: Sequence[Marked]) -> dict[int, int]:
    """How strongly to mark each rank: in proportion to the best score, in steps."""
    best = max((phrase.score for phrase in phrases), default=0.0)
    return {
        phrase.rank: max(1, round(LEVELS * phrase.score / best)) if best > 0 else 1
        for phrase in phrases
    }
