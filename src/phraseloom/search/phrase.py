"""Beam search for the next phrase of each document of a batch: the paper's Algorithm 1.

Axes as in `expand`; B is the beam's width, T the most words of a phrase, F counts finished phrases.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from phraseloom.search.expand import NEVER, Beam, Candidates, Task, begin, expand
from phraseloom.search.found import Found, score_of
from phraseloom.search.penalties import SaidGrams, normalise_length
from phraseloom.search.settings import Settings
from phraseloom.search.step import SEP, S, Step


class Finished(NamedTuple):
    """Hypotheses of one length, chosen with their end; the others have total -inf."""

    words: Tensor  # (D, F, T), int64, padded
    parts: Tensor  # (D, F, 7): total, length, log_prob, normalised, DP, SP, share of EOS


NEGLIGIBLE = 0.003
"""A phrase with a lower score is of no interest beside the winner."""


def find_next(step: Step[S], state: S, task: Task, keep: int) -> list[list[Found]]:
    """Find the best next phrase of each document.

    Equation (S5): at each length the best B of all continuations of the live hypotheses are chosen,
    words and ends alike. A hypothesis chosen with its end is finished: it leaves the beam and keeps
    its score. The others live on. The finished hypothesis with the best score wins; of equals the
    shortest, then the one whose parent was better, then the one with the lower slot.

    Args:
        step: the decoder.
        state: what ``step.begin`` gave for the documents of the task.
        task: what to look for.
        keep: how many finished phrases to return per document, at most.

    Returns:
        The best finished phrases of each document, best first; none if it has no more phrases.
        Once none of its live hypotheses can win any more, those that can only end as `NEGLIGIBLE`
        are given up or, if one phrase is to be kept, all of them; that does not change the winner.
    """
    inputs = torch.full((len(task.documents), 1), SEP)  # (D, 1)
    log_probs, state = step.advance(inputs, state)  # (D, 1, S)
    said = [task.said.phrases[document] for document in task.documents]
    grams = SaidGrams.of(said, log_probs.shape[2])
    beam = begin(task, log_probs)
    finished: list[Finished] = []
    while True:
        candidates = expand(task, grams, beam, log_probs)
        index = best_indices(candidates.totals.flatten(1), task.settings.width)  # (D, B)
        chosen = Candidates(*(field.flatten(1).gather(1, index) for field in candidates))
        parents = index // candidates.slots.shape[2]  # (D, B)
        ends = index % candidates.slots.shape[2] == 0  # (D, B)
        finished.append(_finish(beam, chosen, parents, ends, task.settings))
        live = ~ends & (chosen.totals > NEVER)  # (D, B)
        matters = _can_win(chosen, live, finished, task.settings)  # (D, 1)
        if keep > 1:
            matters = matters | _can_matter(chosen, task.settings)  # (D, B)
        live &= matters  # (D, B)
        if not live.any():
            return _collect(finished, task, keep)
        beam, parents = _grow(beam, chosen, parents, live, task.allowed.nowhere)
        log_probs, state = step.advance(beam.words[:, :, -1], state.select(parents))  # (D, K, S)


def best_indices(scores: Tensor, count: int) -> Tensor:
    """Where the best scores of each row stand, best first; of equals the first.

    ``topk`` promises nothing about equals, and a full stable sort is several times slower.

    Args:
        scores: ``(D, M)``.
        count: how many are wanted; of shorter rows, all are given.

    Returns:
        Columns, ``(D, min(count, M))``, int64.
    """
    count = min(count, scores.shape[1])
    worst = scores.topk(count, dim=1).values[:, -1:]  # (D, 1)
    above, level = scores > worst, scores == worst  # (D, M), (D, M)
    room = count - above.sum(1, keepdim=True)  # (D, 1)
    taken = above | (level & (level.cumsum(1) <= room))  # (D, M)
    columns = taken.nonzero()[:, 1].view(-1, count)  # (D, count)
    order = scores.gather(1, columns).sort(dim=1, descending=True, stable=True).indices
    return columns.gather(1, order)  # (D, count)


def _finish(
    beam: Beam, chosen: Candidates, parents: Tensor, ends: Tensor, settings: Settings
) -> Finished:
    """Set aside the hypotheses that were chosen with their end."""
    length = beam.words.shape[2]
    words = _rows(beam.words, parents)  # (D, B, t)
    totals = chosen.totals.masked_fill(~ends, NEVER)  # (D, B)
    parts = [
        totals,
        torch.full_like(totals, length),
        chosen.log_probs,
        chosen.normalised,
        chosen.dissimilarities,
        chosen.ranks,
        chosen.end_probs,
    ]
    padding = (0, settings.max_words - length)
    return Finished(torch.nn.functional.pad(words, padding), torch.stack(parts, 2))


def _can_win(
    chosen: Candidates, live: Tensor, finished: list[Finished], settings: Settings
) -> Tensor:
    """Whether any live hypothesis of a document may still beat its best finished one, ``(D, 1)``.

    A hypothesis can only become less probable; at best it keeps its probability, grows to the
    length that normalises it best, and has nothing in common with what was said.
    """
    best = (
        torch.stack([each.parts[:, :, 0].max(1).values for each in finished]).max(0).values
    )  # (D,)
    bounds = _best_normalised(chosen, settings) + settings.lambda1  # (D, B)
    return ((bounds >= best[:, None]) & live).any(1, keepdim=True)  # (D, 1)


def _can_matter(chosen: Candidates, settings: Settings) -> Tensor:
    """Whether a hypothesis may still have a score that is not negligible, ``(D, B)``."""
    return _best_normalised(chosen, settings) >= math.log(NEGLIGIBLE)  # (D, B)


def _best_normalised(chosen: Candidates, settings: Settings) -> Tensor:
    """What length-normalised log-probability a hypothesis may end with at best, ``(D, B)``."""
    longest = chosen.log_probs.new_tensor(settings.max_words)
    return normalise_length(chosen.log_probs, longest, settings.alpha)  # (D, B)


def _grow(
    beam: Beam, chosen: Candidates, parents: Tensor, live: Tensor, nowhere: int
) -> tuple[Beam, Tensor]:
    """Make a beam of the live ones among the chosen; return it and their parents, ``(D, K)``."""
    columns = int(live.sum(1).max())
    order = live.int().sort(dim=1, descending=True, stable=True).indices[:, :columns]  # (D, K)
    live, parents = live.gather(1, order), parents.gather(1, order)  # (D, K), (D, K)
    # The dead read SEP, a slot that every document has.
    last = chosen.slots.gather(1, order).where(live, SEP)[:, :, None]  # (D, K, 1)
    grown = Beam(
        words=torch.cat([_rows(beam.words, parents), last], 2),  # (D, K, t + 1)
        places=chosen.places.gather(1, order).where(live, nowhere),
        log_probs=chosen.log_probs.gather(1, order).masked_fill(~live, NEVER),
        said_words=chosen.said_words.gather(1, order),
        said_pairs=chosen.said_pairs.gather(1, order),
    )
    return grown, parents


def _rows(words: Tensor, parents: Tensor) -> Tensor:
    """Words ``(D, K, t)`` of the hypotheses in columns ``parents``, ``(D, B)``: ``(D, B, t)``."""
    return words.gather(1, parents[:, :, None].expand(-1, -1, words.shape[2]))


def _collect(finished: list[Finished], task: Task, keep: int) -> list[list[Found]]:
    """Read the best finished phrases of each document out of the tensors."""
    words = torch.cat([each.words for each in finished], 1)  # (D, F, T)
    parts = torch.cat([each.parts for each in finished], 1)  # (D, F, 7)
    index = best_indices(parts[:, :, 0], keep)  # (D, keep)
    words, parts = _rows(words, index), _rows(parts, index)  # (D, keep, T), (D, keep, 7)
    return [
        [
            _read(slots, values, len(task.said.phrases[document]) + 1)
            for slots, values in zip(*rows, strict=True)
            if values[0] > NEVER
        ]
        for document, *rows in zip(task.documents, words.tolist(), parts.tolist(), strict=True)
    ]


def _read(slots: list[int], parts: list[float], number: int) -> Found:
    total, length, log_prob, normalised, dissimilarity, rank, end_prob = parts
    return Found(
        number=number,
        slots=tuple(slots[: int(length)]),
        log_prob=log_prob,
        score=score_of(normalised),
        dissimilarity=dissimilarity,
        sibling_rank=int(rank),
        end_prob=end_prob,
        total=total,
    )
