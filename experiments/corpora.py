"""Test corpora, parsed once for all models that are compared, and how lists for them score."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from phraseloom.errors import PhraseloomError
from phraseloom.evaluate.files import read_documents, score_predictions
from phraseloom.evaluate.phrases import Split
from phraseloom.extractor import Extractor
from phraseloom.io.records import CorpusDocument, corpus_name
from phraseloom.parallel import in_batches, show_progress
from phraseloom.text.document import Document
from phraseloom.text.parsers import Parser

_TOGETHER = 32  # documents parsed or decoded at once; only speed depends on it


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


def score_lists(
    documents: Sequence[CorpusDocument],
    lists: Sequence[Sequence[str]],
    split: Split,
    keys: Iterable[str],
) -> dict[str, float]:
    """Some of the values of docs/metrics.md, for lists of phrases, one a document."""
    values = score_predictions(documents, lists, split).values
    return {key: round(values[key], 6) for key in keys}


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
