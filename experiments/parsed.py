"""Test corpora, parsed once for all models that are compared."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from phraseloom.cli.evaluate import read_documents, score_predictions
from phraseloom.cli.progress import document_progress
from phraseloom.cli.score import Split
from phraseloom.data.corpus import CorpusDocument, corpus_name
from phraseloom.errors import PhraseloomError
from phraseloom.evaluate.report import Report
from phraseloom.extractor import Extractor
from phraseloom.text.document import Document
from phraseloom.text.parse import Parser

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
        lists: list[list[str]] = []
        with document_progress(f"{title}, {self.name}") as on_progress:
            while len(lists) < len(self.parsed):
                batch = self.parsed[len(lists) : len(lists) + _TOGETHER]
                for phrases in extractor.extract_parsed(batch, style=style):
                    lists.append([phrase.text for phrase in phrases])
                on_progress(len(lists), len(self.parsed))
        return lists

    def score(self, lists: Sequence[Sequence[str]], split: Split) -> Report:
        """Score lists of phrases, one a document."""
        return score_predictions(self.documents, lists, split)


def parse_corpora(paths: Sequence[Path], parser: Parser) -> list[ParsedCorpus]:
    """Read and parse corpora; each must have a name of its own."""
    names = [corpus_name(path) for path in paths]
    if len(set(names)) < len(names):
        raise PhraseloomError(f"two corpora have one name: {', '.join(sorted(names))}; rename one")
    corpora = []
    for path, name in zip(paths, names, strict=True):
        documents = read_documents(path)
        parsed: list[Document] = []
        with document_progress(f"parsing {name}") as on_progress:
            while len(parsed) < len(documents):
                batch = documents[len(parsed) : len(parsed) + _TOGETHER]
                parsed += parser.parse_batch([document.source for document in batch])
                on_progress(len(parsed), len(documents))
        corpora.append(ParsedCorpus(name, _checksum(documents), documents, parsed))
    return corpora


def _checksum(documents: Sequence[CorpusDocument]) -> str:
    """Changes when a text or a reference phrase does."""
    return hashlib.sha256(json.dumps(documents).encode()).hexdigest()
