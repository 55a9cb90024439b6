"""Long texts cut into pieces that a parser can hold, at the best place near the limit.

Runs without white space are cut too if they are far longer than any word. Tokenisers take
punctuation off the ends of such a run one by one, and look at all that is left each time, so that
their time grows with the square of its length.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from phraseloom.text.document import Source
from phraseloom.text.normalise import mask_digits, normalise
from phraseloom.text.stem import DIGIT

_LONGEST = 20_000  # characters given to a parser at once: bounds its memory
_BREAK = re.compile(rf"\n\s*\n|(?<=[.!?])\s+|\s+|(?={DIGIT})")
LONGEST_RUN = 256
"""Characters without white space that a parser is given at once; ``<digit>`` counts as one."""
LONGEST_PUNCTUATION = 64
"""The same without any letter or digit."""
_PUNCTUATION = re.compile(rf"(?>[^\w\s<]|_|<(?!{DIGIT[1:]})){{{LONGEST_PUNCTUATION}}}")
_RUN = re.compile(rf"(?>{DIGIT}|\S){{{LONGEST_RUN}}}")


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
        for start, end in pairwise([0, *_cut_runs(normal), len(normal)]):
            while start < end:
                cut = _cut(normal, start, end)
                piece = normal[start:cut]
                if not piece.isspace():
                    yield Piece(mask_digits(piece), start, in_title)
                start = cut


def _cut_runs(text: str) -> list[int]:
    """Where runs that are too long are cut; nowhere in ordinary text."""
    if max(map(len, text.split()), default=0) < LONGEST_PUNCTUATION:
        return []
    cuts = [match.end() for match in _PUNCTUATION.finditer(text)]
    for start, end in pairwise([0, *cuts, len(text)]):
        cuts += [match.end() for match in _RUN.finditer(text, start, end)]
    return sorted(cuts)


def _cut(text: str, start: int, end: int) -> int:
    """End of the piece that begins at ``start``: after a paragraph, a sentence or a word."""
    limit = start + _LONGEST
    if limit >= end:
        return end
    paragraph = sentence = word = 0
    for match in _BREAK.finditer(text, start + _LONGEST // 2, limit):
        if match[0].count("\n") > 1:
            paragraph = match.end()
        elif match[0] and text[match.start() - 1] in ".!?":
            sentence = match.end()
        else:
            word = match.end()
    return paragraph or sentence or word or limit
