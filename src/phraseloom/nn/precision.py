"""What keeps all its bits where products of matrices have fewer (`torch.autocast`)."""

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch.amp import custom_fwd

Forward = TypeVar("Forward", bound=Callable[..., Any])


def in_full(forward: Forward) -> Forward:
    """Decorate the forward pass of an autograd function: it gets 32 bits and adds up in them."""
    return custom_fwd(forward, device_type="cpu", cast_inputs=torch.float32)
