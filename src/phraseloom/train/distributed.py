"""Several processes that train one model: each learns from its part of every batch.

Started by ``torchrun``, which tells each process its rank. Losses are sums and are divided by the
number of targets of the *whole* batch, so adding up the gradients gives one process's gradient.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import Parameter

from phraseloom.errors import ConfigError
from phraseloom.train.corpus.loader import SINGLE_PROCESS, ProcessRank


@contextmanager
def process_group() -> Iterator[ProcessRank]:
    """Join the processes that torchrun started, if it did, until the run ends."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield SINGLE_PROCESS
        return
    dist.init_process_group(None if torch.cuda.is_available() else "gloo")  # None: both, NCCL too
    try:
        yield ProcessRank(dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()


def find_device(name: str, process: ProcessRank = SINGLE_PROCESS) -> torch.device:
    """The device of a process; of several GPUs, one each.

    Raises:
        ConfigError: torch does not see it.
    """
    seen = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if name == "auto":
        name = next((device for device, is_there in seen.items() if is_there), "cpu")
    if not seen.get(name, True):
        raise ConfigError(
            f"torch {torch.__version__} sees no {name} device; set train.device=cpu, or install a"
            " torch that was built for it"
        )
    if name != "cuda":
        return torch.device(name)
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", process.rank)))
    torch.cuda.set_device(device)
    return device


def add_up(values: Tensor, process: ProcessRank) -> Tensor:
    """Sum of a tensor over the processes, in place."""
    if process.world_size > 1:
        dist.all_reduce(values)
    return values


def add_up_gradients(learned: Sequence[Parameter], process: ProcessRank) -> None:
    """Replace every gradient by its sum over the processes, in one message."""
    if process.world_size == 1:
        return
    # none: this process had no document
    gradients = [torch.zeros_like(w) if w.grad is None else w.grad for w in learned]
    flat = add_up(torch.cat([gradient.flatten() for gradient in gradients]), process)
    for weight, part in zip(learned, flat.split([w.numel() for w in learned]), strict=True):
        weight.grad = part.view_as(weight)


def from_first(value: Any, process: ProcessRank) -> Any:
    """What the first process has, in all of them."""
    if process.world_size == 1:
        return value
    values = [value]
    dist.broadcast_object_list(values, src=0)
    return values[0]
