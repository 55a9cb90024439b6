"""Keyphrase metrics over many documents at once: arrays in, one value in [0, 1] a document out.

A cut-off is an array too, ``(D,)``, since @M and @O differ from document to document. The two ways
of counting predictions are two functions: `count_filled` and `count_unfilled`.
"""

import numpy as np

from phraseloom.evaluate.rankings import Array


def ratio(numerator: Array, denominator: Array) -> Array:
    """Quotient that is zero where there is nothing to divide by."""
    quotient: Array = np.divide(
        numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0
    )
    return quotient


def harmonic_mean(precision: Array, recall: Array) -> Array:
    """F1 of precision and recall; zero where both are."""
    return ratio(2 * precision * recall, precision + recall)


def sum_up_to(values: Array, cutoff: Array) -> Array:
    """Sum of each row's first ``cutoff`` values.

    Args:
        values: one column a rank, ``(D, L)``.
        cutoff: how many of a row count, ``(D,)``; may exceed L.
    """
    sums = np.zeros((values.shape[0], values.shape[1] + 1))  # (D, L + 1), from the empty sum on
    np.cumsum(values, axis=1, out=sums[:, 1:])
    last = np.minimum(cutoff, values.shape[1]).astype(np.intp)  # (D,)
    summed: Array = np.take_along_axis(sums, last[:, None], axis=1)[:, 0]
    return summed


def count_filled(predicted: Array, cutoff: Array) -> Array:
    """Predictions to divide by: the cut-off, as if a short list were filled up with wrong ones.

    An empty list stays empty, as in the literature's script; it matters to micro averages only.
    """
    return np.where(predicted > 0, cutoff, 0.0)


def count_unfilled(predicted: Array, cutoff: Array) -> Array:
    """Predictions to divide by: those that were made, up to the cut-off."""
    counted: Array = np.minimum(predicted, cutoff)
    return counted


def average_precision(hits: Array, targets: Array, cutoff: Array) -> Array:
    """Sum of precision at each hit's rank up to the cut-off, over the number of targets."""
    ranks = np.arange(1, hits.shape[1] + 1)  # (L,)
    precision_at_hits = hits * np.cumsum(hits, axis=1) / ranks  # (D, L)
    return ratio(sum_up_to(precision_at_hits, cutoff), targets)


def ndcg(gains: Array, ideal_gains: Array, cutoff: Array) -> Array:
    """Discounted gain over that of the ideal order, both up to the cut-off.

    It measures order, not recall, for both orders hold the same predictions. The greedy order of
    α-NDCG is not always the best one, so the quotient is held at 1.
    """
    discount = 1 / np.log2(np.arange(2, gains.shape[1] + 2))  # (L,)
    gained = sum_up_to(gains * discount, cutoff)
    return np.minimum(ratio(gained, sum_up_to(ideal_gains * discount, cutoff)), 1.0)


def hits_first(hits: Array) -> Array:
    """Rows with their hits in front: the ideal order for NDCG."""
    ordered: Array = -np.sort(-hits, axis=1)
    return ordered
