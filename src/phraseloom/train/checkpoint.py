"""A run on disk: ``last`` and ``previous`` to go on from, ``best`` to use."""

import logging
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from phraseloom.config import Config
from phraseloom.data.lexicon import Lexicon
from phraseloom.errors import CheckpointError, ConfigError, TrainingError
from phraseloom.model.checkpoint import (
    BEST,
    CONFIG,
    LEXICON,
    WEIGHTS,
    check_directory,
    fill,
    load_config_file,
    load_tensors,
    replace_directory,
    save_tensors,
    write_model,
)
from phraseloom.model.network import KeyphraseModel
from phraseloom.train.learner import Learner
from phraseloom.train.optim import optimizer_tensors, restore_optimizer
from phraseloom.train.state import TrainState

LAST, PREVIOUS, METRICS, CURVES = "last", "previous", "metrics.jsonl", "curves.png"
_OPTIMIZER, _AVERAGE, _STATE = "optimizer.safetensors", "average.safetensors", "state.json"
_MAY_CHANGE = {"train.epochs", "train.minutes", "train.patience"}
"""Settings that say when a run ends, not what it computes."""

_logger = logging.getLogger(__name__)


def save_checkpoint(out: Path, learner: Learner, lexicon: Lexicon, config: Config) -> None:
    """Put what a run needs to go on into ``last``; what was there becomes ``previous``."""
    for name, parameter in learner.model.named_parameters():
        if not bool(torch.isfinite(parameter).all()):
            raise TrainingError(
                f"the weights {name} are not finite after step {learner.state.step}; the checkpoint"
                " before it is kept. Start again with --restart and a smaller train.learning_rate"
            )

    def write(directory: Path) -> None:
        write_model(directory, learner.model, lexicon, config)
        save_tensors(directory / _OPTIMIZER, optimizer_tensors(learner.optimizer, learner.model))
        if learner.average is not None:
            save_tensors(directory / _AVERAGE, learner.average.weights)
        learner.state.save(directory / _STATE)

    replace_directory(out / LAST, write, keep=out / PREVIOUS)


def find_checkpoint(out: Path) -> Path | None:
    """The newest whole checkpoint of a run, with a warning if that is not the last; or none."""
    problems = []
    for name in (LAST, PREVIOUS):
        if not (out / name).is_dir():
            continue
        try:
            check_directory(out / name)
        except CheckpointError as error:
            problems.append(str(error))
            continue
        if problems:
            _logger.warning("%s: going on from %s instead", problems[0], out / name)
        return out / name
    if problems:
        raise CheckpointError(f"{problems[0]}, or start again with --restart")
    return None


def load_checkpoint(directory: Path, config: Config) -> tuple[KeyphraseModel, Lexicon, TrainState]:
    """Model, lexicon and counters to go on from, if they belong to this configuration."""
    _refuse_other(directory, load_config_file(directory / CONFIG), config)
    lexicon = Lexicon.load(directory / LEXICON)
    with torch.device("meta"):
        model = KeyphraseModel(config.model, lexicon)
    fill(model, load_tensors(directory / WEIGHTS), directory / WEIGHTS)
    return model, lexicon, TrainState.load(directory / _STATE)


def restore_learner(directory: Path, learner: Learner) -> None:
    """Put the optimiser's and the average's tensors back."""
    restore_optimizer(learner.optimizer, learner.model, load_tensors(directory / _OPTIMIZER))
    if learner.average is not None:
        learner.average.restore(load_tensors(directory / _AVERAGE))


def clear(out: Path) -> None:
    """Remove a run, and only what a run writes."""
    for name in (LAST, PREVIOUS, BEST, f"{BEST}.previous"):
        shutil.rmtree(out / name, ignore_errors=True)
    for name in (METRICS, CURVES):
        (out / name).unlink(missing_ok=True)


def clear_unfinished(out: Path) -> None:
    """Remove what a killed process was writing."""
    for name in (LAST, BEST):
        for path in out.glob(f".{name}.*"):
            shutil.rmtree(path, ignore_errors=True)


def _refuse_other(directory: Path, saved: Config, config: Config) -> None:
    old, new = _flat(saved.model_dump(mode="json")), _flat(config.model_dump(mode="json"))
    changed = [
        key
        for key in sorted(old.keys() | new.keys())
        if key not in _MAY_CHANGE and old.get(key) != new.get(key)
    ]
    if changed:
        key = changed[0]
        raise ConfigError(
            f"{directory.parent} holds a run with {key} = {old.get(key)}, not {new.get(key)};"
            " give another --out, or --restart to throw that run away"
        )


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Two levels of sections as one: ``train.seed``."""
    return {f"{section}.{key}": v for section, part in values.items() for key, v in part.items()}
