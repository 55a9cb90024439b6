"""Text in, keyphrases with scores and spans out."""

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import torch

from phraseloom.config import SearchConfig, parse_config
from phraseloom.data.batch import FIRST_WORD, collate
from phraseloom.data.example import Example, Numbering
from phraseloom.data.lexicon import Lexicon
from phraseloom.errors import PhraseloomError
from phraseloom.model.catalogue import find_installed
from phraseloom.model.checkpoint import load_model
from phraseloom.model.network import KeyphraseModel
from phraseloom.model.step import NeuralStep
from phraseloom.search.beam import find_phrases
from phraseloom.search.found import Found
from phraseloom.search.settings import Count, Settings
from phraseloom.search.windows import Piece, merge_windows, split_windows
from phraseloom.text.document import Document, Sentence, Source
from phraseloom.text.parse import Parser, load_parser
from phraseloom.text.spans import Span, SpanIndex

Segments = list[list[int]]

_DECODED_TOGETHER = 32


class Said(NamedTuple):
    """A phrase that the model said, before it is looked up in the text."""

    stems: tuple[str, ...]
    score: float


@dataclass(frozen=True, slots=True)
class Keyphrase:
    """A phrase that stands in the text.

    Attributes:
        text: as it is most often written in the document.
        stems: Porter stems of its words, by which phrases are compared.
        score: in (0, 1], higher is better; the model's length-normalised probability of saying this
            phrase next, comparable within a document.
        rank: from 1.
        spans: every place in the text, as half-open ranges of characters.
        title_spans: the same in the title, if one was given apart.
    """

    text: str
    stems: tuple[str, ...]
    score: float
    rank: int
    spans: tuple[Span, ...]
    title_spans: tuple[Span, ...] = ()

    def __str__(self) -> str:
        return f"{self.text} ({self.score:.3f})"


class Extractor:
    """Finds the keyphrases of documents with a trained model."""

    def __init__(
        self, model: KeyphraseModel, lexicon: Lexicon, search: SearchConfig, parser: Parser
    ) -> None:
        self.model = model.eval()
        self.lexicon = lexicon
        self.search = search
        self._parser = parser
        self._numbering = Numbering(lexicon)

    @classmethod
    def load(cls, model: Path | str | None = None, *, parser: str = "spacy") -> "Extractor":
        """Load an installed model by name, a model directory by path, or the default."""
        network, lexicon, config = load_model(find_installed(model))
        return cls(network, lexicon, config.search, load_parser(parser))

    @property
    def parser(self) -> Parser:
        """Makes of texts the documents that `extract_parsed` takes."""
        return self._parser

    def with_search(self, **changes: object) -> "Extractor":
        """The same weights and parser, searching in another way; nothing is loaded or copied.

        Args:
            **changes: fields of `SearchConfig`, such as ``width=1`` or ``lambda1=0.5``; the others
                stay as they are.

        Raises:
            ConfigError: there is no such field, or it cannot have that value.
        """
        values = {"search": self.search.model_dump() | changes}
        changed = copy.copy(self)
        changed.search = parse_config(values).search
        return changed

    def extract(
        self, text: str, *, title: str = "", top: int | None = None, style: str | None = None
    ) -> list[Keyphrase]:
        """Keyphrases of one text, best first.

        Args:
            text: the body; spans are places in this very string.
            title: if it is known apart from the body.
            top: exactly so many phrases, as far as the text has them; without it the model decides.
            style: kind of annotator to imitate, if the model was trained on several.
        """
        documents = self._parser.parse_batch([Source(text, title)])
        return self.extract_parsed(documents, top=top, style=style)[0]

    def extract_many(
        self,
        sources: Iterable[Source | str],
        *,
        top: int | None = None,
        style: str | None = None,
        batch_size: int = 32,
    ) -> Iterator[list[Keyphrase]]:
        """Keyphrases of many texts, in order, as a stream; each as `extract` would give them."""
        stream = iter(sources)
        while batch := list(islice(stream, batch_size)):
            whole = [Source(each) if isinstance(each, str) else each for each in batch]
            yield from self.extract_parsed(self._parser.parse_batch(whole), top=top, style=style)

    def extract_parsed(
        self, documents: Sequence[Document], *, top: int | None = None, style: str | None = None
    ) -> list[list[Keyphrase]]:
        """Keyphrases of documents that are parsed already, by this extractor's parser or another.

        Args:
            documents: searched together, so hand in a bounded number at a time.
            top: as in `extract`.
            style: as in `extract`.
        """
        self._check(top, style)
        windows = [cut_windows(document, self.search.window) for document in documents]
        flat = [window for of_document in windows for window in of_document]
        examples = [self._numbering.encode_document(window, style=style) for window in flat]
        segments = [document_segments(window) for window in flat]
        count = Count.by_model() if top is None else Count.exactly(top)
        found = iter(decode(self.model, self.lexicon, examples, segments, self.search, count))
        results = []
        for document, of_document in zip(documents, windows, strict=True):
            said = [_with_stems(window, next(found)) for window in of_document]
            results.append(_surface(document, self._merge(said, top)))
        return results

    def _merge(self, said: Sequence[Sequence[Said]], top: int | None) -> list[Said]:
        """One list from those of a document's windows; a document of one window keeps its own."""
        if len(said) < 2:
            return [phrase for of_window in said for phrase in of_window]
        merged = merge_windows(said, phrase=lambda each: each.stems, score=lambda each: each.score)
        ranked = [Said(each.best.stems, each.score) for each in merged]
        return ranked[: self.search.max_phrases if top is None else top]

    def _check(self, top: int | None, style: str | None) -> None:
        if top is not None and top < 1:
            raise PhraseloomError(f"top must be at least 1, not {top}")
        if style is not None and style not in self.lexicon.styles:
            known = ", ".join(self.lexicon.styles) or "none"
            raise PhraseloomError(f"unknown style {style!r}; this model knows: {known}")


def decode(
    model: KeyphraseModel,
    lexicon: Lexicon,
    examples: Sequence[Example],
    segments: Sequence[Segments],
    search: SearchConfig,
    count: Count,
) -> list[list[Found]]:
    """Phrases of each example, as slots; a bounded number of examples is searched at once."""
    settings = Settings(**search.model_dump(exclude={"window"}))
    found: list[list[Found]] = []
    with torch.inference_mode():
        for start in range(0, len(examples), _DECODED_TOGETHER):
            chunk = slice(start, start + _DECODED_TOGETHER)
            step = NeuralStep(model, collate(examples[chunk], lexicon))
            found += find_phrases(step, segments[chunk], settings, count)
    return found


def cut_windows(document: Document, budget: int) -> list[Document]:
    """The document in windows of at most ``budget`` tokens; itself if it fits, none if empty."""
    lengths = [len(sentence.tokens) for sentence in document.sentences]
    title = sum(sentence.in_title for sentence in document.sentences)
    return [
        replace(document, sentences=tuple(_cut_sentence(document, piece) for piece in window))
        for window in split_windows(lengths, budget, title=title)
    ]


def _cut_sentence(document: Document, piece: Piece) -> Sentence:
    """Part of a sentence; a token whose head is cut away becomes a root."""
    sentence = document.sentences[piece.sentence]
    tokens = []
    for place, token in enumerate(sentence.tokens[piece.start : piece.end]):
        head = token.head - piece.start
        if 0 <= head < piece.end - piece.start:
            tokens.append(token._replace(head=head))
        else:
            tokens.append(token._replace(head=place, relation="root"))
    return Sentence(tuple(tokens), sentence.in_title)


def document_segments(document: Document) -> Segments:
    """Runs of slots that a phrase may not cross: cut at sentence ends and punctuation."""
    numbers: dict[str, int] = {}
    segments: Segments = []
    for sentence in document.sentences:
        segments.append([])
        for token in sentence.tokens:
            slot = numbers.setdefault(token.stem, FIRST_WORD + len(numbers))
            if is_word(token.word):
                segments[-1].append(slot)
            else:
                segments.append([])
    return [segment for segment in segments if segment]


def is_word(word: str) -> bool:
    """Whether a token can be part of a phrase: it has a letter or a digit in it."""
    return any(character.isalnum() for character in word)


def _with_stems(document: Document, found: Sequence[Found]) -> list[Said]:
    stems = list(dict.fromkeys(token.stem for token in document.tokens()))
    return [
        Said(tuple(stems[slot - FIRST_WORD] for slot in each.slots), each.score) for each in found
    ]


def _surface(document: Document, said: Sequence[Said]) -> list[Keyphrase]:
    """Phrases as they stand in the document."""
    index = SpanIndex(document)
    phrases = []
    for rank, (stems, score) in enumerate(said, start=1):
        text, spans, title_spans = index.find(stems)
        text = text or " ".join(stems)  # a free search may say what stands nowhere
        phrases.append(Keyphrase(text, stems, score, rank, spans, title_spans))
    return phrases
