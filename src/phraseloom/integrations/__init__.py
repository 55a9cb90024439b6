"""Keyphrases inside other libraries: as a spaCy component, as scikit-learn vectors, as KeyBERT."""

import os
from functools import lru_cache
from typing import TYPE_CHECKING

from phraseloom.errors import CheckpointError, shown

if TYPE_CHECKING:
    from phraseloom.extractor import Extractor


def shared_extractor(model: str | None) -> "Extractor":
    """The extractor of a model, loaded at its first use in a process.

    Whoever calls this holds no extractor of its own, so it can be copied, pickled and sent to
    another process at no cost: a grid search makes dozens of copies.
    """
    if not isinstance(model, str | os.PathLike | None):
        raise CheckpointError(f"model must be a name or a directory, not {shown(model)}")
    return _load(model)


@lru_cache(maxsize=2)
def _load(model: str | None) -> "Extractor":
    from phraseloom.extractor import Extractor  # here: start-up time

    return Extractor.load(model)
