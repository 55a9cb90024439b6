"""Stanza, the parser of the paper. Its models are fetched by the user, never by us."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Protocol

from phraseloom.errors import ParserError
from phraseloom.text.document import Document, Source
from phraseloom.text.parsers.assemble import Row, build_document, cut_pieces, locate_words
from phraseloom.text.words import TOKENS

_PROCESSORS = "tokenize,mwt,pos,lemma,depparse"  # the parser was trained on lemmas
FETCH = f"python -c \"import stanza; stanza.download('en', processors='{_PROCESSORS}')\""

Entry = dict[str, Any]
"""A token or a word as Stanza's ``to_dict`` gives it."""


class _Parsed(Protocol):
    def to_dict(self) -> list[list[Entry]]: ...


class Pipeline(Protocol):
    """The part of ``stanza.Pipeline`` that we use."""

    def bulk_process(self, docs: list[str]) -> Sequence[_Parsed]:
        """Parse several texts, in order."""
        ...


class StanzaParser:
    """Parses with Stanza's default English models."""

    def __init__(self, pipeline: Pipeline | None = None) -> None:
        """Load the models, or take a pipeline that is loaded already."""
        self._pipeline = _load_pipeline() if pipeline is None else pipeline
        self.name = f"stanza:en-{_version()}+{TOKENS}"

    def parse_batch(
        self, sources: Sequence[Source], *, between: Callable[[], object] = bool
    ) -> list[Document]:
        pieces = [list(cut_pieces(source)) for source in sources]
        texts = [piece.text for document in pieces for piece in document]
        between()
        parsed = self._pipeline.bulk_process(texts) if texts else []
        starts = (piece.start for document in pieces for piece in document)
        rows = (
            [list(_rows(entries, start)) for entries in result.to_dict()]
            for start, result in zip(starts, parsed, strict=True)
        )
        return [
            build_document(source, document, islice(rows, len(document)))
            for source, document in zip(sources, pieces, strict=True)
        ]


def _load_pipeline() -> Pipeline:
    try:
        import stanza  # here: it takes seconds, and need not be installed
    except ImportError:
        raise ParserError('Stanza is missing; run: pip install ".[stanza]"') from None
    try:
        return stanza.Pipeline(
            "en", processors=_PROCESSORS, download_method=None, logging_level="ERROR"
        )
    except FileNotFoundError:
        raise ParserError(f"Stanza has no English models yet; run: {FETCH}") from None


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("stanza")
    except PackageNotFoundError:
        return "unknown"  # a pipeline of the caller's


def _rows(entries: Sequence[Entry], offset: int) -> Iterator[Row]:
    """One row per word; a token of several words comes before its words."""
    spans = _word_spans(entries)
    for word in entries:
        number = word["id"]
        if _is_word(word):
            start, end = spans[number]
            head = (word["head"] or number) - 1
            tag = word.get("xpos") or word.get("upos") or "XX"
            yield Row(offset + start, offset + end, tag, head, word["deprel"])


def _word_spans(entries: Sequence[Entry]) -> dict[int, tuple[int, int]]:
    """Where each word stands, by its number; Stanza tells only of some words within a token."""
    words = {entry["id"]: entry for entry in entries if _is_word(entry)}
    spans = {
        number: (word["start_char"], word["end_char"])
        for number, word in words.items()
        if "start_char" in word
    }
    for token in entries:
        if _is_word(token) or len(token["id"]) != 2 or "start_char" not in token:
            continue  # a word, or an empty node
        first, last = token["id"]
        numbers = range(first, last + 1)
        if not spans.keys() >= set(numbers):
            forms = [words[number]["text"] for number in numbers]
            located = locate_words(token["text"], forms, token["start_char"])
            spans.update(zip(numbers, located, strict=True))
    return spans


def _is_word(entry: Entry) -> bool:
    """Not a token of several words, nor an empty node: their numbers are pairs."""
    return isinstance(entry["id"], int)
