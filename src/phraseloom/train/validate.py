"""How good weights are on documents not learned from: perplexity, and F1 by decoding."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from phraseloom.config import Config, SearchConfig
from phraseloom.evaluate.phrases import Judged, judge_stems
from phraseloom.evaluate.report import score_documents
from phraseloom.network.example import Example
from phraseloom.network.graph import collate
from phraseloom.network.lexicon import Ids, Lexicon
from phraseloom.network.model import KeyphraseModel
from phraseloom.parallel import in_batches
from phraseloom.search.beam import Decoder
from phraseloom.search.decode import Query, find_phrases
from phraseloom.slots import FIRST_WORD, Phrase
from phraseloom.text.words import is_word
from phraseloom.train.corpus.loader import DocumentPool
from phraseloom.train.corpus.prepared import PreparedCorpus
from phraseloom.train.corpus.targets import collate_targets
from phraseloom.train.loss import sequence_losses
from phraseloom.train.ops import TorchOps, as_arrays

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

    def cost(self, objective: str) -> float:
        """What is to become small: perplexity or, if lists are what is learned, what F1 lacks."""
        if objective == "likelihood" or self.f1_at_5 is None or self.f1_at_m is None:
            return self.perplexity
        return 1 - (self.f1_at_5 + self.f1_at_m) / 2


class Model(Protocol):
    """A network that the search can drive; ours is `KeyphraseModel`."""

    @property
    def lexicon(self) -> Lexicon:
        """What numbers its documents."""
        ...

    def decoder(self, examples: Sequence[Example]) -> Decoder[Any]:
        """The network bound to documents."""
        ...


class Measurer(Protocol):
    """What a run validates with."""

    def measure(self, weights: Mapping[str, Tensor]) -> Validation:
        """Figures of some weights."""
        ...


class Validator:
    """Measures weights on a fixed sample of a pool."""

    def __init__(self, pool: DocumentPool, lexicon: Lexicon, config: Config) -> None:
        self.pool = pool
        self.lexicon = lexicon
        self.config = config
        order = np.random.default_rng(_SAMPLE_SEED).permutation(len(pool))
        self.documents = _by_length(pool, order[: config.train.validate_documents])
        self.scored = _by_length(pool, order[: config.train.score_documents])

    def measure(self, weights: Mapping[str, Tensor]) -> Validation:
        """Perplexity and F1, without dropout."""
        model = KeyphraseModel(self.config.model, self.lexicon, as_arrays(weights))
        f1_at_5, f1_at_m = score_model(model, self.pool, self.scored, self.config.search)
        return Validation(self.perplexity(weights), f1_at_5, f1_at_m)

    @torch.no_grad()
    def perplexity(self, weights: Mapping[str, Tensor]) -> float:
        """Of a target token, SEP and EOS included."""
        total, tokens, ops = 0.0, 0, TorchOps()
        for documents in in_batches(self.documents.tolist(), _BATCH):
            examples = [self.pool[document] for document in documents]
            batch = collate(examples, self.lexicon)
            targets = collate_targets(batch, examples)
            losses = sequence_losses(self.config.model, weights, batch, targets, ops)
            total += losses.sequence.item()
            tokens += losses.tokens
        mean = total / tokens
        return math.exp(mean) if mean < 700 else math.inf


def score_model(
    model: Model, pool: DocumentPool, documents: Ids, search: SearchConfig
) -> tuple[float | None, float | None]:
    """Macro F1@5 and F1@M of present phrases, decoded for some documents of a pool."""
    if not len(documents):
        return None, None
    judged = judge_pool(model, pool, documents, search)
    values = score_documents(judged, parts=("present",)).values
    return values["present.macro.f1@5"], values["present.macro.f1@M"]


def judge_pool(
    model: Model, pool: DocumentPool, documents: Ids, search: SearchConfig
) -> list[Judged]:
    """Decode documents, and put the phrases found beside the reference ones."""
    judged = []
    for together in in_batches(documents.tolist(), _BATCH):
        examples = [pool[document] for document in together]
        rows = [
            (pool.corpora[corpus].corpus, row)
            for corpus, row in (pool.locations[document] for document in together)
        ]
        queries = [
            Query(find_segments(corpus, row, example))
            for (corpus, row), example in zip(rows, examples, strict=True)
        ]
        lists = find_phrases(model.decoder(examples), queries, search)
        judged += [
            judge_phrases(corpus, row, example, [phrase.slots for phrase in phrases])
            for (corpus, row), example, phrases in zip(rows, examples, lists, strict=True)
        ]
    return judged


def find_segments(corpus: PreparedCorpus, row: int, example: Example) -> list[list[int]]:
    """Runs of slots that a phrase may not cross: cut at sentence ends and punctuation."""
    document = corpus.document(row)
    starts = set(document.sentence.tolist())
    segments: list[list[int]] = [[]]
    for token, stem in enumerate(example.stem_ids.tolist()):
        can_be_part = is_word(corpus.words[document.word[token]])
        if token in starts or not can_be_part:
            segments.append([])
        if can_be_part:
            segments[-1].append(stem + FIRST_WORD)
    return [segment for segment in segments if segment]


def judge_phrases(
    corpus: PreparedCorpus, row: int, example: Example, phrases: Sequence[Phrase]
) -> Judged:
    """Put phrases that were decoded for a document beside its reference ones."""
    document = corpus.document(row)
    stems = corpus.stems_of(document)
    _, first = np.unique(example.stem_ids, return_index=True)
    return judge_stems(
        stems,
        [stems[start:end] for start, end in document.phrase_spans()],
        [[stems[first[slot - FIRST_WORD]] for slot in phrase] for phrase in phrases],
    )


def _by_length(pool: DocumentPool, documents: Ids) -> Ids:
    return documents[np.argsort(pool.lengths[documents], kind="stable")]
