"""Tiny rivals and documents: widths of a few dozen, texts of a dozen words."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from phraseloom.config import Config, ModelConfig
from phraseloom.network.example import Example
from phraseloom.network.graph import Batch, collate
from phraseloom.network.ops import Weights
from phraseloom.train.corpus.loader import DocumentPool, TrainingBatch
from phraseloom.train.corpus.prepared import PreparedCorpus
from phraseloom.train.learner import Learner, TrainState
from phraseloom.train.loss import Losses
from phraseloom.train.ops import TorchOps, to_torch
from phraseloom.train.setup import build_lexicon, make_pool
from phraseloom.train.validate import judge_pool
from rivals.documents import PhraseTargets, collate_documents
from rivals.model import RivalModel
from rivals.run import collate_function
from rivals.seq2seq import Source, read_source
from tests.train.corpus.chains import row
from tests.train.runs import WORDS, tiny_config, write_corpus


@dataclass(frozen=True)
class Bench:
    """Documents to learn, and the configuration to learn them with."""

    corpus: Path
    config: Config
    pool: DocumentPool

    @property
    def examples(self) -> list[Example]:
        return [self.pool[i] for i in range(len(self.pool))]

    def make(self, name: str, *, seed: int = 0) -> RivalModel:
        """A rival with random weights and without dropout."""
        lexicon = build_lexicon([PreparedCorpus.open(self.corpus)], None, self.config)
        return RivalModel.new(name, self.config.model, lexicon, seed=seed)

    def targets(self, model: RivalModel, examples: list[Example] | None = None) -> PhraseTargets:
        """What the rival is to learn, as tensors."""
        examples = self.examples if examples is None else examples
        batch = collate(examples, model.lexicon)
        return to_torch(collate_function(model)(batch, examples, None))

    def source(self, model: RivalModel, examples: list[Example] | None = None) -> Source:
        """The documents as the backbone reads them."""
        examples = self.examples if examples is None else examples
        batch = collate(examples, model.lexicon)
        documents = to_torch(collate_documents(batch, examples, model.lexicon))
        with torch.no_grad():
            packed = to_torch(batch)
            return read_source(model.backbone, model.config, packed, documents, TorchOps())

    def learn(self, model: RivalModel, *, steps: int, below: float) -> float:
        """Learn all documents in one batch until the loss of a word is small; its last value."""

        def likelihood(
            config: ModelConfig, weights: Weights, batch: Batch, targets: Any, ops: TorchOps
        ) -> Losses:
            part = to_torch(targets)
            source = read_source(weights, config, to_torch(batch), part.documents, ops)
            return model.network.likelihood(source, part)

        learner = Learner(model.weights(), TrainState(data=""), self.config, losses=likelihood)
        examples = self.examples
        batch = collate(examples, model.lexicon)
        targets = collate_function(model)(batch, examples, None)
        loss = float("inf")
        for _ in range(steps):
            totals = learner.learn(TrainingBatch(batch, targets))
            loss = totals.sequence / totals.tokens
            if loss < below:
                break
        for name, weight in learner.averaged_weights().items():
            model.weights()[name].data = weight.data
        return loss

    def lists(self, model: RivalModel, **search: Any) -> list[tuple[tuple[str, ...], ...]]:
        """Lists that a rival gives, and the reference phrases, as stems."""
        model.network.eval()
        settings = self.config.search.model_copy(update=search)
        judged = judge_pool(model, self.pool, np.arange(len(self.pool)), settings)
        return [(document.predictions, document.targets) for document in judged]


def make_bench(folder: Path) -> Bench:
    """Eight documents of three title words and nine others, each with two phrases or three."""
    chance = np.random.default_rng(3)
    rows = []
    for _ in range(8):
        text = [WORDS[i] for i in chance.permutation(len(WORDS))[:12]]
        keys = [" ".join(text[at : at + size]) for at, size in ((0, 2), (5, 1), (8, 2))]
        rows.append(row(" ".join(text[3:]), keys, title=" ".join(text[:3])))
    corpus = write_corpus(folder / "corpus", rows)
    config = tiny_config(
        corpus,
        corpus,
        model={
            **{"variant": "gru", "width": 24, "word_width": 16, "dropout": 0.0},
            **{"importance": False, "residual": False},
        },
        search={
            **{"mode": "free", "order": "decoding", "beam_width": 1, "max_phrases": 5},
            **{"alpha": 0.0, "lambda1": 0.0, "lambda2": 0.0},
        },
        train={"learning_rate": 0.01, "max_grad_norm": 1.0, "ema_decay": None, "steps": 250},
    )
    lexicon = build_lexicon([PreparedCorpus.open(corpus)], None, config)
    pool = make_pool([PreparedCorpus.open(corpus)], lexicon, config.data, is_repeated=False)
    return Bench(corpus, config, pool)
