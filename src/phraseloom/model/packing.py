"""Weights made small enough to ship: word vectors in 8 bits, everything else in 16."""

from collections.abc import Mapping

import torch
from torch import Tensor

TABLES = ("encoder.words.table", "encoder.words.ngrams")
"""What is large: one row a word or bucket, each with a scale of its own."""
_SCALE = ".scale"


def pack(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Round weights: rows of the tables to 255 steps, all others to half precision."""
    packed = {}
    for name, tensor in weights.items():
        if name in TABLES:
            scale = tensor.abs().amax(dim=1, keepdim=True) / 127  # (V, 1)
            steps = tensor / scale.clamp(min=torch.finfo(torch.float32).tiny)
            packed[name] = steps.round().to(torch.int8)  # (V, D_w)
            packed[name + _SCALE] = scale
        else:
            packed[name] = tensor.half()
    return packed


def unpack(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights in full precision, whether they were packed or not."""
    unpacked = {}
    for name, tensor in weights.items():
        if name.endswith(_SCALE) and name.removesuffix(_SCALE) in weights:
            continue
        scale = weights.get(name + _SCALE)
        unpacked[name] = tensor.float() if scale is None else tensor.float() * scale
    return unpacked
