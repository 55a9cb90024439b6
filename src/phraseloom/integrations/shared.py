"""One loaded extractor for all components and estimators of a process."""

from functools import lru_cache
from multiprocessing import parent_process
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phraseloom.extractor import Extractor


def shared_extractor(model: str | None) -> "Extractor":
    """The extractor of a model, loaded at its first use in a process.

    Whoever calls this holds no extractor of its own, so it can be copied, pickled and sent to
    another process at no cost: a grid search makes dozens of copies.
    """
    # imports inside these functions: torch takes seconds to load
    if parent_process() is not None:
        import torch

        # several workers share the cores; and a forked one would wait for its parent's threads
        torch.set_num_threads(1)
    return _load(model)


@lru_cache(maxsize=2)
def _load(model: str | None) -> "Extractor":
    from phraseloom.extractor import Extractor

    return Extractor.load(model)
