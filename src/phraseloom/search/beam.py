"""Search: lists of phrases for a batch of documents, one phrase after the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from phraseloom.search.allowed import Allowed, Anything
from phraseloom.search.expand import Task
from phraseloom.search.found import Found
from phraseloom.search.lists import new_list
from phraseloom.search.ngrams import Ngrams, Segments
from phraseloom.search.phrase import find_next
from phraseloom.search.said import Said
from phraseloom.search.seeds import Handicaps, Seed, weigh_seeds
from phraseloom.search.settings import Count, Settings
from phraseloom.search.step import S, Step
from phraseloom.search.trace import Trace


@dataclass(frozen=True)
class Focus:
    """What a search is limited to, or drawn to; by default neither.

    Attributes:
        is_whole: whether the segments of a document are the phrases that may be said of it, and
            nothing else is; then the mode is not looked at.
        seeds: of each document, phrases that draw the search, see `seeds`; none for no document.
            For what stands in the text only.
    """

    is_whole: bool = False
    seeds: Sequence[Sequence[Seed]] = ()


UNFOCUSED = Focus()


def find_phrases(
    step: Step[S],
    segments: Sequence[Segments],
    settings: Settings,
    count: Count,
    *,
    focus: Focus = UNFOCUSED,
    trace: Trace | None = None,
) -> list[list[Found]]:
    """Find the phrases of each document of a batch.

    The documents decode together; one whose list is done leaves the batch. What is found of a
    document does not depend on the others.

    Args:
        step: a decoder over the documents.
        segments: of each document, the runs of slots that a phrase may not cross; not looked at in
            mode ``free``.
        settings: how to search.
        count: how many phrases.
        focus: what to look for.
        trace: filled with what was seen on the way; it goes on for as many phrases as are wanted,
            even if the list is known before.

    Returns:
        Phrases of each document: by score if ``count`` is exact, else in the order of the settings.
    """
    documents = range(len(step.slots))
    allowed, handicaps = _allow(step.slots, segments, settings, focus)
    said = Said(allowed, len(documents))
    lists = [new_list(settings, count) for _ in documents]
    keep = _kept(settings, trace)
    active = [document for document in documents if not said.has_all(document)]
    while active:
        state = step.begin(active, [said.phrases[document] for document in active])
        weights = [] if trace is None else step.edge_weights(state)
        task = Task(active, said, allowed, settings, handicaps)
        beams = find_next(step, state, task, keep)
        going_on = []
        for row, (document, beam) in enumerate(zip(active, beams, strict=True)):
            if not beam:
                continue
            if lists[document].wants_more():
                lists[document].add(beam)
            said.add(document, beam[0].slots)
            if trace is not None:
                trace.add(document, beam, weights[row])
            is_shown = trace is not None and len(said.phrases[document]) < (count.limit or 0)
            if not said.has_all(document) and (is_shown or lists[document].wants_more()):
                going_on.append(document)
        active = going_on
    return [each.finish() for each in lists]


def _kept(settings: Settings, trace: Trace | None) -> int:
    """How many finished hypotheses of a beam are looked at; all of them, if all of them count."""
    if settings.order == "expected":
        return settings.width * (settings.max_words + 1)
    return 1 if trace is None else 1 + trace.runners_up


def _allow(
    slots: Sequence[int], segments: Sequence[Segments], settings: Settings, focus: Focus
) -> tuple[Allowed, Handicaps | None]:
    if settings.mode == "free" and not focus.is_whole:
        assert not focus.seeds, "seeds are for what stands in the text"
        return Anything(slots, settings.max_words), None
    assert len(segments) == len(slots), "one list of segments per document"
    ngrams = Ngrams(segments, settings.max_words, is_whole=focus.is_whole)
    return ngrams, weigh_seeds(ngrams, focus.seeds) if focus.seeds else None
