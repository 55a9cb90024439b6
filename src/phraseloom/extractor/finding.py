"""Parsed documents in, keyphrases out."""

from collections.abc import Sequence

from phraseloom.config import SearchConfig
from phraseloom.data.example import Numbering
from phraseloom.data.lexicon import Lexicon
from phraseloom.extractor.decoding import decode
from phraseloom.extractor.keyphrase import Keyphrase, Said, surface, with_stems
from phraseloom.extractor.windows import cut_windows
from phraseloom.extractor.wishes import Wishes, find_seeds
from phraseloom.model.network import KeyphraseModel
from phraseloom.search.beam import Focus
from phraseloom.search.trace import Trace
from phraseloom.search.windows import merge_windows
from phraseloom.text.document import Document


def find_keyphrases(
    model: KeyphraseModel,
    lexicon: Lexicon,
    search: SearchConfig,
    documents: Sequence[Document],
    wishes: Wishes,
    *,
    trace: Trace | None = None,
) -> list[list[Keyphrase]]:
    """Keyphrases of each document, as wished; long ones are searched in windows."""
    windows = [cut_windows(document, search.window) for document in documents]
    flat = [window for of_document in windows for window in of_document]
    numbering = Numbering(lexicon)
    examples = [numbering.encode_document(window, style=wishes.style) for window in flat]
    segments = [wishes.segments(window) for window in flat]
    focus = Focus(wishes.is_whole, find_seeds(documents, windows, wishes))
    parts = (wishes.adapt(search, segments), wishes.count(segments))
    found = iter(decode(model, lexicon, examples, segments, *parts, focus=focus, trace=trace))
    results = []
    for document, of_document in zip(documents, windows, strict=True):
        said = [with_stems(window, next(found)) for window in of_document]
        results.append(surface(document, _merge(said, wishes, search.max_phrases)))
    return results


def _merge(said: Sequence[Sequence[Said]], wishes: Wishes, most: int) -> list[Said]:
    """One list from those of a document's windows; a document of one window keeps its own."""
    if len(said) < 2:
        return [phrase for of_window in said for phrase in of_window]
    merged = merge_windows(said, phrase=lambda each: each.stems, score=lambda each: each.score)
    ranked = [Said(each.best.stems, each.score) for each in merged]
    is_complete = wishes.top is None and wishes.candidates is not None
    return ranked if is_complete else ranked[: wishes.top or most]
