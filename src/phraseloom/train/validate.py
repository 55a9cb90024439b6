"""How good a model is on documents it has not learned from: perplexity, and F1 by decoding."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from phraseloom.config import Config, SearchConfig
from phraseloom.data.batch import FIRST_WORD, collate, collate_targets
from phraseloom.data.cache import Corpus
from phraseloom.data.example import Example, Ids
from phraseloom.data.lexicon import Lexicon
from phraseloom.data.loader import DocumentPool
from phraseloom.evaluate.phrases import Judged, judge_stems
from phraseloom.evaluate.report import score_documents
from phraseloom.extractor import decode, is_word
from phraseloom.model.network import KeyphraseModel
from phraseloom.search.settings import Count

_BATCH = 32
"""Documents read at once; only speed depends on it."""
_SAMPLE_SEED = 0
"""The validation sample is the same in all runs, so that they can be compared."""


@dataclass(frozen=True, slots=True)
class Validation:
    """Figures of one model on one sample."""

    perplexity: float
    f1_at_5: float | None
    f1_at_m: float | None
    """None if no document was decoded."""


class Validator:
    """Measures models on a fixed sample of a pool."""

    def __init__(self, pool: DocumentPool, lexicon: Lexicon, config: Config) -> None:
        self.pool = pool
        self.lexicon = lexicon
        self.search = config.search
        order = np.random.default_rng(_SAMPLE_SEED).permutation(len(pool))
        self.documents = _by_length(pool, order[: config.train.validate_documents])
        self.scored = _by_length(pool, order[: config.train.score_documents])

    def measure(self, model: KeyphraseModel) -> Validation:
        """Perplexity and F1 of a model as it is."""
        was_training = model.training
        model.eval()
        try:
            perplexity = self._perplexity(model)
            scores = score_model(model, self.lexicon, self.pool, self.scored, self.search)
        finally:
            model.train(was_training)
        return Validation(perplexity, *scores)

    @torch.no_grad()
    def _perplexity(self, model: KeyphraseModel) -> float:
        """Of a target token, SEP and EOS included."""
        total, tokens = 0.0, 0
        for documents in _batches(self.documents):
            examples = [self.pool[int(document)] for document in documents]
            losses = model(collate(examples, self.lexicon), collate_targets(examples))
            total += losses.sequence.item()
            tokens += losses.tokens
        mean = total / tokens
        return math.exp(mean) if mean < 700 else math.inf


def score_model(
    model: KeyphraseModel,
    lexicon: Lexicon,
    pool: DocumentPool,
    documents: Ids,
    search: SearchConfig,
) -> tuple[float | None, float | None]:
    """Macro F1@5 and F1@M of present phrases, decoded for some documents of a pool."""
    if not len(documents):
        return None, None
    judged = judge_pool(model, lexicon, pool, documents, search)
    values = score_documents(judged, parts=("present",)).values
    return values["present.macro.f1@5"], values["present.macro.f1@M"]


def judge_pool(
    model: KeyphraseModel,
    lexicon: Lexicon,
    pool: DocumentPool,
    documents: Ids,
    search: SearchConfig,
) -> list[Judged]:
    """Decode documents, and put the phrases found beside the reference ones."""
    examples = [pool[int(document)] for document in documents]
    places = [pool.places[int(document)] for document in documents]
    read = [(pool.sources[source].corpus, row) for source, row in places]
    segments = [
        find_segments(corpus, row, example)
        for (corpus, row), example in zip(read, examples, strict=True)
    ]
    lists = decode(model, lexicon, examples, segments, search, Count.by_model())
    return [
        _judge(corpus, row, example, [phrase.slots for phrase in found])
        for (corpus, row), example, found in zip(read, examples, lists, strict=True)
    ]


def find_segments(corpus: Corpus, row: int, example: Example) -> list[list[int]]:
    """Runs of slots that a phrase may not cross: cut at sentence ends and punctuation."""
    record = corpus.record(row)
    starts = set(record.sentence.tolist())
    segments: list[list[int]] = [[]]
    for place, stem in enumerate(example.stem_ids.tolist()):
        is_wordlike = is_word(corpus.words[record.word[place]])
        if place in starts or not is_wordlike:
            segments.append([])
        if is_wordlike:
            segments[-1].append(stem + FIRST_WORD)
    return [segment for segment in segments if segment]


def _judge(corpus: Corpus, row: int, example: Example, found: Sequence[tuple[int, ...]]) -> Judged:
    record = corpus.record(row)
    stems = [corpus.stems[stem] for stem in corpus.word_stems[record.word]]
    spans = zip(record.phrase_start.tolist(), record.phrase_length.tolist(), strict=True)
    _, first = np.unique(example.stem_ids, return_index=True)
    return judge_stems(
        stems,
        [stems[start : start + length] for start, length in spans],
        [[stems[first[slot - FIRST_WORD]] for slot in phrase] for phrase in found],
    )


def _by_length(pool: DocumentPool, documents: Ids) -> Ids:
    return documents[np.argsort(pool.lengths[documents], kind="stable")]


def _batches(documents: Ids) -> list[Ids]:
    return [documents[at : at + _BATCH] for at in range(0, len(documents), _BATCH)]
