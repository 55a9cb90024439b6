"""The extractor: text is parsed, encoded, searched, and what was found is looked up in the text.

`Extractor._find` is the whole way from parsed documents to keyphrases.
"""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Unpack, overload

from phraseloom import fitting, keybert, vocabulary
from phraseloom.config import Config, SearchConfig, StyleRanking, parse_config
from phraseloom.errors import OptionsError, shown
from phraseloom.features import Found
from phraseloom.keyphrase import Keyphrase, to_keyphrases
from phraseloom.network.card import save_with_card
from phraseloom.network.example import ExampleEncoder
from phraseloom.network.lexicon import Lexicon
from phraseloom.network.model import KeyphraseModel, kind_vector
from phraseloom.network.registry import find_installed
from phraseloom.network.weights import find_model, load_model
from phraseloom.options import OptionFields, Options, as_count, as_path, make_options
from phraseloom.parallel import in_batches, limit_threads, ordered_stream, show_progress
from phraseloom.query import (
    adapt_search,
    build_queries,
    cut_windows,
    join_windows,
    list_options,
    merge_lists,
    to_found,
)
from phraseloom.ranker import check_ranking, rank_phrases, tell_kinds
from phraseloom.search.decode import Trace, find_phrases
from phraseloom.text.document import Document, Source, as_documents, as_source, as_sources
from phraseloom.text.language import warn_of_foreign, warned_batches
from phraseloom.text.parsers import Parser, load_parser

_DECODED_TOGETHER = 32  # windows; more take memory and save no time

Phrases = list[Keyphrase]
Text = str | Source


class Extractor:
    """Finds the keyphrases of documents with a trained model."""

    def __init__(
        self,
        model: KeyphraseModel,
        search: SearchConfig,
        parser: Parser,
        *,
        ranking: Mapping[str, StyleRanking] | None = None,
        kinds: Mapping[str, Sequence[float]] | None = None,
        threads: int = 1,
    ) -> None:
        self.model = model
        self.search = search
        self.parser = parser
        self.ranking = dict(ranking or {})
        self.kinds = {kind: tuple(of) for kind, of in (kinds or {}).items()}
        self.threads = as_count(threads, "threads")
        self._directory: Path | None = None  # that the weights are from

    def __repr__(self) -> str:
        styles = f", styles {', '.join(self.styles)}" if self.styles else ""
        return (
            f"<Extractor: {self.model.config.variant} of {len(self.lexicon.words)} words{styles};"
            f" {self.search.mode} search; {self.parser.name}>"
        )

    @property
    def lexicon(self) -> Lexicon:
        """The words, styles and known phrases of the model."""
        return self.model.lexicon

    @property
    def config(self) -> Config:
        """What is saved beside the weights."""
        parts = {"search": self.search, "ranking": self.ranking, "kinds": self.kinds}
        return Config(model=self.model.config, **parts)

    @property
    def styles(self) -> tuple[str, ...]:
        """Kinds of annotators that can be imitated, the default first; none if there is one."""
        return tuple(self.ranking) or self.lexicon.styles

    @classmethod
    def load(
        cls, model: Path | str | None = None, *, parser: str = "spacy", threads: int = 1
    ) -> "Extractor":
        """Load an installed model by name, a model directory by path, or the default.

        Nothing is downloaded, and no code is read from the directory.

        Args:
            model: name or directory; ``./open`` is never taken for a name.
            parser: one that `load_parser` knows.
            threads: that NumPy may use; more than one seldom helps, and hurts on a busy machine.

        Raises:
            CheckpointError: there is no such model, or a part of it is missing or damaged.
        """
        directory = find_model(find_installed(model))
        loaded, config = load_model(directory)
        for ranking in config.ranking.values():
            check_ranking(ranking, directory)
        extractor = cls(
            loaded,
            config.search,
            load_parser(parser),
            ranking=config.ranking,
            kinds=config.kinds,
            threads=threads,
        )
        extractor._directory = directory
        return extractor

    @classmethod
    def from_pretrained(
        cls, directory: Path | str, *, parser: str = "spacy", threads: int = 1
    ) -> "Extractor":
        """The same as `load`."""
        return cls.load(directory, parser=parser, threads=threads)

    def save_pretrained(self, directory: Path | str) -> None:
        """Write a directory that `load` reads; a model is replaced, anything else is refused.

        Raises:
            CheckpointError: it cannot be written.
        """
        path = as_path(directory, "directory")
        save_with_card(path, self.model, self.config, origin=self._directory)

    def with_search(self, **changes: object) -> "Extractor":
        """The same weights and parser, searching in another way; nothing is loaded or copied.

        Args:
            **changes: fields of `SearchConfig`, such as ``beam_width=1`` or ``lambda1=0.5``.
        """
        changed = copy.copy(self)
        changed.search = parse_config({"search": self.search.model_dump() | changes}).search
        return changed

    @overload
    def extract(  # type: ignore[overload-overlap]  # a string is an iterable of strings, too
        self,
        text: Text,
        options: Options | None = None,
        *,
        title: str | None = None,
        **changes: Unpack[OptionFields],
    ) -> Phrases: ...
    @overload
    def extract(
        self,
        text: Iterable[Text],
        options: Options | None = None,
        *,
        title: None = None,
        **changes: Unpack[OptionFields],
    ) -> list[Phrases]: ...
    def extract(
        self,
        text: Text | Iterable[Text],
        options: Options | None = None,
        *,
        title: str | None = None,
        **changes: Unpack[OptionFields],
    ) -> Phrases | list[Phrases]:
        """Keyphrases of one text, best first; of several texts, a list of such lists.

        Args:
            text: the body; spans are places in this very string. Or a list of texts.
            options: what is wanted; see `Options`.
            title: if it is known apart from the body.
            **changes: fields of `Options`, such as ``top=5``.

        Raises:
            PhraseloomError: one of these cannot be, or is of the wrong type.

        Warns:
            LanguageWarning: the text does not look like English.
        """
        if not isinstance(text, str | Source) and isinstance(text, Iterable):
            if title is not None:
                raise OptionsError("give several texts their titles as Source(text, title)")
            return list(self.extract_many(text, options, progress=False, **changes))
        wanted = self._check(options, changes)
        sources = [as_source(text, title)]
        warn_of_foreign(sources, level=2)
        return self._find(self.parse(sources), wanted)[0]

    __call__ = extract
    extract_keywords = keybert.extract_keywords
    with_vocabulary = vocabulary.with_vocabulary
    fit = classmethod(fitting.fit)  # type: ignore[var-annotated]  # of its own class

    def extract_many(
        self,
        sources: Iterable[Text],
        options: Options | None = None,
        *,
        batch_size: int = 32,
        workers: int = 1,
        progress: bool | None = None,
        **changes: Unpack[OptionFields],
    ) -> Iterator[Phrases]:
        """Keyphrases of many texts, in order, as a stream; each as `extract` would give them.

        Args:
            sources: texts, or `Source`s of text and title; there may be
                endlessly many.
            options: what is wanted of each text; see `Options`.
            batch_size: texts searched together.
            workers: processes, each with the model in its memory. As always where Python starts
                processes, the main module of a program must be importable: keep the call below
                ``if __name__ == "__main__"``.
            progress: whether to show a bar on stderr; without it, if that is a terminal.
            **changes: fields of `Options`.
        """
        batch_size, workers = as_count(batch_size, "batch_size"), as_count(workers, "workers")
        wanted = self._check(options, changes)
        batches = warned_batches(in_batches(as_sources(sources), batch_size))
        total = len(sources) if isinstance(sources, Sized) else None
        stream = self._stream(batches, wanted, workers)
        return show_progress(stream, total, "extracting", is_shown=progress)

    def extract_parsed(
        self,
        documents: Sequence[Document],
        options: Options | None = None,
        *,
        trace: Trace | None = None,
        is_wanted: Callable[[int], bool] = lambda document: True,
        **changes: Unpack[OptionFields],
    ) -> list[Phrases]:
        """Keyphrases of documents that are parsed already, by this extractor's parser or another.

        Args:
            documents: held in memory together, so hand in a bounded number at a time.
            options: what is wanted of each; see `Options`.
            trace: filled with what the search saw of the first windows; it numbers windows.
            is_wanted: asked before each phrase; a document that nobody wants any more is given up.
            **changes: fields of `Options`.
        """
        if not (trace is None or isinstance(trace, Trace)) or not callable(is_wanted):
            raise OptionsError("trace must be a Trace, and is_wanted a function of a number")
        return self._find(as_documents(documents), self._check(options, changes), trace, is_wanted)

    def _check(self, options: Options | None, changes: OptionFields) -> Options:
        wanted = make_options(options, changes)
        if wanted.style is not None and wanted.style not in self.styles:
            known = ", ".join(self.styles) or "none"
            raise OptionsError(f"unknown style {shown(wanted.style)}; this model knows: {known}")
        return wanted

    def parse(self, sources: Iterable[Text]) -> list[Document]:
        """Texts as the parser reads them, for `extract_parsed`."""
        with limit_threads(self.threads):
            return self.parser.parse_batch(list(as_sources(sources)))

    def find_candidates(
        self, documents: Sequence[Document], *, network_style: str | None = None
    ) -> list[Found]:
        """All that the search sees of parsed documents, with its chance: what a ranking ranks."""
        documents = as_documents(documents)
        windows = [cut_windows(document, self.search.window_tokens) for document in documents]
        lists = self._search_windows(
            documents, windows, Options(), network_style=network_style, keep_all=True
        )
        return list(map(join_windows, lists))

    def _find(
        self,
        documents: Sequence[Document],
        options: Options,
        trace: Trace | None = None,
        is_wanted: Callable[[int], bool] = lambda document: True,
    ) -> list[Phrases]:
        """Cut documents into windows, search these, and put a list together for each document."""
        ranking = self._ranking(options)
        windows = [cut_windows(document, self.search.window_tokens) for document in documents]
        lists = self._search_windows(
            documents,
            windows,
            options if ranking is None else options.model_copy(update={"seeds": ()}),
            network_style=options.style if ranking is None else ranking.network_style,
            keep_all=ranking is not None,
            trace=trace,
            is_wanted=is_wanted,
        )
        if ranking is None:
            merged = [merge_lists(found, options, self.search.max_phrases) for found in lists]
        else:
            is_by_kind = ranking.weights_of or ranking.lambda1_of
            merged = [
                rank_phrases(
                    document,
                    join_windows(found),
                    ranking,
                    self.lexicon,
                    list_options(document, parts, options, self.search),
                    kinds=self.tell_kinds(document) if is_by_kind else {},
                )
                for document, parts, found in zip(documents, windows, lists, strict=True)
            ]
        labels = self.lexicon.labels
        return [to_keyphrases(*pair, labels) for pair in zip(documents, merged, strict=True)]

    def tell_kinds(self, document: Document) -> dict[str, float]:
        """The chance of each kind of text, by which the style ``auto`` weighs."""
        return tell_kinds(kind_vector(as_documents([document])[0], self.model), self.kinds)

    def _ranking(self, options: Options) -> StyleRanking | None:
        """How lists are put together; none if the search itself does it, as in the paper."""
        if self.search.order != "expected" or self.search.mode == "free" or not self.ranking:
            return None
        return self.ranking[options.style or next(iter(self.ranking))]

    def _search_windows(
        self,
        documents: Sequence[Document],
        windows: Sequence[Sequence[Document]],
        options: Options,
        *,
        network_style: str | None,
        keep_all: bool,
        trace: Trace | None = None,
        is_wanted: Callable[[int], bool] = lambda document: True,
    ) -> list[list[Found]]:
        """What each window of each document holds; a bounded number is searched at once."""
        queries = [
            query
            for document, parts in zip(documents, windows, strict=True)
            for query in build_queries(document, parts, options)
        ]
        owners = [document for document, parts in enumerate(windows) for _ in parts]
        parts = [part for parts in windows for part in parts]
        encoder = ExampleEncoder(self.lexicon)
        search = adapt_search(self.search, options, queries)
        found: list[Found] = []
        for start in range(0, len(parts), _DECODED_TOGETHER):
            chunk = slice(start, start + _DECODED_TOGETHER)
            examples = [encoder.encode(part, style=network_style) for part in parts[chunk]]
            with limit_threads(self.threads):
                decoder = self.model.decoder(examples)
                hypotheses = find_phrases(
                    decoder,
                    queries[chunk],
                    search,
                    limit=options.top,
                    only_candidates=options.candidates is not None,
                    min_words=options.min_words,
                    keep_all=keep_all,
                    trace=None if start else trace,
                    is_wanted=lambda part, of=owners[chunk]: is_wanted(of[part]),  # type: ignore[misc]
                )
            found += map(to_found, parts[chunk], hypotheses, decoder.importance)
        rows = iter(found)
        return [[next(rows) for _ in parts] for parts in windows]

    def _stream(
        self, batches: Iterable[list[Source]], options: Options, workers: int
    ) -> Iterator[Phrases]:
        if workers == 1:
            for batch in batches:
                yield from self._find(self.parse(batch), options)
            return
        with self._on_disk() as directory:
            parser = self.parser.name.partition(":")[0]
            work = partial(_extract_in_process, directory, parser, self.search, options)
            for lists in ordered_stream(batches, work, processes=workers):
                yield from lists

    @contextmanager
    def _on_disk(self) -> Iterator[Path]:
        """A directory from which other processes can load this model."""
        if self._directory is not None:
            yield self._directory
            return
        with TemporaryDirectory() as directory:
            self.save_pretrained(directory)
            yield Path(directory)


def _extract_in_process(
    directory: Path, parser: str, search: SearchConfig, options: Options, batch: list[Source]
) -> list[Phrases]:
    extractor = _load(directory, parser).with_search(**search.model_dump())
    return extractor._find(extractor.parse(batch), options)


@lru_cache(maxsize=1)
def _load(directory: Path, parser: str) -> Extractor:
    return Extractor.load(directory, parser=parser)
