"""A sentence's dependency graph in box-drawing characters: a word a line, arcs to its left."""

from typing import NamedTuple

from phraseloom.text.document import Sentence
from phraseloom.web.layout import Arc, stack_arcs
from phraseloom.web.relation_groups import RelationGroup

_UP, _RIGHT, _DOWN, _LEFT = 1, 2, 4, 8
_LINES = {
    0: " ",
    _UP | _DOWN: "│",
    _RIGHT | _LEFT: "─",
    _RIGHT | _DOWN: "╭",
    _RIGHT | _UP: "╰",
    _RIGHT | _UP | _DOWN: "├",
    _RIGHT | _LEFT | _DOWN: "┬",
    _RIGHT | _LEFT | _UP: "┴",
    _RIGHT | _LEFT | _UP | _DOWN: "┼",
}
ARROW, ROOT = "▸", "●"


class Cell(NamedTuple):
    """One character and the group whose colour it has; none: no arc runs here."""

    character: str
    group: RelationGroup | None = None


def draw_tree(sentence: Sentence) -> list[list[Cell]]:
    """Cells to the left of each word; all lines have the same length, the last cell is the tip."""
    tokens = sentence.tokens
    arcs = stack_arcs(tokens)
    columns = max((arc.level for arc in arcs), default=0)
    strokes = [[0] * columns for _ in tokens]
    groups: list[list[RelationGroup | None]] = [[None] * columns for _ in tokens]
    for arc in reversed(arcs):  # the long ones first: where lines meet, the short one's colour wins
        _stroke(arc, columns - arc.level, strokes, groups)
    lines = []
    for i, (row, colours) in enumerate(zip(strokes, groups, strict=True)):
        line = [Cell(_LINES[bits], group) for bits, group in zip(row, colours, strict=True)]
        is_root = tokens[i].head == i
        own = next((arc.group for arc in arcs if arc.dependent == i), None)
        lines.append([*line, Cell(ROOT if is_root else ARROW, own)])
    return lines


def _stroke(
    arc: Arc, column: int, strokes: list[list[int]], groups: list[list[RelationGroup | None]]
) -> None:
    """Draw one arc: down its column, and from there to the word at both ends."""
    for i in range(arc.left, arc.right + 1):
        is_end = i in (arc.left, arc.right)
        strokes[i][column] |= (_UP if i > arc.left else 0) | (_DOWN if i < arc.right else 0)
        strokes[i][column] |= _RIGHT if is_end else 0
        groups[i][column] = arc.group
        for k in range(column + 1, len(strokes[i]) if is_end else 0):
            strokes[i][k] |= _LEFT | _RIGHT
            groups[i][k] = arc.group
