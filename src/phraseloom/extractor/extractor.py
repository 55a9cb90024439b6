"""The extractor: a trained model, a parser, and a search."""

import copy
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from phraseloom.config import SearchConfig, parse_config
from phraseloom.data.batch import FIRST_WORD
from phraseloom.data.example import Numbering
from phraseloom.data.lexicon import Lexicon
from phraseloom.errors import PhraseloomError
from phraseloom.extractor.decoding import decode
from phraseloom.extractor.keyphrase import Keyphrase, Said, surface
from phraseloom.extractor.windows import cut_windows
from phraseloom.extractor.wishes import Wishes, as_seeds
from phraseloom.model.catalogue import find_installed
from phraseloom.model.checkpoint import load_model
from phraseloom.model.network import KeyphraseModel
from phraseloom.search.beam import Focus
from phraseloom.search.found import Found
from phraseloom.search.seeds import Seed
from phraseloom.search.trace import Trace
from phraseloom.search.windows import merge_windows
from phraseloom.text.document import Document, Source
from phraseloom.text.parse import Parser, load_parser


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
        self,
        text: str,
        *,
        title: str | None = None,
        top: int | None = None,
        style: str | None = None,
        candidates: Iterable[str] | None = None,
        seeds: Iterable[str] | None = None,
        diversity: float | None = None,
    ) -> list[Keyphrase]:
        """Keyphrases of one text, best first.

        Args:
            text: the body; spans are places in this very string.
            title: if it is known apart from the body.
            top: exactly so many phrases, as far as the text has them; without it the model decides.
            style: kind of annotator to imitate, if the model was trained on several.
            candidates: the only phrases that may be returned, compared by stems. Those that stand
                in the text are ranked; without ``top``, all of them are returned.
            seeds: phrases to steer towards. What shares no word with any of them counts as ten
                times less probable than the model says, what shares some of a seed's words as less
                so. A text in which no word of a seed stands is searched as if there were none.
            diversity: from 0, the most probable phrases however alike, to 1, phrases as different
                from each other as can be; without it, what suited the model best in training.

        Raises:
            PhraseloomError: one of these cannot be, or is of the wrong type.
        """
        wishes = self._wish(top, style, candidates, seeds, diversity)
        return self._extract([as_source(text, title)], wishes)[0]

    def extract_many(
        self,
        sources: Iterable[Source | str],
        *,
        top: int | None = None,
        style: str | None = None,
        candidates: Iterable[str] | None = None,
        seeds: Iterable[str] | None = None,
        diversity: float | None = None,
        batch_size: int = 32,
    ) -> Iterator[list[Keyphrase]]:
        """Keyphrases of many texts, in order, as a stream; each as `extract` would give them."""
        wishes = self._wish(top, style, candidates, seeds, diversity)
        stream = iter(sources)
        batches = iter(lambda: [as_source(each) for each in islice(stream, batch_size)], [])
        return (phrases for batch in batches for phrases in self._extract(batch, wishes))

    def extract_parsed(
        self,
        documents: Sequence[Document],
        *,
        top: int | None = None,
        style: str | None = None,
        candidates: Iterable[str] | None = None,
        seeds: Iterable[str] | None = None,
        diversity: float | None = None,
        trace: Trace | None = None,
    ) -> list[list[Keyphrase]]:
        """Keyphrases of documents that are parsed already, by this extractor's parser or another.

        Args:
            documents: searched together, so hand in a bounded number at a time.
            top: this and the others as in `extract`.
            style: see there.
            candidates: see there.
            seeds: see there.
            diversity: see there.
            trace: filled with what the search saw, as by `decode`; it numbers windows.
        """
        return self._find(documents, self._wish(top, style, candidates, seeds, diversity), trace)

    def _wish(
        self,
        top: int | None,
        style: str | None,
        candidates: Iterable[str] | None,
        seeds: Iterable[str] | None,
        diversity: float | None,
    ) -> Wishes:
        if style is not None and style not in self.lexicon.styles:
            known = ", ".join(self.lexicon.styles) or "none"
            raise PhraseloomError(f"unknown style {style!r}; this model knows: {known}")
        return Wishes.of(
            top=top, style=style, candidates=candidates, seeds=seeds, diversity=diversity
        )

    def _extract(self, sources: Sequence[Source], wishes: Wishes) -> list[list[Keyphrase]]:
        return self._find(self._parser.parse_batch(sources), wishes)

    def _find(
        self, documents: Sequence[Document], wishes: Wishes, trace: Trace | None = None
    ) -> list[list[Keyphrase]]:
        windows = [cut_windows(document, self.search.window) for document in documents]
        flat = [window for of_document in windows for window in of_document]
        examples = [self._numbering.encode_document(window, style=wishes.style) for window in flat]
        segments = [wishes.segments(window) for window in flat]
        focus = Focus(wishes.is_whole, _seeds(documents, windows, wishes))
        search, count = wishes.adapt(self.search, segments), wishes.count(segments)
        parts = (self.model, self.lexicon, examples, segments, search, count)
        found = iter(decode(*parts, focus=focus, trace=trace))
        results = []
        for document, of_document in zip(documents, windows, strict=True):
            said = [_with_stems(window, next(found)) for window in of_document]
            results.append(surface(document, self._merge(said, wishes)))
        return results

    def _merge(self, said: Sequence[Sequence[Said]], wishes: Wishes) -> list[Said]:
        """One list from those of a document's windows; a document of one window keeps its own."""
        if len(said) < 2:
            return [phrase for of_window in said for phrase in of_window]
        merged = merge_windows(said, phrase=lambda each: each.stems, score=lambda each: each.score)
        ranked = [Said(each.best.stems, each.score) for each in merged]
        is_complete = wishes.top is None and wishes.candidates is not None
        return ranked if is_complete else ranked[: wishes.top or self.search.max_phrases]


def as_source(text: Source | str, title: str | None = None) -> Source:
    """A text and its title, if both are strings."""
    source = text if isinstance(text, Source) else Source(text, title or "")
    for part, name in ((source.text, "a text"), (source.title, "a title")):
        if not isinstance(part, str):
            raise PhraseloomError(f"{name} must be a string, not {type(part).__name__}")
    return source


def _seeds(
    documents: Sequence[Document], windows: Sequence[Sequence[Document]], wishes: Wishes
) -> list[list[Seed]]:
    """Seeds of each window; those of a document are the same in all its windows."""
    if not wishes.seeds:
        return []
    stems = [wishes.seeds_in(document) for document in documents]
    return [
        as_seeds(seeds, window)
        for seeds, of_document in zip(stems, windows, strict=True)
        for window in of_document
    ]


def _with_stems(document: Document, found: Sequence[Found]) -> list[Said]:
    stems = list(dict.fromkeys(token.stem for token in document.tokens()))
    return [
        Said(tuple(stems[slot - FIRST_WORD] for slot in each.slots), each.score) for each in found
    ]
