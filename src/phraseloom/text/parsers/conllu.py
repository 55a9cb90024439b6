"""Text that somebody else has parsed, as CoNLL-U: any parser can feed us.

The "text" and the "title" of a ``Source`` are CoNLL-U here. The document's strings are rebuilt from
them, and that is what its offsets count in.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

from phraseloom.errors import ParserError
from phraseloom.text.document import Document, Sentence, Source, Token
from phraseloom.text.parsers.assemble import Row, assemble, locate_words
from phraseloom.text.words import normalise

_COLUMNS = 8  # the last that we need is DEPREL; DEPS and MISC may be missing
_NUMBER = re.compile(r"(\d+)(?:([-.])(\d+))?")


class ConlluParser:
    """Reads sources whose text and title are CoNLL-U."""

    name = "conllu"

    def parse_batch(
        self, sources: Sequence[Source], *, between: Callable[[], object] = bool
    ) -> list[Document]:
        between()
        return [parse_conllu(source.text, source.title) for source in sources]


def parse_conllu(conllu: str, title_conllu: str = "") -> Document:
    """Read the body and the title of one document.

    Raises:
        ParserError: naming the line, if a sentence is not one or more dependency trees.
    """
    title, title_sentences = _read(title_conllu, "title")
    text, sentences = _read(conllu, "text")
    return Document(
        text,
        title,
        (
            *(Sentence(tokens, in_title=True) for tokens in title_sentences if tokens),
            *(Sentence(tokens) for tokens in sentences if tokens),
        ),
    )


class _Word(NamedTuple):
    line: int
    form: str
    pos: str
    head: int
    relation: str


class _Unit(NamedTuple):
    """A stretch of text that stands for one word or for several."""

    surface: str
    words: int
    has_space: bool
    """Does white space follow?"""


@dataclass
class _Block:
    """One sentence of the file."""

    part: str
    text: str = ""
    starts_paragraph: bool = False
    words: list[_Word] = field(default_factory=list)
    units: list[_Unit] = field(default_factory=list)
    covered: int = 0
    """Number of the last word that belongs to a unit."""

    def refuse(self, line: int, problem: str) -> NoReturn:
        raise ParserError(f"CoNLL-U of the {self.part}, line {line}: {problem}")


def _read(conllu: str, part: str) -> tuple[str, list[tuple[Token, ...]]]:
    """The text that a file was made from, and the tokens of its sentences."""
    texts: list[str] = []
    sentences = []
    length = 0
    gap = ""
    for block in _blocks(conllu, part):
        text, starts = _lay_out(block)
        gap = "\n\n" if texts and block.starts_paragraph else gap
        length += len(gap)
        sentences.append(_rows(block, [length + start for start in starts]))
        texts += [gap, text]
        length += len(text)
        gap = " " if block.units[-1].has_space else ""
    whole = "".join(texts)
    normal = normalise(whole)
    return whole, [assemble(whole, normal, rows) for rows in sentences]


def _blocks(conllu: str, part: str) -> Iterator[_Block]:
    """Sentences, each checked; a blank line ends one, as does the end of the file."""
    block = _Block(part)
    for number, line in enumerate([*conllu.split("\n"), ""], start=1):
        line = line.rstrip("\r")
        if line.startswith("#"):
            _add_comment(block, line)
        elif line.strip():
            _add_line(block, number, line.split("\t"))
        elif block.words:
            _check_trees(block)
            yield block
            block = _Block(part)


def _add_comment(block: _Block, line: str) -> None:
    key, _, value = line[1:].partition("=")
    if key.strip() == "text":
        block.text = value.strip()
    elif key.split()[:1] in (["newpar"], ["newdoc"]):
        block.starts_paragraph = True


def _add_line(block: _Block, line: int, columns: list[str]) -> None:
    """Take in a word, a token of several words, or nothing: an empty node is not in the text."""
    if len(columns) < _COLUMNS:
        block.refuse(line, f"{len(columns)} columns, not 10; is this CoNLL-U, parted by tabs?")
    number = _NUMBER.fullmatch(columns[0])
    if number is None or not columns[1]:
        block.refuse(line, "a line starts with the number of a word and its form")
    if number[2] == ".":
        return
    first, last = int(number[1]), int(number[3] or number[1])
    if first != len(block.words) + 1 or last < first or (number[2] and first <= block.covered):
        block.refuse(line, f"{columns[0]} is out of order; word {len(block.words) + 1} is next")
    if not number[2]:
        block.words.append(_word(block, line, columns))
    if first > block.covered:
        misc = columns[9] if len(columns) > 9 else ""
        has_space = "SpaceAfter=No" not in misc.split("|")
        block.units.append(_Unit(columns[1], last - first + 1, has_space))
        block.covered = last


def _word(block: _Block, line: int, columns: list[str]) -> _Word:
    _, form, _, upos, xpos, _, head, relation = columns[:_COLUMNS]
    if not head.isdecimal():
        block.refuse(line, f"the head is {head!r}, not a number: parse the text first")
    pos = next((tag for tag in (xpos, upos) if tag != "_"), "XX")  # XX: unknown, as in OntoNotes
    return _Word(line, form, pos, int(head), relation if relation != "_" else "dep")


def _check_trees(block: _Block) -> None:
    """Refuse heads outside the sentence and heads that go round in a circle."""
    count = len(block.words)
    if block.covered > count:
        block.refuse(block.words[-1].line, f"words up to {block.covered} are missing after it")
    for word in block.words:
        if word.head > count:
            block.refuse(word.line, f"head {word.head} is outside the sentence (1 to {count})")
    is_rooted = [True] + [False] * count  # by number; 0 is above the roots
    for start in range(1, count + 1):
        path: list[int] = []
        number = start
        while not is_rooted[number] and len(path) <= count:
            path.append(number)
            number = block.words[number - 1].head
        if not is_rooted[number]:
            block.refuse(block.words[number - 1].line, f"word {number} is its own ancestor")
        for number in path:
            is_rooted[number] = True


def _lay_out(block: _Block) -> tuple[str, list[int]]:
    """The sentence's text and where its units start.

    The text is the file's own, if it holds the units in order; else they are joined.
    """
    starts = []
    reached = 0
    for unit in block.units:
        while block.text[reached : reached + 1].isspace():
            reached += 1
        if not block.text.startswith(unit.surface, reached):
            return _join(block.units)
        starts.append(reached)
        reached += len(unit.surface)
    return (block.text, starts) if reached == len(block.text) else _join(block.units)


def _join(units: Sequence[_Unit]) -> tuple[str, list[int]]:
    text = ""
    starts = []
    for unit in units:
        starts.append(len(text))
        text += unit.surface + (" " if unit.has_space and unit is not units[-1] else "")
    return text, starts


def _rows(block: _Block, starts: Sequence[int]) -> list[Row]:
    spans: list[tuple[int, int]] = []
    for unit, start in zip(block.units, starts, strict=True):
        words = block.words[len(spans) : len(spans) + unit.words]
        spans += locate_words(unit.surface, [word.form for word in words], start)
    return [
        Row(start, end, word.pos, word.head - 1 if word.head else i, word.relation)
        for i, (word, (start, end)) in enumerate(zip(block.words, spans, strict=True))
    ]
