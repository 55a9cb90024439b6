"""A parsed document: sentences of tokens that remember where they stand in the caller's string."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from phraseloom.errors import OptionsError, PhraseloomError


class Source(NamedTuple):
    """What a caller hands in: a body of text and, if there is one, its title."""

    text: str
    title: str = ""


def as_source(text: str | Source, title: str | None = None) -> Source:
    """A text and its title, if both are strings."""
    if isinstance(text, Source) and title is not None:
        raise OptionsError("a Source has its own title; give no other")
    source = text if isinstance(text, Source) else Source(text, "" if title is None else title)
    for part, name in ((source.text, "a text"), (source.title, "a title")):
        if not isinstance(part, str):
            raise PhraseloomError(f"{name} must be a string, not {type(part).__name__}")
    return source


def as_sources(texts: Iterable[str | Source]) -> Iterator[Source]:
    """Texts and their titles, each checked when it is taken."""
    if isinstance(texts, str | bytes | Source) or not isinstance(texts, Iterable):
        raise OptionsError("give a list of texts; for one text there is extract")
    return map(as_source, texts)


class Token(NamedTuple):
    """One word as it stands in the text, with its place in the sentence's dependency tree.

    Law: ``text[start:end]`` is ``token.text`` in the string the caller gave (the title's own string
    for a token of the title). Offsets count Unicode code points.
    """

    text: str
    start: int
    end: int
    pos: str
    """Penn Treebank tag, the tag set that all our parsers share."""
    head: int
    """Place in the sentence of the governing token; its own place for a root."""
    relation: str
    """Label of the arc from the head, lower case; ``root`` for a root."""
    word: str
    """Lower-cased text, or ``<digit>`` for a token made only of digits."""
    stem: str
    """Porter stem of the word: what phrases are compared by."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """Tokens under one or more dependency trees, from the title or from the body."""

    tokens: tuple[Token, ...]
    in_title: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A text, its title, and the sentences found in them: the title's first, then the body's."""

    text: str
    title: str
    sentences: tuple[Sentence, ...]

    def tokens(self) -> Iterator[Token]:
        """All tokens in reading order."""
        for sentence in self.sentences:
            yield from sentence.tokens

    def distinct_stems(self) -> list[str]:
        """Each stem once, in the order of first occurrence: that of the network's slots."""
        return list(dict.fromkeys(token.stem for token in self.tokens()))


def as_documents(documents: Iterable[Document]) -> list[Document]:
    """Documents that are parsed already, if that is what they are."""
    if isinstance(documents, str | bytes) or not isinstance(documents, Iterable):
        kind = type(documents).__name__
        raise OptionsError(f"give a list of parsed documents, as parse([text]) does, not {kind}")
    listed = list(documents)
    for document in listed:
        if not isinstance(document, Document):
            kind = type(document).__name__
            raise OptionsError(f"documents must be parsed, as parse([text]) does, not {kind}")
    return listed
