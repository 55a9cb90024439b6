"""A document's dependency graph as SVG: words in reading order, arcs above, one row a sentence."""

import html
import re
from collections.abc import Sequence
from itertools import accumulate

from phraseloom.text.document import Document
from phraseloom.web.layout import (
    CORNER,
    LABEL_SIZE,
    WORD_SIZE,
    PlacedArc,
    RowLayout,
    Word,
    lay_out,
    text_width,
)
from phraseloom.web.relation_groups import RelationGroup
from phraseloom.web.resources import resource

_LEVEL = 23.0  # from one arc's top to the next
_ABOVE = 16.0  # free space over the highest arc
_BELOW = 52.0  # for the word, its tag and some air
_MARGIN = 24.0
_LEGEND = 40.0
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def document_svg(document: Document) -> str:
    """One picture of all sentences, with a legend; it follows the viewer's light or dark theme."""
    rows = [lay_out(sentence) for sentence in document.sentences]
    tops = list(accumulate((row_height(row) for row in rows), initial=_LEGEND))
    legend, legend_width = _draw_legend()
    width = max([legend_width, *(row.width for row in rows)]) + 2 * _MARGIN
    body = "\n".join(
        f'<g transform="translate({_MARGIN:g} {top:g})">\n{draw_row(row)}\n</g>'
        for row, top in zip(rows, tops, strict=False)  # the last top is the picture's end
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{tops[-1]:g}" '
        f'viewBox="0 0 {width:g} {tops[-1]:g}" role="img">\n'
        f"<title>{escape(document.title or 'Dependency graph')}</title>\n"
        f"<style>\n{stylesheet()}</style>\n"
        f'<rect class="paper" width="100%" height="100%"/>\n{legend}\n{body}\n</svg>\n'
    )


def row_height(row: RowLayout) -> float:
    """Height that a row takes, with the air around it."""
    return _ABOVE + _LEVEL * row.levels + _BELOW


def draw_row(row: RowLayout) -> str:
    """SVG elements of one sentence, high arcs first so that low ones and labels lie on top."""
    base = _ABOVE + _LEVEL * row.levels
    arcs = sorted(row.arcs, key=lambda placed: -placed.arc.level)
    lines = [_draw_arc(placed, row.words, base) for placed in arcs]
    words = [_draw_word(i, word, base) for i, word in enumerate(row.words)]
    return "\n".join(lines + words)


def group_class(group: RelationGroup) -> str:
    """Name of the style of a group, as in the style sheet."""
    return "g-" + group.name.lower()


def stylesheet() -> str:
    """Colours and strokes of the picture, for light and dark."""
    return resource("picture.css")


def escape(text: str) -> str:
    """Text as it may stand in SVG or HTML; characters that XML cannot hold become U+FFFD."""
    return html.escape(_FORBIDDEN.sub("\ufffd", text))


def _draw_arc(placed: PlacedArc, words: Sequence[Word], base: float) -> str:
    arc, start, end = placed.arc, placed.head_x, placed.dependent_x
    top = base - _LEVEL * arc.level
    bend = CORNER if end > start else -CORNER
    path = (
        f"M{start:g} {base:g}V{top + CORNER:g}Q{start:g} {top:g} {start + bend:g} {top:g}"
        f"H{end - bend:g}Q{end:g} {top:g} {end:g} {top + CORNER:g}V{base - 5:g}"
    )
    arrow = f"M{end - 3.5:g} {base - 7:g}h7L{end:g} {base:g}Z"
    head, dependent = (words[i].token.text for i in (arc.head, arc.dependent))
    title = f"{head} → {dependent}: {arc.relation}"
    return (
        f'<g class="arc {group_class(arc.group)}" data-head="{arc.head}" '
        f'data-dependent="{arc.dependent}">'
        f"<title>{escape(title)}</title>"
        f'<path class="line" d="{path}"/><path class="tip" d="{arrow}"/>'
        f'<text class="label" x="{(start + end) / 2:g}" y="{top + LABEL_SIZE / 3:g}">'
        f"{escape(arc.relation)}</text></g>"
    )


def _draw_word(i: int, word: Word, base: float) -> str:
    token = word.token
    kind = "word root" if token.head == i else "word"
    title = f"{token.text} · {token.pos} · {token.relation}"
    pill = (
        f'<rect class="pill" x="{word.x - word.width / 2 - 6:g}" y="{base + 3:g}" '
        f'width="{word.width + 12:g}" height="{WORD_SIZE + 9:g}" rx="7"/>'
    )
    return (
        f'<g class="{kind}" data-word="{i}">'
        f"<title>{escape(title)}</title>{pill}"
        f'<text class="text" x="{word.x:g}" y="{base + 5 + WORD_SIZE:g}">'
        f"{escape(word.shown)}</text>"
        f'<text class="tag" x="{word.x:g}" y="{base + 26 + LABEL_SIZE:g}">'
        f"{escape(token.pos)}</text></g>"
    )


def _draw_legend() -> tuple[str, float]:
    """The colours' names in one line, and how wide it is."""
    x = 0.0
    parts = []
    for group in RelationGroup:
        parts.append(
            f'<g class="arc {group_class(group)}" transform="translate({_MARGIN + x:g} 26)">'
            f'<path class="line" d="M0 0V-3Q0 -9 6 -9H14Q20 -9 20 -3V0"/>'
            f'<text class="key" x="27">{escape(group.value)}</text></g>'
        )
        x += 27 + text_width(group.value, LABEL_SIZE + 1) + 20
    return "\n".join(parts), x
