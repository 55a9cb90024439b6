"""Adam, its learning rate as a function of the step, and its state as named tensors."""

from collections.abc import Mapping

import torch
from torch import Tensor

from phraseloom.config import TrainConfig
from phraseloom.model.network import KeyphraseModel

_MOMENTS = ("step", "exp_avg", "exp_avg_sq")


def build_optimizer(model: KeyphraseModel, config: TrainConfig) -> torch.optim.Adam:
    """Adam with a rate of its own for word vectors, which are fixed if that is zero."""
    table = model.encoder.words.table
    table.requires_grad_(config.vectors_rate > 0)
    others = [each for each in model.parameters() if each is not table]
    groups = [{"params": others, "factor": 1.0}]
    if config.vectors_rate > 0:
        groups.append({"params": [table], "factor": config.vectors_rate})
    return torch.optim.Adam(groups, lr=config.learning_rate, fused=True)


def rate_at(step: int, halvings: int, config: TrainConfig) -> float:
    """Learning rate of a step, counted from zero: rises while warming up, then only falls."""
    risen = min(1.0, (step + 1) / config.warmup) if config.warmup else 1.0
    left = max(0.0, 1 - step / config.steps) if config.steps else 1.0
    return config.learning_rate * risen * left * 0.5**halvings


def set_rate(optimizer: torch.optim.Adam, rate: float) -> None:
    """Use this learning rate from now on."""
    for group in optimizer.param_groups:
        group["lr"] = rate * group["factor"]


def optimizer_tensors(optimizer: torch.optim.Adam, model: KeyphraseModel) -> dict[str, Tensor]:
    """The moments of every parameter that has any, under the parameter's name."""
    return {
        f"{name}:{moment}": optimizer.state[parameter][moment]
        for name, parameter in model.named_parameters()
        if parameter in optimizer.state
        for moment in _MOMENTS
    }


def restore_optimizer(
    optimizer: torch.optim.Adam, model: KeyphraseModel, tensors: Mapping[str, Tensor]
) -> None:
    """Put back what `optimizer_tensors` gave."""
    for name, parameter in model.named_parameters():
        if f"{name}:step" in tensors:
            optimizer.state[parameter] = {
                moment: tensors[f"{name}:{moment}"].clone() for moment in _MOMENTS
            }
