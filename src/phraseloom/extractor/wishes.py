"""What a caller asks of each document, checked, and turned into what the search understands."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from phraseloom.config import SearchConfig
from phraseloom.data.present import split_keywords
from phraseloom.errors import PhraseloomError
from phraseloom.extractor.windows import Segments, document_segments, is_word, number_stems
from phraseloom.search.seeds import Seed
from phraseloom.search.settings import Count
from phraseloom.text.document import Document
from phraseloom.text.normalise import normalise
from phraseloom.text.stem import stem_phrase

_MOST_DIVERSE = 0.999  # at 1 the weight would be infinite


@dataclass(frozen=True)
class Wishes:
    """What `Extractor.extract` was asked for; see there."""

    top: int | None = None
    style: str | None = None
    candidates: tuple[str, ...] | None = None
    seeds: tuple[str, ...] = ()
    diversity: float | None = None
    lengths: tuple[int, int] | None = None
    """Fewest and most words of a phrase."""

    @classmethod
    def of(
        cls,
        *,
        top: int | None,
        style: str | None,
        candidates: Iterable[str] | None,
        seeds: Iterable[str] | None,
        diversity: float | None,
    ) -> Self:
        """Take a caller's arguments, whatever kind of collections they are.

        Raises:
            PhraseloomError: one of them cannot be meant.
        """
        if top is not None and top < 1:
            raise PhraseloomError(f"top must be at least 1, not {top}")
        if diversity is not None and not 0 <= diversity <= 1:
            raise PhraseloomError(f"diversity must be from 0 to 1, not {diversity}")
        chosen = None if candidates is None else _listed(candidates, "candidates")
        return cls(top, style, chosen, _listed(seeds or (), "seeds"), diversity)

    @property
    def is_whole(self) -> bool:
        """Whether the segments are phrases as wholes."""
        return self.candidates is not None or self.lengths is not None

    def segments(self, document: Document) -> Segments:
        """Runs of slots to find phrases in, or the very phrases if those are limited."""
        if self.candidates is not None:
            found = _stand_in(document, self.candidates)
        else:
            found = document_segments(document)
            if self.lengths is not None:
                found = _ngrams(found, *self.lengths)
        if self.lengths is None:
            return found
        return [phrase for phrase in found if self.lengths[0] <= len(phrase) <= self.lengths[1]]

    def seeds_in(self, document: Document) -> list[tuple[str, ...]]:
        """Stems of each seed; none if no word of any stands in the document."""
        stems = [
            tuple(dict.fromkeys(stem for stem in stem_phrase(normalise(seed)) if is_word(stem)))
            for seed in self.seeds
        ]
        words = {token.stem for token in document.tokens()}
        return [seed for seed in stems if seed] if any(words & {*seed} for seed in stems) else []

    def adapt(self, search: SearchConfig, segments: Sequence[Segments]) -> SearchConfig:
        """The search that fulfils the wishes.

        Diversity is a trade-off, ``(1 - d) * probability + d * dissimilarity``; divided by
        ``1 - d`` that is equation (S4).
        """
        changes: dict[str, object] = {}
        if self.diversity is not None:
            share = min(self.diversity, _MOST_DIVERSE)
            changes["lambda1"] = share / (1 - share)
        if self.is_whole:
            longest = max((len(each) for found in segments for each in found), default=1)
            changes["max_words"] = max(longest, 1)
        if self.seeds and search.mode == "free":
            raise PhraseloomError("seeds need a search of the text: with_search(mode='extractive')")
        return search.model_copy(update=changes)

    def count(self, segments: Sequence[Segments]) -> Count:
        """How many phrases: as many as wanted, all candidates, or as the model says."""
        if self.top is not None:
            return Count.exactly(self.top)
        if self.candidates is not None:
            return Count.exactly(max(map(len, segments), default=0))
        return Count.by_model()


def find_seeds(
    documents: Sequence[Document], windows: Sequence[Sequence[Document]], wishes: Wishes
) -> list[list[Seed]]:
    """Seeds of each window; those of a document are the same in all its windows."""
    if not wishes.seeds:
        return []
    stems = [wishes.seeds_in(document) for document in documents]
    return [
        _as_slots(seeds, window)
        for seeds, of_document in zip(stems, windows, strict=True)
        for window in of_document
    ]


def _as_slots(seeds: Iterable[tuple[str, ...]], window: Document) -> list[Seed]:
    slots = number_stems(window)
    return [
        Seed(frozenset(slots[stem] for stem in seed if stem in slots), len(seed)) for seed in seeds
    ]


def _listed(phrases: Iterable[str], name: str) -> tuple[str, ...]:
    if isinstance(phrases, str):
        raise PhraseloomError(f"{name} must be a list of phrases, not one string")
    listed = tuple(phrases)
    for phrase in listed:
        if not isinstance(phrase, str):
            raise PhraseloomError(f"{name} must be strings, not {type(phrase).__name__}")
    return listed


def _stand_in(document: Document, candidates: Sequence[str]) -> Segments:
    """Slots of the candidates that stand in a document, each once."""
    slots = number_stems(document)
    stems = [token.stem for token in document.tokens()]
    places = [
        (occurrence.start, occurrence.start + occurrence.length)
        for occurrence in split_keywords(document, candidates).present
    ]
    distinct = dict.fromkeys(tuple(stems[start:end]) for start, end in places)
    return [[slots[stem] for stem in phrase] for phrase in distinct]


def _ngrams(segments: Segments, fewest: int, most: int) -> Segments:
    return [
        segment[start : start + words]
        for segment in segments
        for words in range(fewest, most + 1)
        for start in range(len(segment) - words + 1)
    ]
