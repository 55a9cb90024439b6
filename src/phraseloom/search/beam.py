"""Beam search for the next phrase of each document of a batch: the inner loop of Algorithm 1.

The decoder is behind a protocol: nothing here knows of networks. Axes: B documents, K live
hypotheses of each, all of t words, S slots, C continuations of a hypothesis, F chosen continuations
of all documents.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from phraseloom.config import SearchConfig
from phraseloom.search.constraints import (
    Constraint,
    Floats,
    History,
    Ints,
    SeedPenalty,
    dissimilarity,
    normalise_length,
    sibling_ranks,
)
from phraseloom.slots import EOS, SEP, Phrase

NEVER = -math.inf
"""Log-probability of what is not allowed."""
NEGLIGIBLE = 0.003
"""A phrase with a lower score is of no interest beside the winner."""


class State(Protocol):
    """Where each hypothesis of each document stands; rows are documents, columns hypotheses."""

    def select(self, parents: Ints) -> Self:
        """Column k of row b becomes what column ``parents[b, k]`` was; ``(B, K)``."""
        ...


S = TypeVar("S", bound=State)


class Decoder(Protocol[S]):
    """A decoder over a fixed batch of documents: slots in, log-probabilities out."""

    @property
    def slots(self) -> Sequence[int]:
        """How many slots each document has, SEP and EOS included."""
        ...

    def begin(self, documents: Sequence[int], history: Sequence[Sequence[Phrase]]) -> S:
        """Begin the next phrase of these documents, given the phrases before it of each.

        A dynamic model scores its graphs anew here. The state has one hypothesis per document.
        """
        ...

    def advance(self, words: Ints, state: S) -> tuple[Floats, S]:
        """Read one slot per hypothesis, ``(B, K)``, and predict what follows.

        Rows with fewer hypotheses than others are filled up with dead ones, which read SEP; what is
        predicted for those does not matter.

        Returns log-probabilities over slots, ``(B, K, S)``, where S is the number of slots of the
        largest of these documents and slots that a document lacks are ``-inf``; and the state after
        the words.
        """
        ...

    def edge_weights(self, state: S) -> list[NDArray[Any]]:
        """Weight of every graph edge of each document while this phrase is decoded, for a trace."""
        ...


class Hypothesis(NamedTuple):
    """A finished phrase of one document; a plain tuple, since a search makes hundreds.

    Attributes:
        number: which phrase of its document's list it is, p, from 1.
        slots: its words.
        log_prob: natural log of its probability given the phrases before it, the end included.
        score: see `score_of`; in a list of all that finished, what `ExpectedList` makes of it.
        dissimilarity: DP in [0, 1] to the phrases before it.
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

    With ``alpha = 0`` this is the probability that the model writes this phrase next, given the
    phrases before it; with ``alpha > 0`` the same, made fair to long phrases. It leaves out the
    diversity terms, which only decide which phrase to take.
    """
    return min(1.0, max(sys.float_info.min, math.exp(min(normalised_log_prob, 0.0))))


@dataclass(frozen=True)
class Task:
    """What does not change while the lists of a batch are searched, and what was found so far."""

    config: SearchConfig
    constraint: Constraint
    seed_penalty: SeedPenalty | None
    history: History


class Beam(NamedTuple):
    """The live hypotheses, best first; dead ones fill the rows up, with log-probability -inf."""

    words: Ints  # (B, K, t)
    last: Ints  # (B, K), the last of the words; SEP if there is none, or the hypothesis is dead
    nodes: Ints  # (B, K), see `Constraint`
    log_probs: Floats  # (B, K)
    shared_words: Floats  # (B, K), how many of the words are in an earlier phrase
    shared_pairs: Floats  # (B, K), how many of the pairs of neighbours are
    dissimilarities: Floats  # (B, K), DP


class Expansion(NamedTuple):
    """Every way to go on from the live hypotheses: column 0 of the last axis is the end."""

    slots: Ints  # (B, K, C)
    nodes: Ints  # (B, K, C)
    log_probs: Floats  # (B, K, C), of the hypothesis with this continuation
    shared_words: Floats  # (B, K, C)
    shared_pairs: Floats  # (B, K, C)
    normalised: Floats  # (B, K, C), length-normalised log-probability, less the seed penalty
    dissimilarities: Floats  # (B, K, C), DP
    ranks: Floats  # (B, K, C), SP
    totals: Floats  # (B, K, C), what the beam is chosen by; -inf: not allowed


def beam_search(
    decoder: Decoder[S], state: S, task: Task, documents: Ints, keep: int
) -> list[list[Hypothesis]]:
    """Find the best next phrase of each document.

    Equation (S5): at each length the best K of all continuations of the live hypotheses are chosen,
    words and ends alike. A hypothesis chosen with its end is finished: it leaves the beam and keeps
    its score. The others live on. The finished hypothesis with the best score wins; of equals the
    shortest, then the one whose parent was better, then the one with the lower slot.

    Args:
        decoder: predicts what follows.
        state: what ``decoder.begin`` gave for the documents.
        task: what to look for.
        documents: their numbers, ``(B,)``.
        keep: how many finished hypotheses to return per document, at most.

    Returns:
        The best finished hypotheses of each document, best first; none if it has no more phrases.
        Once none of its live hypotheses can win any more, those that can only end as `NEGLIGIBLE`
        are given up or, if one phrase is to be kept, all of them; that does not change the winner.
    """
    start = np.full((len(documents), 1), SEP)  # (B, 1)
    log_probs, state = decoder.advance(start, state)  # (B, 1, S)
    beam = _begin(task, documents, log_probs)
    finished = _Finished([1 + len(task.history.phrases[document]) for document in documents])
    while True:
        expansion = expand(task, documents, beam, log_probs)
        chosen = choose_best(expansion.totals.reshape(len(documents), -1), task.config.beam_width)
        is_end = chosen % expansion.slots.shape[2] == 0  # (F,)
        finished.add(beam, expansion, log_probs, chosen[is_end])
        live = _worth_following(task.config, expansion, chosen[~is_end], finished, keep)  # (F,)
        if not len(live):
            return finished.best_first(keep)
        beam, parents = _grow(task.constraint, beam, expansion, live)
        log_probs, state = decoder.advance(beam.last, state.select(parents))  # (B, K, S)


def _begin(task: Task, documents: Ints, log_probs: Floats) -> Beam:
    """One hypothesis per document: the empty phrase. ``log_probs`` gives the type."""
    nodes = task.constraint.start(documents)  # (B, 1)
    zeros = np.zeros(nodes.shape, log_probs.dtype)  # (B, 1)
    return Beam(
        words=np.empty((*nodes.shape, 0), np.int64),
        last=np.full(nodes.shape, SEP),
        nodes=nodes,
        log_probs=zeros,
        shared_words=zeros,
        shared_pairs=zeros,
        dissimilarities=zeros,  # never looked at: the empty phrase cannot end
    )


def expand(task: Task, documents: Ints, beam: Beam, log_probs: Floats) -> Expansion:
    r"""Score every continuation of every live hypothesis.

    Equation (S4): :math:`\hat\Theta = \Theta + \lambda_1 DP - \lambda_2 SP`, length-normalised
    log-probability, dissimilarity to earlier phrases, rank among siblings. SEP and EOS are one
    continuation, the end, with the sum of their probabilities.

    Args:
        task: what to look for.
        documents: their numbers, ``(B,)``.
        beam: the live hypotheses.
        log_probs: what the decoder predicts after them, ``(B, K, S)``.
    """
    config, (rows, hypotheses, slots) = task.config, log_probs.shape
    words = beam.words.shape[2]
    follow = task.constraint.follow(beam.nodes, words, slots)
    offsets = np.arange(0, log_probs.size, slots).reshape(rows, hypotheses, 1)  # (B, K, 1)
    steps = log_probs.reshape(-1)[offsets + follow.slots]  # (B, K, C)
    steps[:, :, 0] = np.logaddexp(log_probs[:, :, SEP], log_probs[:, :, EOS])
    steps[~follow.mask] = NEVER
    sums = beam.log_probs[:, :, None] + steps  # (B, K, C)
    normalised = normalise_length(sums, words + 1, config.alpha)  # (B, K, C)
    normalised[:, :, 0] = normalise_length(sums[:, :, 0], words, config.alpha)
    if task.seed_penalty is not None:
        normalised -= task.seed_penalty.of(follow.nodes)
    # SEP is in no phrase, so the end adds nothing to what is shared.
    is_shared = task.history.has_word(documents, follow.slots)  # (B, K, C)
    shared_words = beam.shared_words[:, :, None] + is_shared  # (B, K, C)
    is_shared = task.history.has_pair(documents, beam.last, follow.slots)  # (B, K, C)
    shared_pairs = beam.shared_pairs[:, :, None] + is_shared  # (B, K, C)
    dissimilarities = dissimilarity(shared_words, shared_pairs, words + 1)  # (B, K, C)
    dissimilarities[:, :, 0] = beam.dissimilarities
    ranks = sibling_ranks(steps)  # (B, K, C)
    return Expansion(
        slots=follow.slots,
        nodes=follow.nodes,
        log_probs=sums,
        shared_words=shared_words,
        shared_pairs=shared_pairs,
        normalised=normalised,
        dissimilarities=dissimilarities,
        ranks=ranks,
        totals=normalised + config.lambda1 * dissimilarities - config.lambda2 * ranks,
    )


def choose_best(totals: Floats, count: int) -> Ints:
    """Where the best totals of each row stand, best first; of equals the first.

    Args:
        totals: ``(B, M)``; what is -inf is not chosen.
        count: how many of each row, at most.

    Returns:
        Flat indices into ``totals``, ``(F,)``, row after row.
    """
    columns = totals.shape[1]
    eligible = totals > NEVER  # (B, M)
    if columns > count:
        worst = np.partition(totals, columns - count, axis=1)[:, columns - count]  # (B,)
        eligible &= totals >= worst[:, None]
    chosen = np.flatnonzero(eligible)  # (F,)
    rows = chosen // columns  # (F,)
    chosen = chosen[np.lexsort((-totals.reshape(-1)[chosen], rows))]  # (F,)
    return chosen[_columns_in(rows) < count]  # equals of the worst may be too many


def _columns_in(rows: Ints) -> Ints:
    """Of ascending row numbers: the how-maniest, from 0, of its row each is; ``(F,)``."""
    return np.arange(len(rows)) - rows.searchsorted(rows)


class _Finished:
    """The hypotheses of each document that were chosen with their end."""

    def __init__(self, numbers: Sequence[int]) -> None:
        """Begin with none; ``numbers`` say which phrase of its list each document is at."""
        self._numbers = numbers
        self._hypotheses: list[list[Hypothesis]] = [[] for _ in numbers]
        self.best_totals = np.full(len(numbers), NEVER)  # (B,)

    def add(self, beam: Beam, expansion: Expansion, log_probs: Floats, ended: Ints) -> None:
        """Set aside those that end with the continuations ``ended``, flat indices, ``(F,)``."""
        rows, columns = np.divmod(ended // expansion.slots.shape[2], beam.last.shape[1])  # (F,)
        totals = expansion.totals.reshape(-1)[ended]  # (F,)
        np.maximum.at(self.best_totals, rows, totals)
        eos, sep = log_probs[rows, columns, EOS], log_probs[rows, columns, SEP]  # (F,)
        end_probs = np.exp(eos - np.logaddexp(eos, sep))  # (F,)
        fields = zip(
            rows.tolist(),
            beam.words[rows, columns].tolist(),
            expansion.log_probs.reshape(-1)[ended].tolist(),
            expansion.normalised.reshape(-1)[ended].tolist(),
            expansion.dissimilarities.reshape(-1)[ended].tolist(),
            expansion.ranks.reshape(-1)[ended].tolist(),
            end_probs.tolist(),
            totals.tolist(),
            strict=True,
        )
        for row, slots, log_prob, normalised, different, rank, end_prob, total in fields:
            hypothesis = Hypothesis(
                number=self._numbers[row],
                slots=tuple(slots),
                log_prob=log_prob,
                score=score_of(normalised),
                dissimilarity=different,
                sibling_rank=int(rank),
                end_prob=end_prob,
                total=total,
            )
            self._hypotheses[row].append(hypothesis)

    def best_first(self, keep: int) -> list[list[Hypothesis]]:
        """The best of each document; of equals, the one that was added first."""
        return [
            sorted(of_document, key=lambda hypothesis: -hypothesis.total)[:keep]
            for of_document in self._hypotheses
        ]


def _worth_following(
    config: SearchConfig, expansion: Expansion, grown: Ints, finished: _Finished, keep: int
) -> Ints:
    """Which of the chosen words, flat indices ``(F,)``, make a hypothesis that matters.

    A hypothesis can only become less probable; at best it keeps its probability, grows to the
    length that normalises it best, and has nothing in common with earlier phrases.
    """
    rows = grown // math.prod(expansion.totals.shape[1:])  # (F,)
    log_probs = expansion.log_probs.reshape(-1)[grown]  # (F,)
    bounds = normalise_length(log_probs, config.max_words, config.alpha)  # (F,)
    may_win = np.zeros(len(expansion.totals), np.bool_)  # (B,)
    may_win[rows[bounds + config.lambda1 >= finished.best_totals[rows]]] = True
    matters = may_win[rows]  # (F,)
    if keep > 1:
        matters |= bounds >= math.log(NEGLIGIBLE)
    return grown[matters]


def _grow(
    constraint: Constraint, beam: Beam, expansion: Expansion, live: Ints
) -> tuple[Beam, Ints]:
    """Make a beam of the chosen words, flat indices ``(F,)``; return it and its parents, (B, K)."""
    parents = live // expansion.slots.shape[2]  # (F,), counted over all documents
    rows, parent_columns = np.divmod(parents, beam.last.shape[1])  # (F,), (F,)
    columns = _columns_in(rows)  # (F,)
    shape = len(beam.last), int(columns.max()) + 1  # B, K
    cells = rows * shape[1] + columns  # (F,)

    def pad(values: NDArray[Any], fill: float) -> NDArray[Any]:
        if len(values) == math.prod(shape):
            return values.reshape(*shape, *values.shape[1:])
        padded = np.full((math.prod(shape), *values.shape[1:]), fill, values.dtype)
        padded[cells] = values
        return padded.reshape(*shape, *values.shape[1:])

    last = expansion.slots.reshape(-1)[live]  # (F,)
    words = np.concatenate([beam.words[rows, parent_columns], last[:, None]], 1)  # (F, t + 1)
    grown = Beam(
        words=pad(words, SEP),  # (B, K, t + 1)
        last=pad(last, SEP),
        nodes=pad(expansion.nodes.reshape(-1)[live], constraint.dead),
        log_probs=pad(expansion.log_probs.reshape(-1)[live], NEVER),
        shared_words=pad(expansion.shared_words.reshape(-1)[live], 0),
        shared_pairs=pad(expansion.shared_pairs.reshape(-1)[live], 0),
        dissimilarities=pad(expansion.dissimilarities.reshape(-1)[live], 0),
    )
    return grown, pad(parent_columns, 0)
