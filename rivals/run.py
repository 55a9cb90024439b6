"""A rival's training run: begins, or goes on where it was stopped, in the trainer that ours has."""

import json
import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from phraseloom.config import Config
from phraseloom.errors import CheckpointError, ConfigError
from phraseloom.io.atomic import remove_leftovers, write_text
from phraseloom.network.lexicon import Lexicon
from phraseloom.network.weights import CONFIG, LEXICON, WEIGHTS, load_arrays, load_config_file
from phraseloom.parallel import in_batches
from phraseloom.train.checkpoint import (
    clear,
    find_checkpoint,
    load_state,
    refuse_other,
    restore_learner,
)
from phraseloom.train.corpus.loader import BatchLoader, DocumentPool
from phraseloom.train.learner import Learner, TrainState
from phraseloom.train.setup import (
    build_lexicon,
    load_vectors,
    make_pool,
    open_corpora,
    set_up_torch,
)
from phraseloom.train.trainer import Trainer
from phraseloom.train.validate import Validation, Validator, score_model
from rivals import find_network
from rivals.documents import PhraseTargets, collate_targets
from rivals.model import NAME, RivalModel, read_name

_BATCH = 32


def open_run(name: str, config: Config, out: Path, *, is_restarted: bool = False) -> Trainer:
    """Begin a run, or go on with the one that the directory holds."""
    find_network(name)
    if config.model.variant != "gru":
        raise ConfigError("rivals have no dependency graph: set model.variant=gru")
    set_up_torch(config.train.threads)
    corpora = open_corpora(config.data)
    out.mkdir(parents=True, exist_ok=True)
    if is_restarted:
        clear(out)
        (out / NAME).unlink(missing_ok=True)
    remove_leftovers(out)
    if (out / NAME).exists() and read_name(out) != name:
        raise CheckpointError(f"{out} holds a run of {read_name(out)}; give another --out")
    write_text(out / NAME, [json.dumps({"rival": name}) + "\n"])
    checkpoint = find_checkpoint(out)
    if checkpoint is None:
        state = TrainState(data=corpora.fingerprint)
        vectors = load_vectors(config.data, config.model.word_width)
        lexicon = build_lexicon(corpora.train, vectors, config)
        seed = config.train.seed
        model = RivalModel.new(name, config.model, lexicon, seed=seed, vectors=vectors)
        if config.train.init is not None:
            model = _weights_of(config.train.init, name, config)
    else:
        refuse_other(checkpoint, load_config_file(checkpoint / CONFIG), config)
        state = load_state(checkpoint)
        lexicon = Lexicon.load(checkpoint / LEXICON)
        arrays = load_arrays(checkpoint / WEIGHTS)
        model = RivalModel.of(name, config.model, lexicon, arrays)
        if state.data != corpora.fingerprint:
            raise CheckpointError(
                f"the corpora have changed since {checkpoint}; give another --out"
            )
    lexicon = model.lexicon
    model.network.train()
    learner = Learner(model.weights(), state, config, losses=model.losses)
    if checkpoint is not None:
        restore_learner(checkpoint, learner)
    pool = make_pool(corpora.train, lexicon, config.data, is_repeated=True)
    valid = make_pool(corpora.valid, lexicon, config.data, is_repeated=False)
    collate = collate_function(model)
    loader = BatchLoader(pool, lexicon, config.train, collate=collate)
    trainer = Trainer(out, learner, loader, RivalValidator(name, valid, lexicon, config))
    trainer.metrics.rewind(state.step)
    return trainer


def collate_function(model: RivalModel) -> "partial[PhraseTargets]":
    """What makes the targets that a rival's loss function takes."""
    one_phrase = model.network.one_phrase
    return partial(collate_targets, lexicon=model.lexicon, one_phrase=one_phrase)


def _weights_of(run: Path, name: str, config: Config) -> RivalModel:
    """The weights of another run, to go on learning from another objective."""
    model, old = RivalModel.load(run)
    if old.model != config.model:
        raise ConfigError(f"{run} has another network; set the same model.* as it has")
    return RivalModel.of(name, config.model, model.lexicon, model.weights())


class RivalValidator:
    """Measures a rival's weights on the sample that ours are measured on."""

    def __init__(self, name: str, pool: DocumentPool, lexicon: Lexicon, config: Config) -> None:
        self._name = name
        self._lexicon = lexicon
        self._config = config
        self._sample = Validator(pool, lexicon, config)

    @torch.no_grad()
    def measure(self, weights: Mapping[str, Tensor]) -> Validation:
        """Perplexity of a target, and F1 under the configuration's search; no dropout."""
        sample = self._sample
        model = RivalModel.of(self._name, self._config.model, self._lexicon, weights)
        total, tokens = 0.0, 0
        for documents in in_batches(sample.documents.tolist(), _BATCH):
            losses = model.likelihood([sample.pool[document] for document in documents])
            total, tokens = total + losses.sequence.item(), tokens + losses.tokens
        scores = score_model(model, sample.pool, sample.scored, self._config.search)
        mean = total / tokens
        return Validation(math.exp(mean) if mean < 700 else math.inf, *scores)
