"""The mean of several models: of one run's phases, it is often better than each of them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from phraseloom.config import Config
from phraseloom.errors import CheckpointError
from phraseloom.network.model import KeyphraseModel
from phraseloom.network.registry import find_installed
from phraseloom.network.weights import full_arrays, load_model


def load_mean(directories: Sequence[Path]) -> tuple[KeyphraseModel, Config]:
    """Read models and give each weight the mean of theirs; the last one's configuration counts.

    They must be of one family, such as phases of which each began with the weights of the one
    before, and may be named more than once to count for more; what phrases each knows does not
    matter. The mean of strangers is worth nothing, but nothing in the files tells them apart.

    Raises:
        CheckpointError: a model cannot be read, or has other words or another shape than the last.
    """
    *others, last = directories
    model, config = load_model(find_installed(last))
    totals = {name: array.copy() for name, array in full_arrays(model.weights).items()}
    for directory in others:
        other, _ = load_model(find_installed(directory))
        arrays = full_arrays(other.weights)
        shapes = {name: array.shape for name, array in arrays.items()}
        lexicon = replace(other.lexicon, glossary=model.lexicon.glossary)
        if lexicon != model.lexicon or shapes != {n: a.shape for n, a in totals.items()}:
            raise CheckpointError(
                f"{directory} and {last} have different words or shapes, so their weights have no"
                " mean; give models of which one was begun from the other (train.init)"
            )
        for name, array in arrays.items():
            totals[name] += array
    mean = {name: total / np.float32(len(directories)) for name, total in totals.items()}
    return KeyphraseModel(model.config, model.lexicon, mean), config
