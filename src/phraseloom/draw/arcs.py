"""The arcs of a sentence, stacked so that none runs through another's top."""

from collections.abc import Sequence
from dataclasses import dataclass

from phraseloom.draw.families import Family, family_of
from phraseloom.text.document import Token


@dataclass(frozen=True, slots=True)
class Arc:
    """A dependency drawn over the words between its two ends."""

    head: int
    dependent: int
    relation: str
    family: Family
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
        arcs.append(Arc(head, dependent, relation, family_of(relation), level))
    return arcs
