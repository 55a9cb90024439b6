"""Logistic regression by Newton's method, with a pull towards weights that were there before."""

import numpy as np
from numpy.typing import NDArray

from phraseloom.ranker import sigmoid

Array = NDArray[np.float64]

_RIDGE = 10.0
_STEPS = 50
_SMALLEST_STEP = 1e-7


def fit_logistic(
    features: Array,
    targets: Array,
    shares: Array,
    *,
    towards: Array | None = None,
    strength: float = _RIDGE,
) -> Array:
    """Weights of the features for probable targets, ``(F,)``; the first is a bias.

    Args:
        features: ``(C, F)``.
        targets: 0 or 1, ``(C,)``.
        shares: how much each target counts, ``(C,)``.
        towards: weights to stay near where little speaks against them, ``(F,)``; none: zero.
        strength: of that pull, on features of variance one; the bias is free.
    """
    mean, scale = features.mean(axis=0), features.std(axis=0) + 1e-9  # (F,), (F,)
    mean[0], scale[0] = 0.0, 1.0
    inputs = (features - mean) / scale  # (C, F)
    ridge = np.full(len(mean), strength)  # (F,)
    ridge[0] = 1e-9
    start = np.zeros(len(mean)) if towards is None else towards * scale  # (F,)
    if towards is not None:
        start[0] += towards[1:] @ mean[1:]
    weights = start.copy()

    def loss(weights: Array) -> float:
        logits = inputs @ weights  # (C,)
        penalty = ridge @ (weights - start) ** 2 / 2
        return float(shares @ (np.logaddexp(0, logits) - targets * logits) + penalty)

    for _ in range(_STEPS):
        probs = sigmoid(inputs @ weights)  # (C,)
        pull = ridge * (weights - start)  # (F,)
        gradient = inputs.T @ (shares * (targets - probs)) - pull  # (F,)
        curvature = (inputs * (shares * probs * (1 - probs))[:, None]).T @ inputs  # (F, F)
        step = np.linalg.solve(curvature + np.diag(ridge), gradient)
        before = loss(weights)
        while loss(weights + step) > before and np.abs(step).max() > _SMALLEST_STEP:
            step /= 2  # far from the optimum a whole step may go beyond it
        weights += step
        if np.abs(step).max() < _SMALLEST_STEP:
            break
    weights /= scale
    weights[0] -= weights[1:] @ mean[1:]
    return weights
