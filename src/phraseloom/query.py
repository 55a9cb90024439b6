"""What the options ask of one document, in the words of the search, and back: slots and strings."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from phraseloom.config import SearchConfig
from phraseloom.errors import OptionsError
from phraseloom.features import Found
from phraseloom.keyphrase import ScoredStems
from phraseloom.options import MAX_TOP, Options
from phraseloom.ranker import ListOptions
from phraseloom.search.beam import Hypothesis
from phraseloom.search.constraints import Seed
from phraseloom.search.decode import Query
from phraseloom.search.windows import SentencePart, merge_windows, split_windows
from phraseloom.slots import FIRST_WORD, Phrase
from phraseloom.text.document import Document, Sentence
from phraseloom.text.matching import split_keywords, unit_stems
from phraseloom.text.words import is_word, normalise, stem_phrase

_MOST_DIVERSE = 0.999  # at 1 the weight would be infinite


def adapt_search(search: SearchConfig, options: Options, queries: Sequence[Query]) -> SearchConfig:
    """The model's search, changed as the options ask; candidates may be of any length.

    Diversity is a trade-off, ``(1 - d) * probability + d * dissimilarity``; divided by ``1 - d``
    that is equation (S4).
    """
    if options.seeds and search.mode == "free":
        raise OptionsError("seeds need a search of the text: with_search(mode='extractive')")
    max_words = options.max_words or max(search.max_words, options.min_words)
    if options.candidates is not None:
        max_words = max((len(phrase) for query in queries for phrase in query.segments), default=1)
    changes: dict[str, float] = {"max_words": max_words}
    if options.min_score is not None:
        changes["min_score"] = options.min_score
    if options.diversity is not None:
        share = min(options.diversity, _MOST_DIVERSE)
        changes["lambda1"] = share / (1 - share)
    return search.model_copy(update=changes)


def list_options(
    document: Document, windows: Sequence[Document], options: Options, search: SearchConfig
) -> ListOptions:
    """What the options ask of a document's list, for `ranker.rank_phrases`."""
    excluded = set()
    for window in windows if options.exclude else ():
        stems = window.distinct_stems()
        slots = {stem: slot for slot, stem in enumerate(stems, FIRST_WORD)}
        for phrase in _excluded(window, slots, options.exclude):
            excluded.add(tuple(stems[slot - FIRST_WORD] for slot in phrase))
    is_open = options.candidates is None
    search = adapt_search(search, options.model_copy(update={"candidates": None}), ())
    return ListOptions(
        lambda1=search.lambda1,
        is_diverse=options.diversity is not None,
        max_phrases=search.max_phrases if is_open else MAX_TOP,
        top=options.top,
        min_score=options.min_score if is_open else options.min_score or 0.0,
        lengths=range(options.min_words, search.max_words + 1),
        excluded=excluded,
        seeds=_seed_stems(document, options.seeds),
        only_found=not is_open,
    )


def cut_windows(document: Document, budget: int) -> list[Document]:
    """The document in windows of at most ``budget`` tokens; itself if it fits, none if empty."""
    lengths = [len(sentence.tokens) for sentence in document.sentences]
    if sum(lengths) <= budget:
        return [document] if any(lengths) else []
    title = sum(sentence.in_title for sentence in document.sentences)
    return [
        replace(document, sentences=tuple(_cut_sentence(document, piece) for piece in window))
        for window in split_windows(lengths, budget, title=title)
    ]


def _cut_sentence(document: Document, piece: SentencePart) -> Sentence:
    """Part of a sentence; a token whose head is cut away becomes a root."""
    sentence = document.sentences[piece.sentence]
    tokens = []
    for i, token in enumerate(sentence.tokens[piece.start : piece.end]):
        head = token.head - piece.start
        if 0 <= head < piece.end - piece.start:
            tokens.append(token._replace(head=head))
        else:
            tokens.append(token._replace(head=i, relation="root"))
    return Sentence(tuple(tokens), sentence.in_title)


def build_queries(
    document: Document, windows: Sequence[Document], options: Options
) -> Iterator[Query]:
    """What is asked of each window of a document."""
    seeds = _seed_stems(document, options.seeds)
    for window in windows:
        slots = {stem: slot for slot, stem in enumerate(window.distinct_stems(), FIRST_WORD)}
        if options.candidates is None:
            segments = list(_segments(window, slots))
        else:
            segments = _candidates(window, slots, options)
        yield Query(
            segments,
            frozenset(_excluded(window, slots, options.exclude)),
            [Seed(frozenset(slots[s] for s in seed if s in slots), len(seed)) for seed in seeds],
        )


def _segments(document: Document, slots: dict[str, int]) -> Iterator[list[int]]:
    """Runs of slots that a phrase may not cross: cut at sentence ends and punctuation."""
    for sentence in document.sentences:
        segment: list[int] = []
        for token in sentence.tokens:
            if is_word(token.word):
                segment.append(slots[token.stem])
            elif segment:
                yield segment
                segment = []
        if segment:
            yield segment


def _candidates(document: Document, slots: dict[str, int], options: Options) -> list[list[int]]:
    """Slots of the candidates that stand in a document, each once, if they are of some length."""
    stems = [token.stem for token in document.tokens()]
    distinct = dict.fromkeys(
        tuple(stems[occurrence.start : occurrence.start + occurrence.length])
        for occurrence in split_keywords(document, options.candidates or ()).present
    )
    longest = options.max_words or max(map(len, distinct), default=0)
    return [
        [slots[stem] for stem in phrase]
        for phrase in distinct
        if options.min_words <= len(phrase) <= longest
    ]


def _excluded(
    document: Document, slots: dict[str, int], phrases: Sequence[str]
) -> Iterator[Phrase]:
    """Every run of tokens that one of some phrases is, however a parser has cut it."""
    units = {unit_stems(phrase) for phrase in phrases} - {()}
    firsts, most = {phrase[0] for phrase in units}, max(map(len, units), default=0)
    for phrase in units:
        if all(stem in slots for stem in phrase):
            yield tuple(slots[stem] for stem in phrase)  # a free search may join its words
    for sentence in document.sentences if units else ():
        cut = [unit_stems(token.word) for token in sentence.tokens]
        for start, first in enumerate(cut):
            if first[:1] and first[0] not in firsts:
                continue
            run: tuple[str, ...] = ()
            for end in range(start, len(cut)):
                run += cut[end]
                if len(run) > most:
                    break
                if run in units:
                    yield tuple(slots[token.stem] for token in sentence.tokens[start : end + 1])


def _seed_stems(document: Document, seeds: Sequence[str]) -> list[tuple[str, ...]]:
    """Distinct stems of each seed; none if no word of any stands in the document."""
    stems = [
        tuple(dict.fromkeys(stem for stem in stem_phrase(normalise(seed)) if is_word(stem)))
        for seed in seeds
    ]
    words = {token.stem for token in document.tokens()} if stems else set()
    return [seed for seed in stems if seed] if any(words & {*seed} for seed in stems) else []


def to_found(
    window: Document, hypotheses: Sequence[Hypothesis], importance: Sequence[float]
) -> Found:
    """Phrases that were found as slots, by their stems, and how important these are."""
    stems = window.distinct_stems()
    phrases = [
        ScoredStems(tuple(stems[slot - FIRST_WORD] for slot in hypothesis.slots), hypothesis.score)
        for hypothesis in hypotheses
    ]
    return Found(phrases, dict(zip(stems, importance, strict=True)) if importance else {})


def merge_lists(windows: Sequence[Found], options: Options, max_phrases: int) -> list[ScoredStems]:
    """One list from those of a document's windows; a document of one window keeps its own."""
    ranked = join_windows(windows).phrases
    if len(windows) > 1 and (options.top is not None or options.candidates is None):
        ranked = ranked[: options.top or max_phrases]
    lowest = options.min_score or 0.0
    return [phrase for phrase in ranked if phrase.score >= lowest]


def join_windows(windows: Sequence[Found]) -> Found:
    """What the windows of a document found, each phrase once; of one window as it is.

    A word is as important as where it is most so.
    """
    if len(windows) == 1:
        return windows[0]
    merged = merge_windows(
        [window.phrases for window in windows],
        phrase=lambda phrase: phrase.stems,
        score=lambda phrase: phrase.score,
    )
    importance: dict[str, float] = {}
    for window in windows:
        for stem, log_odds in window.importance.items():
            importance[stem] = max(log_odds, importance.get(stem, log_odds))
    return Found([ScoredStems(phrase.best.stems, phrase.score) for phrase in merged], importance)
