"""Padded tensors: how packed rows get into them, and softmax over what is real."""

from torch import Tensor


def pad_rows(rows: Tensor, places: Tensor, *, size: int) -> Tensor:
    """Put packed rows ``(M, D)`` at ``places`` of an otherwise zero ``(size, D)``; all distinct."""
    padded = rows.new_zeros(size, rows.shape[1])  # (size, D)
    return padded.index_copy(0, places, rows)  # (size, D)


def masked_log_softmax(logits: Tensor, mask: Tensor) -> Tensor:
    """Natural logs of probabilities over the last axis; ``-inf`` where the mask is false.

    Every row of the mask has something true in it.
    """
    return logits.masked_fill(~mask, -float("inf")).log_softmax(-1)
