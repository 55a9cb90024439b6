"""The documents of a prepared corpus as examples, made on demand from its mapped columns."""

from collections.abc import Mapping

import numpy as np

from phraseloom.network.example import (
    Example,
    by_first_occurrence,
    node_features,
    number_unknown,
    token_features,
)
from phraseloom.network.lexicon import Ids, Lexicon
from phraseloom.text.phrases import are_joined
from phraseloom.train.corpus.glossary import own_keyphrases, sentence_stems
from phraseloom.train.corpus.prepared import PreparedCorpus, PreparedDocument


class CorpusExamples:
    """A sequence of examples under one lexicon."""

    def __init__(
        self,
        corpus: PreparedCorpus,
        lexicon: Lexicon,
        *,
        max_tokens: int,
        style_of: Mapping[str, str],
    ) -> None:
        self.corpus = corpus
        self.lexicon = lexicon
        self.max_tokens = max_tokens
        self._word_ids = lexicon.words.ids(corpus.words)
        self._pos_ids = lexicon.pos_tags.ids(corpus.pos_tags)
        self._relation_ids = lexicon.relations.ids(corpus.relations)
        self._is_counted = corpus.fingerprint in lexicon.glossary.corpora
        self._styles = [lexicon.style_id(style_of.get(origin)) for origin in corpus.origins]

    def __len__(self) -> int:
        return len(self.corpus)

    def __getitem__(self, index: int) -> Example:
        """The example of one document, cut to ``max_tokens``; phrases beyond the cut are lost."""
        document = self.corpus.document(index)
        size = min(len(document.word), self.max_tokens)
        words = document.word[:size]
        word_ids, unknown = number_unknown(
            self._word_ids[words], words.tolist(), len(self.lexicon.words)
        )
        heads = document.head[:size].astype(np.int64)
        stem_ids = by_first_occurrence(self.corpus.word_stems[words])
        return Example(
            word_ids=word_ids,
            unknown=tuple(self.corpus.words[int(word)] for word in unknown),
            pos_ids=self._pos_ids[document.pos[:size]],
            heads=np.where(heads < size, heads, np.arange(size)),
            relation_ids=self._relation_ids[document.relation[:size]],
            stem_ids=stem_ids,
            node_features=node_features(stem_ids, document.title_tokens),
            glossary_features=self._glossary_features(document, size),
            token_features=self._token_features(index, document)[:size],
            style=self._styles[document.origin],
            phrases=tuple(
                stem_ids[start:end] for start, end in document.phrase_spans() if end <= size
            ),
        )

    def _token_features(self, index: int, document: PreparedDocument) -> Ids:
        title, text = self.corpus.title(index), self.corpus.text(index)
        starts, ends = document.start.tolist(), document.end.tolist()
        sides = [title if i < document.title_tokens else text for i in range(len(starts))]
        firsts = set(document.sentence.tolist())
        joined = [
            i + 1 not in firsts and are_joined(sides[i], end, start)
            for i, (end, start) in enumerate(zip(ends, starts[1:], strict=False))
        ]
        return token_features(
            [side[start:end] for side, start, end in zip(sides, starts, ends, strict=True)],
            [*joined, False][: len(starts)],
            [self.corpus.pos_tags[tag] for tag in document.pos.tolist()],
            document.head.tolist(),
            document.sentence.tolist(),
        )

    def _glossary_features(self, document: PreparedDocument, size: int) -> Ids:
        own = own_keyphrases(self.corpus, document) if self._is_counted else None
        sentences = sentence_stems(self.corpus, document, size)
        return self.lexicon.glossary.features(sentences, own=own)
