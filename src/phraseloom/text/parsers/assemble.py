"""What every parser needs: text cut into pieces that it can hold, and its rows made our tokens.

Runs without white space are cut too if they are far longer than any word. Tokenisers take
punctuation off the ends of such a run one by one, and look at all that is left each time, so that
their time grows with the square of its length.

Parsers disagree with us on what a token is: some make tokens of white space, some break ``<digit>``
apart, some give one stretch of text to several words. Here such rows are parted or made one, and
the heads follow.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from phraseloom.text.document import Document, Sentence, Source, Token
from phraseloom.text.words import DIGIT, as_word, mask_digits, normalise, stem

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


_DIGIT = re.compile(DIGIT)
_WORD = re.compile(rf"{DIGIT}|(?:(?!{DIGIT})\S)+")


class Row(NamedTuple):
    """What a parser says of one token."""

    start: int
    end: int
    pos: str
    head: int
    """Place of the governor among the sentence's rows; its own place for a root."""
    relation: str


def build_document(
    source: Source, pieces: Sequence[Piece], parsed: Iterable[Iterable[Sequence[Row]]]
) -> Document:
    """A document from the rows of each sentence of each of its pieces."""
    normal = {True: normalise(source.title), False: normalise(source.text)}
    sentences = []
    for piece, rows_of_sentences in zip(pieces, parsed, strict=True):
        text = source.title if piece.in_title else source.text
        for rows in rows_of_sentences:
            tokens = assemble(text, normal[piece.in_title], rows)
            if tokens:
                sentences.append(Sentence(tokens, piece.in_title))
    return Document(source.text, source.title, tuple(sentences))


def assemble(text: str, normal: str, rows: Sequence[Row]) -> tuple[Token, ...]:
    """Tokens of one sentence, from rows in reading order whose heads form trees.

    Args:
        text: the caller's string, which the offsets count in.
        normal: the same string normalised.
        rows: the sentence as the parser sees it.
    """
    if not _is_clean(normal, rows):
        rows = _mend(normal, rows)
    tokens = []
    for i, (start, end, pos, head, relation) in enumerate(rows):
        word = as_word(text[start:end])
        label = "root" if head == i else relation.lower()
        tokens.append(Token(text[start:end], start, end, pos, head, label, word, stem(word)))
    return tuple(tokens)


def locate_words(surface: str, words: Sequence[str], start: int) -> list[tuple[int, int]]:
    """Spans of the words that one stretch of text stands for.

    Where the words do not spell the text ("au" for "à le"), each of them spans the whole of it;
    ``assemble`` then makes them one token.

    >>> locate_words("cannot", ["can", "not"], 10)
    [(10, 13), (13, 16)]
    """
    if "".join(words) != surface:
        return [(start, start + len(surface))] * len(words)
    spans = []
    for word in words:
        spans.append((start, start + len(word)))
        start += len(word)
    return spans


def _is_clean(normal: str, rows: Sequence[Row]) -> bool:
    """Is every row one word, apart from its neighbours, and each ``<digit>`` a row?"""
    reached = digits = 0
    for row in rows:
        word = normal[row.start : row.end]
        if row.start < reached or word.split() != [word]:
            return False
        reached = row.end
        digits += word == DIGIT
    return not rows or normal.count(DIGIT, rows[0].start, reached) == digits


class _Group(NamedTuple):
    """Rows that share text, and the words that this text holds."""

    top: int
    """The row nearest to the root: no governor above it is in the group."""
    words: list[tuple[int, int]]


def _mend(normal: str, rows: Sequence[Row]) -> list[Row]:
    """Rows that are one word each; the last word of a group stands in its place in the tree."""
    groups, group_of = _group(normal, rows)
    places = []  # of each group's last word among the new rows
    count = 0
    for group in groups:
        count += len(group.words)
        places.append(count - 1)
    mended: list[Row] = []
    for place, group in zip(places, groups, strict=True):
        pos, relation = rows[group.top].pos, rows[group.top].relation
        head = places[_governor(group, groups, group_of, rows)]
        first = place - len(group.words) + 1
        for i, (start, end) in enumerate(group.words, first):
            tag = "CD" if normal[start:end] == DIGIT else pos
            arc = (head, relation) if i == place else (place, "compound")
            mended.append(Row(start, end, tag, *arc))
    return mended


def _governor(
    group: _Group, groups: Sequence[_Group], group_of: Sequence[int], rows: Sequence[Row]
) -> int:
    """Nearest group above that has words; the group itself if there is none."""
    own = group_of[group.top]
    above = group
    while rows[above.top].head != above.top:
        above = groups[group_of[rows[above.top].head]]
        if above.words:
            return group_of[above.top]
    return own


def _group(normal: str, rows: Sequence[Row]) -> tuple[list[_Group], list[int]]:
    """Rows that overlap, or that a ``<digit>`` bridges, together; and each row's group."""
    depths = _depths(rows)
    groups: list[_Group] = []
    group_of: list[int] = []
    for members, start, end in _runs(normal, rows):
        words = [match.span() for match in _WORD.finditer(normal, start, end)]
        group_of += [len(groups)] * len(members)
        groups.append(_Group(min(members, key=depths.__getitem__), words))
    return groups, group_of


def _runs(normal: str, rows: Sequence[Row]) -> Iterator[tuple[list[int], int, int]]:
    """Neighbouring rows that share text, with the span they cover together."""
    digit_at = {
        i: match.span()
        for match in _DIGIT.finditer(normal, max(rows[0].start - len(DIGIT), 0), rows[-1].end)
        for i in range(*match.span())
    }
    members: list[int] = []
    start = end = 0
    for i, row in enumerate(rows):
        if members and row.start >= end:
            yield members, start, end
            members, end = [], 0
        if not members:
            start = digit_at.get(row.start, row)[0]
        members.append(i)
        end = max(end, row.end, digit_at.get(row.end - 1, (0, 0))[1])
    yield members, start, end


def _depths(rows: Sequence[Row]) -> list[int]:
    """Arcs between each row and its root."""
    depths = [-1] * len(rows)
    for i in range(len(rows)):
        path = [i]
        while depths[path[-1]] < 0 and rows[path[-1]].head != path[-1]:
            path.append(rows[path[-1]].head)
        depth = max(depths[path[-1]], 0)
        for steps, j in enumerate(reversed(path)):
            depths[j] = depth + steps
    return depths
