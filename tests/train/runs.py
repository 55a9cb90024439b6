"""Small corpora and runs: documents of a dozen words, networks of width 8."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from phraseloom.config import Config, parse_config
from phraseloom.train.corpus.loader import plan_epoch
from phraseloom.train.corpus.prepare import PrepareOptions, prepare_corpus
from phraseloom.train.trainer import Trainer
from tests.train.corpus.chains import row, write_rows

WORDS = [
    *("graph", "node", "tree", "edge", "path", "search", "beam", "word", "phrase", "network"),
    *("layer", "gate", "copy", "model", "parser", "stem", "token", "vector", "kernel", "cache"),
]


def make_rows(count: int, *, seed: int = 0, words: int = 12) -> list[dict[str, Any]]:
    """Random texts, each with two keyphrases of one to three words that stand in it."""
    chance = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        text = [WORDS[i] for i in chance.integers(0, len(WORDS), words)]
        starts = chance.integers(0, words - 3, 2)
        keys = [" ".join(text[at : at + chance.integers(1, 4)]) for at in starts]
        rows.append(row(" ".join(text), keys, set="a" if chance.random() < 0.5 else "b"))
    return rows


def write_corpus(out: Path, rows: list[dict[str, Any]]) -> Path:
    """Prepare rows without a parser's model."""
    file = write_rows(out.with_suffix(".jsonl"), rows)
    prepare_corpus([file], out, PrepareOptions(parser="conllu", processes=1))
    return out


def tiny_values(corpus: Path, valid: Path) -> dict[str, Any]:
    """A configuration under which a step takes milliseconds."""
    return {
        "model": {
            **{"word_width": 8, "pos_width": 2, "position_width": 2, "width": 8, "edge_width": 2},
            **{"layers": 1, "decoder_layers": 1, "residual": True, "importance": True},
            "dropout": 0.2,
        },
        "search": {"beam_width": 2, "max_phrases": 3},
        "data": {"train": [str(corpus)], "valid": [str(valid)]},
        "train": {
            **{"threads": 1, "batch_documents": 4, "epochs": 2, "learning_rate": 0.01},
            **{"validate_every": 4, "checkpoint_every": 3, "log_every": 1, "patience": 100},
            **{"score_documents": 3, "phrases_per_document": 1, "ema_decay": 0.9},
        },
    }


def tiny_config(corpus: Path, valid: Path, **changes: dict[str, Any]) -> Config:
    """The same, with other values in some sections: ``train={"max_grad_norm": 1.0}``."""
    values = tiny_values(corpus, valid)
    for section, settings in changes.items():
        values[section] |= settings
    return parse_config(values)


def change(config: Config, **train: Any) -> Config:
    """The same configuration with other settings of training."""
    return config.model_copy(update={"train": config.train.model_copy(update=train)})


def first_gradient(trainer: Trainer) -> dict[str, Tensor]:
    """Gradient of the first batch, by name."""
    plan = plan_epoch(trainer.loader.pool, trainer.config.train, 0)
    trainer.learner.find_gradient(trainer.loader.make(0, 0, plan[0]))
    learner = trainer.learner
    assert learner.words is not None and learner.words.vectors.grad is not None
    table = learner.weights["encoder.words.table"]
    table.grad = torch.zeros_like(table).index_add(
        0, learner.words.rows, learner.words.vectors.grad
    )
    weights = learner.weights.items()
    return {name: weight.grad for name, weight in weights if weight.grad is not None}


def to_toml(values: dict[str, Any]) -> str:
    """Sections of numbers, strings, booleans and lists of them."""
    return "".join(
        f"[{section}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in part.items())
        for section, part in values.items()
    )
