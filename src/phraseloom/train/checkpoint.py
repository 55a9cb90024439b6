"""A run on disk: ``last`` and ``previous`` to go on from, ``best`` to use."""

import json
import logging
import shutil
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import torch

from phraseloom.config import Config
from phraseloom.errors import CheckpointError, ConfigError, TrainingError
from phraseloom.network.lexicon import Lexicon
from phraseloom.network.model import KeyphraseModel
from phraseloom.network.weights import (
    BEST,
    check_directory,
    load_arrays,
    load_model,
    replace_directory,
    save_arrays,
    write_model,
)
from phraseloom.train.learner import Learner, LossSums, TrainState
from phraseloom.train.metrics_log import CURVES, EVENTS, METRICS
from phraseloom.train.ops import as_arrays

LAST, PREVIOUS = "last", "previous"
_OPTIMIZER, _EMA, _STATE = "optimizer.safetensors", "ema.safetensors", "state.json"
_MAY_CHANGE = {
    *("train.epochs", "train.minutes", "train.patience", "train.device", "train.tensorboard")
}
"""Settings that say when a run ends or where its metrics go, not what it computes."""

_logger = logging.getLogger(__name__)


def save_checkpoint(out: Path, learner: Learner, lexicon: Lexicon) -> None:
    """Put what a run needs to go on into ``last``; what was there becomes ``previous``."""
    for name, weight in learner.weights.items():
        if not bool(torch.isfinite(weight).all()):
            raise TrainingError(
                f"the weights {name} are not finite after step {learner.state.step}; the checkpoint"
                " before it is kept. Start again with --restart and a smaller train.learning_rate"
            )

    def write(directory: Path) -> None:
        config = learner.config
        model = KeyphraseModel(config.model, lexicon, as_arrays(learner.weights))
        write_model(directory, model, config)
        save_arrays(directory / _OPTIMIZER, learner.optimizer_arrays())
        if learner.ema:
            save_arrays(directory / _EMA, as_arrays(learner.ema))
        state = json.dumps(asdict(learner.state), indent=1)
        (directory / _STATE).write_text(f"{state}\n", encoding="utf-8")

    replace_directory(out / LAST, write, keep=out / PREVIOUS)


def find_checkpoint(out: Path) -> Path | None:
    """The newest whole checkpoint of a run, with a warning if that is not the last; or none."""
    problems = []
    for name in (LAST, PREVIOUS):
        if not (out / name).is_dir():
            continue
        try:
            check_directory(out / name, required=(_OPTIMIZER, _STATE))
        except CheckpointError as error:
            problems.append(str(error))
            continue
        if problems:
            _logger.warning("%s: going on from %s instead", problems[0], out / name)
        return out / name
    if problems:
        raise CheckpointError(f"{problems[0]}, or start again with --restart")
    return None


def load_checkpoint(directory: Path, config: Config) -> tuple[KeyphraseModel, TrainState]:
    """Weights and counters to go on from, if they belong to this configuration."""
    model, saved = load_model(directory)
    refuse_other(directory, saved, config)
    return model, load_state(directory)


def restore_learner(directory: Path, learner: Learner) -> None:
    """Put the optimiser's state and the moving average back."""
    ema = load_arrays(directory / _EMA) if learner.ema else {}
    learner.restore(load_arrays(directory / _OPTIMIZER), ema)


def clear(out: Path) -> None:
    """Remove a run, and only what a run writes."""
    for name in (LAST, PREVIOUS, BEST, f"{BEST}.previous", EVENTS):
        shutil.rmtree(out / name, ignore_errors=True)
    for name in (METRICS, CURVES):
        (out / name).unlink(missing_ok=True)


def load_state(directory: Path) -> TrainState:
    """Counters of a checkpoint."""
    path = directory / _STATE
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if values.keys() != {field.name for field in fields(TrainState)}:
            raise CheckpointError(f"{path} was written by another version of phraseloom")
        return TrainState(**{**values, "sums": LossSums(**values["sums"])})
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise CheckpointError(f"{path} is damaged: {error}") from None


def refuse_other(directory: Path, saved: Config, config: Config) -> None:
    """A run goes on under the configuration that it began with, but for when it ends."""
    old, new = _flat(saved.model_dump(mode="json")), _flat(config.model_dump(mode="json"))
    for key in sorted(old.keys() | new.keys()):
        if key not in _MAY_CHANGE and old.get(key) != new.get(key):
            raise ConfigError(
                f"{directory.parent} holds a run with {key} = {old.get(key)}, not {new.get(key)};"
                " give another --out, or --restart to throw that run away"
            )


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Two levels of sections as one: ``train.seed``."""
    flat: dict[str, Any] = {}
    for section, part in values.items():
        is_section = isinstance(part, Mapping)
        flat |= (
            {f"{section}.{key}": v for key, v in part.items()} if is_section else {section: part}
        )
    return flat
