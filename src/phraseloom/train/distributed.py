"""Several processes that train one model: each learns from its share of every batch.

Started by ``torchrun``, which tells each process its rank. Losses are sums and are divided by the
number of targets of the *whole* batch, so adding up the gradients gives one process's gradient.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from phraseloom.data.loader import ALONE, Share


@contextmanager
def process_group() -> Iterator[Share]:
    """Join the processes that torchrun started, if it did, until the run ends."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield ALONE
        return
    dist.init_process_group("gloo")
    try:
        yield Share(dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()


def add_up(values: Tensor, share: Share) -> Tensor:
    """Sum of a tensor over the processes, in place."""
    if share.processes > 1:
        dist.all_reduce(values)
    return values


def add_up_gradients(model: nn.Module, share: Share) -> None:
    """Replace every gradient by its sum over the processes, in one message."""
    if share.processes == 1:
        return
    learned = [each for each in model.parameters() if each.requires_grad]
    for parameter in learned:
        if parameter.grad is None:  # this process had no document
            parameter.grad = torch.zeros_like(parameter)
    gradients = [each.grad for each in learned if each.grad is not None]
    flat = add_up(torch.cat([gradient.flatten() for gradient in gradients]), share)
    for gradient, part in zip(gradients, flat.split([g.numel() for g in gradients]), strict=True):
        gradient.copy_(part.view_as(gradient))


def from_first(value: Any, share: Share) -> Any:
    """What the first process has, in all of them."""
    if share.processes == 1:
        return value
    values = [value]
    dist.broadcast_object_list(values, src=0)
    return values[0]
