"""One document as numbers: what the network reads, and the phrases it should say.

Two roads lead here, from a parsed `Document` and from a row of a prepared corpus; both give the
same example (tested).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phraseloom.data.cache import Corpus, Record
from phraseloom.data.glossary import own_phrases, sentence_stems
from phraseloom.data.lexicon import Lexicon, style_id
from phraseloom.text.document import Document

Ids = NDArray[np.int64]

FREQUENCY_EDGES = np.array([2, 3, 4, 6, 9])
"""How often a stem occurs: 1, 2, 3, 4–5, 6–8, 9 and more."""
PLACE_EDGES = np.array([5, 10, 20, 40, 80, 160, 320])
"""Where a stem first occurs, in tokens from the start."""
FEATURE_SIZES = (len(FREQUENCY_EDGES) + 1, 2, len(PLACE_EDGES) + 1)


@dataclass(frozen=True, slots=True)
class Example:
    """A document of ``T`` tokens and ``M`` distinct stems."""

    word_ids: Ids
    """Vocabulary ids, ``(T,)``; ``V + k`` is the k-th of ``unknown``."""
    unknown: tuple[str, ...]
    """Words outside the vocabulary, in order of first occurrence."""
    pos_ids: Ids
    heads: Ids
    """Token that governs each token, ``(T,)``; itself for a root."""
    relation_ids: Ids
    stem_ids: Ids
    """Which of the document's distinct stems each token has, ``(T,)``, by first occurrence."""
    features: Ids
    """Frequency, in title or not, and first place of each token's stem, bucketed, ``(T, 3)``."""
    marks: Ids
    """What the glossary says of the phrases that each token is a part of, ``(T, 4)``."""
    style: int
    phrases: tuple[Ids, ...]
    """Gold phrases as stem ids, in target order."""

    def __len__(self) -> int:
        return len(self.word_ids)


class Numbering:
    """Turns documents into examples under one lexicon."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon

    def encode_document(self, document: Document, *, style: str | None = None) -> Example:
        """Number a parsed document; it has no gold phrases."""
        tokens = list(document.tokens())
        starts = np.cumsum([0] + [len(sentence.tokens) for sentence in document.sentences])
        heads = [
            start + token.head
            for start, sentence in zip(starts, document.sentences, strict=False)
            for token in sentence.tokens
        ]
        title = sum(len(sentence.tokens) for sentence in document.sentences if sentence.in_title)
        word_ids, unknown = _number_unknown(
            self.lexicon.words.ids(token.word for token in tokens),
            [token.word for token in tokens],
            len(self.lexicon.words),
        )
        stems = {stem: i for i, stem in enumerate(dict.fromkeys(token.stem for token in tokens))}
        stem_ids = np.array([stems[token.stem] for token in tokens], dtype=np.int64)
        return Example(
            word_ids=word_ids,
            unknown=unknown,
            pos_ids=self.lexicon.pos_tags.ids(token.pos for token in tokens),
            heads=np.array(heads, dtype=np.int64),
            relation_ids=self.lexicon.relations.ids(token.relation for token in tokens),
            stem_ids=stem_ids,
            features=_features(stem_ids, title),
            marks=self.lexicon.glossary.mark(
                [token.stem for token in sentence.tokens] for sentence in document.sentences
            ),
            style=style_id(self.lexicon.styles, style),
            phrases=(),
        )


class CorpusExamples:
    """The documents of a prepared corpus as examples, made on demand from its mapped columns."""

    def __init__(
        self, corpus: Corpus, lexicon: Lexicon, *, max_tokens: int, style_of: dict[str, str]
    ) -> None:
        self.corpus = corpus
        self.lexicon = lexicon
        self.max_tokens = max_tokens
        self._word_ids = lexicon.words.ids(corpus.words)
        self._pos_ids = lexicon.pos_tags.ids(corpus.pos_tags)
        self._relation_ids = lexicon.relations.ids(corpus.relations)
        self._is_counted = corpus.fingerprint in lexicon.glossary.corpora
        self._styles = [style_id(lexicon.styles, style_of.get(origin)) for origin in corpus.origins]

    def __len__(self) -> int:
        return len(self.corpus)

    def __getitem__(self, index: int) -> Example:
        """The example of one document, cut to ``max_tokens``; phrases beyond the cut are lost."""
        record = self.corpus.record(index)
        size = min(len(record.word), self.max_tokens)
        words = record.word[:size]
        word_ids, unknown = _number_unknown(
            self._word_ids[words], words, len(self.lexicon.words), names=self.corpus.words
        )
        places = np.arange(size)
        heads = record.head[:size].astype(np.int64)
        stem_ids = _by_first_occurrence(self.corpus.word_stems[words])
        starts = record.phrase_start.tolist()
        lengths = record.phrase_length.tolist()
        return Example(
            word_ids=word_ids,
            unknown=unknown,
            pos_ids=self._pos_ids[record.pos[:size]],
            heads=np.where(heads < size, heads, places),
            relation_ids=self._relation_ids[record.relation[:size]],
            stem_ids=stem_ids,
            features=_features(stem_ids, record.title_tokens),
            marks=self._marks(record, size),
            style=self._styles[record.origin],
            phrases=tuple(
                stem_ids[start : start + length]
                for start, length in zip(starts, lengths, strict=True)
                if start + length <= size
            ),
        )

    def _marks(self, record: Record, size: int) -> Ids:
        own = own_phrases(self.corpus, record) if self._is_counted else None
        sentences = sentence_stems(self.corpus, record, size)
        return self.lexicon.glossary.mark(sentences, own=own)


def _number_unknown(
    word_ids: Ids, words: Sequence[str] | NDArray[np.int32], size: int, names: Sequence[str] = ()
) -> tuple[Ids, tuple[str, ...]]:
    """Give words outside the vocabulary the ids from ``size`` up, by first occurrence."""
    outside = np.flatnonzero(word_ids < 0)
    if not len(outside):
        return word_ids, ()
    extra: dict[str | int, int] = {}
    numbered = word_ids.copy()
    for place in outside.tolist():
        numbered[place] = size + extra.setdefault(words[place], len(extra))
    if names:
        return numbered, tuple(names[int(word)] for word in extra)
    return numbered, tuple(str(word) for word in extra)


def _by_first_occurrence(values: NDArray[np.int32]) -> Ids:
    """Renumber values from 0 up in the order in which they first occur."""
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def _features(stem_ids: Ids, title_tokens: int) -> Ids:
    """Bucketed frequency, presence in the title and first place of each stem, ``(T, 3)``."""
    if not len(stem_ids):
        return np.zeros((0, 3), dtype=np.int64)
    counts = np.bincount(stem_ids)
    first = np.full(len(counts), len(stem_ids))
    np.minimum.at(first, stem_ids, np.arange(len(stem_ids)))
    stem_features = np.stack(
        [
            np.searchsorted(FREQUENCY_EDGES, counts, side="right"),
            first < title_tokens,
            np.searchsorted(PLACE_EDGES, first, side="right"),
        ],
        axis=1,
    )
    return stem_features[stem_ids].astype(np.int64)  # (T, 3)
