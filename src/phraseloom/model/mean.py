"""The mean of several models: of one run's phases, it is often better than each of them."""

from collections.abc import Sequence
from pathlib import Path

import torch

from phraseloom.config import Config
from phraseloom.data.lexicon import Lexicon
from phraseloom.errors import CheckpointError
from phraseloom.model.checkpoint import load_model
from phraseloom.model.network import KeyphraseModel


@torch.no_grad()
def load_mean(directories: Sequence[Path]) -> tuple[KeyphraseModel, Lexicon, Config]:
    """Read models and give each weight the mean of theirs; the last one's configuration counts.

    They must be of one family, such as phases of which each began with the weights of the one
    before. The mean of strangers is worth nothing, but nothing in the files tells them apart.

    Raises:
        CheckpointError: a model cannot be read, or has other words or another shape than the last.
    """
    *others, last = directories
    model, lexicon, config = load_model(last)
    total = dict(model.state_dict())  # its tensors are the model's own
    for place in others:
        other, words, _ = load_model(place)
        weights = other.state_dict()
        if words != lexicon or _shapes(weights) != _shapes(total):
            raise CheckpointError(
                f"{place} and {last} have different words or shapes, so their weights have no"
                " mean; give models of which one was begun from the other (train.init)"
            )
        for name, weight in weights.items():
            total[name].add_(weight)
    for weight in total.values():
        weight.div_(len(directories))
    return model, lexicon, config


def _shapes(weights: dict[str, torch.Tensor]) -> dict[str, torch.Size]:
    return {name: weight.shape for name, weight in weights.items()}
