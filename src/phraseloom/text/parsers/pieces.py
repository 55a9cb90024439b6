"""Long texts cut into pieces that a parser can hold, at the best place near the limit."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from phraseloom.text.document import Source
from phraseloom.text.normalise import mask_digits, normalise
from phraseloom.text.stem import DIGIT

_LONGEST = 20_000  # characters given to a parser at once: bounds its memory
_BREAK = re.compile(rf"\n\s*\n|(?<=[.!?])\s+|\s+|(?={DIGIT})")


class Piece(NamedTuple):
    """A stretch of the title or the body, ready for a parser."""

    text: str
    """Normalised, numbers in place of ``<digit>``; as long as what it stands for."""
    start: int
    """Where it begins in the caller's string."""
    in_title: bool


def cut_pieces(source: Source) -> Iterator[Piece]:
    """Cut a title and a body into pieces; together they cover both, white space aside."""
    for text, in_title in ((source.title, True), (source.text, False)):
        normal = normalise(text)
        start = 0
        while start < len(normal):
            end = _cut(normal, start)
            piece = normal[start:end]
            if not piece.isspace():
                yield Piece(mask_digits(piece), start, in_title)
            start = end


def _cut(text: str, start: int) -> int:
    """End of the piece that begins at ``start``: after a paragraph, a sentence or a word."""
    limit = start + _LONGEST
    if limit >= len(text):
        return len(text)
    paragraph = sentence = word = 0
    for match in _BREAK.finditer(text, start + _LONGEST // 2, limit):
        if match[0].count("\n") > 1:
            paragraph = match.end()
        elif match[0] and text[match.start() - 1] in ".!?":
            sentence = match.end()
        else:
            word = match.end()
    return paragraph or sentence or word or limit
