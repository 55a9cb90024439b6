"""The extractor: a trained model, a parser, and a search."""

import copy
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import torch

from phraseloom.config import Config, SearchConfig, parse_config
from phraseloom.data.lexicon import Lexicon
from phraseloom.errors import PhraseloomError
from phraseloom.extractor.finding import find_keyphrases
from phraseloom.extractor.keyphrase import Keyphrase
from phraseloom.extractor.keywords import (
    Scored,
    as_pairs,
    check_lengths,
    check_stop_words,
    pick_diversity,
)
from phraseloom.extractor.pretrained import save_with_card
from phraseloom.extractor.sources import as_source, warn_of_foreign
from phraseloom.extractor.wishes import Wishes
from phraseloom.model.catalogue import find_installed
from phraseloom.model.checkpoint import find_model, load_model
from phraseloom.model.network import KeyphraseModel
from phraseloom.search.trace import Trace
from phraseloom.text.document import Document, Source
from phraseloom.text.parse import Parser, load_parser
from phraseloom.text.workers import in_batches, ordered_stream

_BATCH = 32


class Extractor:
    """Finds the keyphrases of documents with a trained model."""

    def __init__(
        self, model: KeyphraseModel, lexicon: Lexicon, search: SearchConfig, parser: Parser
    ) -> None:
        self.model = model.eval()
        self.lexicon = lexicon
        self.search = search
        self._parser = parser
        self._directory: Path | None = None  # that the weights are from

    def __repr__(self) -> str:
        known = f", styles {', '.join(self.lexicon.styles)}" if self.lexicon.styles else ""
        return (
            f"<Extractor: {self.model.config.variant} of {len(self.lexicon.words)} words{known};"
            f" {self.search.mode} search; {self._parser.name}>"
        )

    @classmethod
    def load(cls, model: Path | str | None = None, *, parser: str = "spacy") -> "Extractor":
        """Load an installed model by name, a model directory by path, or the default.

        Nothing is downloaded, and no code is read from the directory.

        Raises:
            CheckpointError: there is no such model, or a part of it is missing or damaged.
        """
        directory = find_model(find_installed(model))
        network, lexicon, config = load_model(directory)
        extractor = cls(network, lexicon, config.search, load_parser(parser))
        extractor._directory = directory
        return extractor

    @classmethod
    def from_pretrained(cls, directory: Path | str, *, parser: str = "spacy") -> "Extractor":
        """Load what `save_pretrained` wrote, or an installed model by name; the same as `load`."""
        return cls.load(directory, parser=parser)

    def save_pretrained(self, directory: Path | str) -> None:
        """Write a directory that `from_pretrained` reads: weights, settings, vocabulary, card.

        The files are ``model.safetensors``, ``config.json`` (with the search as it is now),
        ``lexicon.json``, ``manifest.json`` with the checksums of these, and ``README.md``: the card
        of the model that this one was loaded from, or a short one. A model that is there is
        replaced; a directory with anything else in it is refused.

        Raises:
            CheckpointError: the directory holds other things or cannot be written.
        """
        config = Config(model=self.model.config, search=self.search)
        save_with_card(Path(directory), self.model, self.lexicon, config, origin=self._directory)

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

        Warns:
            LanguageWarning: the text does not look like English.
        """
        wishes = self._wish(top, style, candidates, seeds, diversity)
        sources = [as_source(text, title)]
        warn_of_foreign(sources, level=2)
        return self._extract(sources, wishes)[0]

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
        workers: int = 1,
    ) -> Iterator[list[Keyphrase]]:
        """Keyphrases of many texts, in order, as a stream; each as `extract` would give them.

        No more than a few batches are held at a time, so the texts may be endless.

        Args:
            sources: texts, or `Source`s of text and title; read as fast as results are taken.
            top: this and the next four as in `extract`.
            style: see there.
            candidates: see there.
            seeds: see there.
            diversity: see there.
            batch_size: texts searched together.
            workers: processes, each with the model in its memory; with one, all is done in this
                process. As always where Python starts processes, the main module of a program must
                be importable: keep the call below ``if __name__ == "__main__"``.
        """
        for number, name in ((batch_size, "batch_size"), (workers, "workers")):
            if number < 1:
                raise PhraseloomError(f"{name} must be at least 1, not {number}")
        wishes = self._wish(top, style, candidates, seeds, diversity)
        return self._stream(in_batches(map(as_source, sources), batch_size), wishes, workers)

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

    def extract_keywords(
        self,
        docs: str | Iterable[str],
        candidates: Iterable[str] | None = None,
        keyphrase_ngram_range: tuple[int, int] | None = None,
        stop_words: str | None = None,
        top_n: int = 5,
        *,
        use_mmr: bool | None = None,
        diversity: float | None = None,
        seed_keywords: Iterable[str] | None = None,
    ) -> Scored | list[Scored]:
        """Keyphrases with scores, called as KeyBERT's method of this name is called.

        What differs from KeyBERT:

        - Phrases are returned as they are written in the text, not lower-cased, and are compared by
          stems: "networks" and "network" are one phrase.
        - Scores are the model's, see `Keyphrase.score`; they are not similarities.
        - A list of texts gives a list of lists, even if it has one text only.
        - Without a range of lengths the model decides how long phrases are, instead of one word.
        - Arguments about embeddings, vectorizers and highlighting do not exist.

        Args:
            docs: one text, or several.
            candidates: the only phrases that may be returned, see `extract`.
            keyphrase_ngram_range: fewest and most words of a phrase.
            stop_words: ``"english"`` is accepted and changes nothing; the model needs no list.
            top_n: how many phrases per text, as far as it has them.
            use_mmr: False leaves diversity to the model; True alone means a diversity of 0.5.
            diversity: from 0 to 1, see `extract`; needs no ``use_mmr``.
            seed_keywords: phrases to steer towards, see `extract`.
        """
        check_stop_words(stop_words)
        diversity = pick_diversity(diversity, use_mmr)
        wishes = self._wish(top_n, None, candidates, seed_keywords, diversity)
        wishes = replace(wishes, lengths=check_lengths(keyphrase_ngram_range))
        texts = [docs] if isinstance(docs, str) else docs
        batches = in_batches(map(as_source, texts), _BATCH)
        found = [as_pairs(phrases) for phrases in self._stream(batches, wishes, workers=1)]
        return found[0] if isinstance(docs, str) else found

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

    def _stream(
        self, batches: Iterable[list[Source]], wishes: Wishes, workers: int
    ) -> Iterator[list[Keyphrase]]:
        """Results in order, and a warning for each text that looks foreign."""

        def watched() -> Iterator[list[Source]]:
            for batch in batches:
                warn_of_foreign(batch, level=1)
                yield batch

        if workers == 1:
            for batch in watched():
                yield from self._extract(batch, wishes)
            return
        with self._on_disk() as directory:
            recipe = _Recipe(directory, self._parser.name.partition(":")[0], self.search)
            work = partial(_extract_in_process, recipe, wishes)
            for found in ordered_stream(watched(), work, processes=workers):
                yield from found

    @contextmanager
    def _on_disk(self) -> Iterator[Path]:
        """A directory from which other processes can load this model."""
        if self._directory is not None:
            yield self._directory
            return
        with TemporaryDirectory() as directory:
            self.save_pretrained(directory)
            yield Path(directory)

    def _find(
        self, documents: Sequence[Document], wishes: Wishes, trace: Trace | None
    ) -> list[list[Keyphrase]]:
        return find_keyphrases(
            self.model, self.lexicon, self.search, documents, wishes, trace=trace
        )

    def _extract(self, sources: Sequence[Source], wishes: Wishes) -> list[list[Keyphrase]]:
        return self._find(self._parser.parse_batch(sources), wishes, None)


class _Recipe(NamedTuple):
    """How another process makes the same extractor."""

    directory: Path
    parser: str
    search: SearchConfig


def _extract_in_process(
    recipe: _Recipe, wishes: Wishes, batch: list[Source]
) -> list[list[Keyphrase]]:
    return _load(recipe)._extract(batch, wishes)


@lru_cache(maxsize=1)
def _load(recipe: _Recipe) -> Extractor:
    torch.set_num_threads(1)  # a process per core, not more
    loaded = Extractor.load(recipe.directory, parser=recipe.parser)
    return loaded.with_search(**recipe.search.model_dump())
