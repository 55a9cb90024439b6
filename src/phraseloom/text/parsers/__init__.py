"""Parsers behind one small protocol, each imported only when it is asked for."""

from collections.abc import Callable, Sequence
from typing import Protocol

from phraseloom.errors import ParserError, shown
from phraseloom.text.document import Document, Source


class Parser(Protocol):
    """Splits sentences and tokens, tags them, and finds the dependency tree of each sentence."""

    name: str
    """Parser and model with its version: two caches made by parsers of one name are alike."""

    def parse_batch(
        self, sources: Sequence[Source], *, between: Callable[[], object] = bool
    ) -> list[Document]:
        """Parse several documents, in order; a document's result never depends on the others.

        Args:
            sources: the documents.
            between: called from time to time; what it raises ends the parse.
        """
        ...


def load_parser(name: str = "spacy") -> Parser:
    """Load a parser by name: ``spacy``, ``stanza`` or ``conllu``."""
    if name == "spacy":
        from phraseloom.text.parsers.spacy import SpacyParser

        return SpacyParser()
    if name == "stanza":
        from phraseloom.text.parsers.stanza import StanzaParser

        return StanzaParser()
    if name == "conllu":
        from phraseloom.text.parsers.conllu import ConlluParser

        return ConlluParser()
    raise ParserError(f"unknown parser {shown(name)}; choose spacy, stanza or conllu")
