"""Keyphrases inside other libraries: as a spaCy component, as scikit-learn vectors, as KeyBERT."""

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phraseloom.extractor import Extractor


@lru_cache(maxsize=2)
def shared_extractor(model: str | None) -> "Extractor":
    """The extractor of a model, loaded at its first use in a process.

    Whoever calls this holds no extractor of its own, so it can be copied, pickled and sent to
    another process at no cost: a grid search makes dozens of copies.
    """
    from phraseloom.extractor import Extractor  # here: start-up time

    return Extractor.load(model)
