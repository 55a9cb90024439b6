"""A phrase that search found, with everything that made it win."""

import math
import sys
from dataclasses import dataclass

from phraseloom.search.step import Phrase


@dataclass(frozen=True, slots=True)
class Found:
    """A finished phrase of one document.

    Attributes:
        number: which phrase of its document it is, p, from 1.
        slots: its words.
        log_prob: natural log of its probability given the phrases before it, the end included.
        score: see `score_of`; in a list of all that finished, what `ExpectedList` makes of it.
        dissimilarity: DP in [0, 1] against the phrases before it.
        sibling_rank: SP, rank from 0 of the end among what could have followed the last word.
        end_prob: share of EOS in the probability of its end.
        total: the diversified score that the search maximises.
    """

    number: int
    slots: Phrase
    log_prob: float
    score: float
    dissimilarity: float
    sibling_rank: int
    end_prob: float
    total: float


def score_of(normalised_log_prob: float) -> float:
    """Turn a length-normalised log-probability into a score in (0, 1].

    With ``alpha = 0`` this is the probability that the model says this phrase next, given the
    phrases said before it; with ``alpha > 0`` the same, made fair to long phrases. It leaves out
    the diversity terms, which only say which phrase to take.
    """
    return min(1.0, max(sys.float_info.min, math.exp(min(normalised_log_prob, 0.0))))
