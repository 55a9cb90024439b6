"""Test corpora, parsed once for all models that are compared, and how lists for them score."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from phraseloom.errors import CorpusError, PhraseloomError
from phraseloom.evaluate.phrases import judge_text, split_spaces, split_words
from phraseloom.evaluate.report import score_documents
from phraseloom.extractor import Extractor
from phraseloom.io.atomic import write_text
from phraseloom.io.records import CorpusDocument, corpus_name, read_corpus
from phraseloom.parallel import in_batches, show_progress
from phraseloom.text.document import Document
from phraseloom.text.parsers import Parser

_TOGETHER = 32  # documents parsed or decoded at once; only speed depends on it


class Split(StrEnum):
    """How text is parted into words."""

    spaces = "spaces"
    words = "words"


def word_splitter(split: Split) -> Callable[[str], list[str]]:
    """What parts a text into words."""
    return split_words if split is Split.words else split_spaces


@dataclass(frozen=True, slots=True)
class ParsedCorpus:
    """A corpus with reference phrases, and its documents as the parser sees them."""

    name: str
    checksum: str
    documents: list[CorpusDocument]
    parsed: list[Document]

    def predict(self, extractor: Extractor, *, title: str, style: str | None) -> list[list[str]]:
        """Phrases of each document, as they stand in it."""
        lists = (
            [phrase.text for phrase in phrases]
            for batch in in_batches(self.parsed, _TOGETHER)
            for phrases in extractor.extract_parsed(batch, style=style)
        )
        shown = show_progress(lists, len(self.parsed), f"{title}, {self.name}", is_shown=None)
        return list(shown)


def read_documents(path: Path) -> list[CorpusDocument]:
    """Documents of a corpus that can be scored: some of them have reference phrases."""
    documents = list(read_corpus(path, strict=True))
    if not any(document.keywords for document in documents):
        raise CorpusError(f"{path} has no reference phrases to score against; give another corpus")
    return documents


def score_lists(
    documents: Sequence[CorpusDocument],
    lists: Sequence[Sequence[str]],
    split: Split,
    keys: Iterable[str],
) -> dict[str, float]:
    """Some of the values of docs/metrics.md, for lists of phrases, one a document."""
    judged = [
        judge_text(
            f"{document.source.title} {document.source.text}",
            document.keywords,
            phrases,
            split=word_splitter(split),
        )
        for document, phrases in zip(documents, lists, strict=True)
    ]
    values = score_documents(judged).values
    return {key: round(values[key], 6) for key in keys}


def write_predictions(
    folder: Path, name: str, documents: Sequence[CorpusDocument], lists: Sequence[Sequence[str]]
) -> None:
    """Write rows that ``phraseloom score --predictions`` reads."""
    lines = [
        json.dumps({"id": document.id, "phrases": phrases}, ensure_ascii=False) + "\n"
        for document, phrases in zip(documents, lists, strict=True)
    ]
    write_text(folder / f"{name}.predictions.jsonl", lines)


def parse_corpora(paths: Sequence[Path], parser: Parser) -> list[ParsedCorpus]:
    """Read and parse corpora; each must have a name of its own."""
    names = [corpus_name(path) for path in paths]
    if len(set(names)) < len(names):
        raise PhraseloomError(f"two corpora have one name: {', '.join(sorted(names))}; rename one")
    corpora = []
    for path, name in zip(paths, names, strict=True):
        documents = read_documents(path)
        parsed = _parse(documents, parser)
        shown = show_progress(parsed, len(documents), f"parsing {name}", is_shown=None)
        corpora.append(ParsedCorpus(name, _checksum(documents), documents, list(shown)))
    return corpora


def _parse(documents: Sequence[CorpusDocument], parser: Parser) -> Iterator[Document]:
    for batch in in_batches(documents, _TOGETHER):
        yield from parser.parse_batch([document.source for document in batch])


def _checksum(documents: Sequence[CorpusDocument]) -> str:
    """Changes when a text or a reference phrase does."""
    return hashlib.sha256(json.dumps(documents).encode()).hexdigest()
