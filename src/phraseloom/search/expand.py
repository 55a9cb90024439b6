"""One step of the beam: every way to go on from every live hypothesis, scored.

Axes: D documents, K live hypotheses, S slots, C words that may follow a hypothesis. Live hypotheses
all have the same number of words, t.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from phraseloom.search.allowed import Allowed, Continuations
from phraseloom.search.penalties import SaidGrams, dissimilarity, normalise_length, sibling_ranks
from phraseloom.search.said import Said
from phraseloom.search.seeds import Handicaps
from phraseloom.search.settings import Settings
from phraseloom.search.step import EOS, SEP

NEVER = float("-inf")
"""Log-probability of what is not allowed."""


@dataclass(frozen=True)
class Task:
    """Find the next phrase of these documents, knowing what was said of them."""

    documents: Sequence[int]
    said: Said
    allowed: Allowed
    settings: Settings
    handicaps: Handicaps | None = None


class Beam(NamedTuple):
    """The live hypotheses, best first; dead ones fill the rows up, with log-probability -inf."""

    words: Tensor  # (D, K, t), int64
    places: Tensor  # (D, K), int64, see `Allowed`
    log_probs: Tensor  # (D, K)
    said_words: Tensor  # (D, K), how many of the words were said before
    said_pairs: Tensor  # (D, K), how many of the pairs of neighbours were


class Candidates(NamedTuple):
    """Ways to go on from the live hypotheses: column 0 of the last axis is the end, then words.

    Once the best are chosen, hypothesis and continuation share one axis: ``(D, B)``.
    """

    slots: Tensor  # (D, K, 1 + C), int64; SEP for the end
    places: Tensor  # (D, K, 1 + C), int64
    log_probs: Tensor  # (D, K, 1 + C), of the hypothesis with this continuation
    said_words: Tensor  # (D, K, 1 + C)
    said_pairs: Tensor  # (D, K, 1 + C)
    end_probs: Tensor  # (D, K, 1 + C), share of EOS in the end of the hypothesis
    normalised: Tensor  # (D, K, 1 + C), length-normalised log-probability, less the handicap
    dissimilarities: Tensor  # (D, K, 1 + C), DP
    ranks: Tensor  # (D, K, 1 + C), SP
    totals: Tensor  # (D, K, 1 + C), what the beam is chosen by; -inf: not allowed


def begin(task: Task, log_probs: Tensor) -> Beam:
    """One hypothesis per document: the empty phrase. ``log_probs`` is ``(D, 1, S)``."""
    zeros = log_probs.new_zeros(log_probs.shape[:2])  # (D, 1)
    words = torch.empty(*zeros.shape, 0, dtype=torch.int64)  # (D, 1, 0)
    return Beam(words, task.allowed.start(task.documents), zeros, zeros, zeros)


def expand(task: Task, grams: SaidGrams, beam: Beam, log_probs: Tensor) -> Candidates:
    """Score every continuation of every live hypothesis.

    Args:
        task: the documents and settings.
        grams: words and pairs said of these documents.
        beam: the live hypotheses.
        log_probs: what the decoder says may follow them, ``(D, K, S)``.
    """
    settings, length = task.settings, beam.words.shape[2]
    follow = _follow(task, beam, log_probs.shape[2])
    steps = _step_log_probs(task, beam, follow, log_probs)  # (D, K, 1 + C)
    lengths = log_probs.new_full(steps.shape[2:], length + 1)  # (1 + C,)
    lengths[0] = max(length, 1)  # the empty phrase cannot end: 1 keeps its arithmetic finite
    said_words = _extend(beam.said_words, grams.has_word(follow.slots))  # (D, K, 1 + C)
    said_pairs = _extend(beam.said_pairs, grams.has_pair(beam.words, follow.slots))  # (D, K, 1 + C)
    sums = beam.log_probs[:, :, None] + steps  # (D, K, 1 + C)
    normalised = normalise_length(sums, lengths, settings.alpha)  # (D, K, 1 + C)
    if task.handicaps is not None:
        normalised -= task.handicaps.of(beam.places, follow.places)  # (D, K, 1 + C)
    dissimilarities = dissimilarity(said_words, said_pairs, lengths)  # (D, K, 1 + C)
    ranks = sibling_ranks(steps)  # (D, K, 1 + C)
    end_probs = (log_probs[:, :, EOS] - log_probs[:, :, SEP]).sigmoid()  # (D, K)
    return Candidates(
        slots=_put_end(follow.slots, SEP),
        places=_put_end(follow.places, task.allowed.nowhere),
        log_probs=sums,
        said_words=said_words,
        said_pairs=said_pairs,
        end_probs=end_probs[:, :, None].expand_as(steps),
        normalised=normalised,
        dissimilarities=dissimilarities,
        ranks=ranks,
        totals=normalised + settings.lambda1 * dissimilarities - settings.lambda2 * ranks,
    )


def _follow(task: Task, beam: Beam, slots: int) -> Continuations:
    """Which words may follow, without those that lead only to what was said; ``slots`` is S."""
    follow = task.allowed.follow(beam.places, slots)
    if beam.words.shape[2] == task.settings.max_words:
        return Continuations(*(field[:, :, :0] for field in follow))
    spent = task.said.find_spent(task.documents, beam.words, follow.slots)  # (D, K, C)
    return follow._replace(mask=follow.mask & ~spent)


def _step_log_probs(task: Task, beam: Beam, follow: Continuations, log_probs: Tensor) -> Tensor:
    """Log-probability of each continuation alone, ``(D, K, 1 + C)``; -inf if not allowed."""
    ends = torch.logaddexp(log_probs[:, :, SEP], log_probs[:, :, EOS])  # (D, K)
    if beam.words.shape[2] == 0:
        ends = torch.full_like(ends, NEVER)  # (D, K)
    ends = ends.masked_fill(~task.allowed.can_end(beam.places), NEVER)  # (D, K)
    ends = ends.masked_fill(task.said.find_said(task.documents, beam.words), NEVER)  # (D, K)
    words = log_probs.gather(2, follow.slots).masked_fill(~follow.mask, NEVER)  # (D, K, C)
    return torch.cat([ends[:, :, None], words], 2)  # (D, K, 1 + C)


def _extend(counts: Tensor, hits: Tensor) -> Tensor:
    """Count on: the end adds nothing to ``(D, K)``, a word its hit, ``(D, K, C)``."""
    counts = counts[:, :, None]  # (D, K, 1)
    return torch.cat([counts, counts + hits], 2)  # (D, K, 1 + C)


def _put_end(words: Tensor, end: int) -> Tensor:
    """Put a column for the end before those of the words."""
    return torch.nn.functional.pad(words, (1, 0), value=end)  # (D, K, 1 + C)
