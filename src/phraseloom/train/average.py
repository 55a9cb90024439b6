"""Averaged weights: a moving mean over the steps, which generalises better than the last step."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor

from phraseloom.model.network import KeyphraseModel


class WeightAverage:
    """Exponential moving average of the parameters that learn.

    The decay of update n is at most ``(1 + n) / (10 + n)``, so that the first, random weights are
    soon forgotten.
    """

    def __init__(self, model: KeyphraseModel, decay: float) -> None:
        self.decay = decay
        self.weights = {
            name: parameter.detach().clone()
            for name, parameter in model.named_parameters()
            if parameter.requires_grad
        }

    @torch.no_grad()
    def update(self, model: KeyphraseModel, number: int) -> None:
        """Take in the weights after update ``number``, counted from zero."""
        decay = min(self.decay, (1 + number) / (10 + number))
        parameters = dict(model.named_parameters())
        current = [parameters[name].data for name in self.weights]
        torch._foreach_lerp_(list(self.weights.values()), current, 1 - decay)

    @contextmanager
    def applied(self, model: KeyphraseModel) -> Iterator[None]:
        """Let the model have the averaged weights for a while."""
        self._swap(model)
        try:
            yield
        finally:
            self._swap(model)

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Put back weights that were saved."""
        self.weights = {name: tensors[name].clone() for name in self.weights}

    def _swap(self, model: KeyphraseModel) -> None:
        parameters = dict(model.named_parameters())
        for name, weight in self.weights.items():
            self.weights[name], parameters[name].data = parameters[name].data, weight
