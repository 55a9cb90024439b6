"""A rival bound to documents, as the search of `phraseloom.search` drives it.

The search looks for one phrase after the other. A rival that writes lists goes on from where the
phrase before left it; one that writes single phrases starts anew each time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from phraseloom.network.graph import Batch
from phraseloom.network.lexicon import Ids
from phraseloom.slots import FIRST_WORD, SEP, Phrase
from rivals.seq2seq import Memory, Seq2Seq, Source, State

Floats = NDArray[np.float32]
_NOTHING = -1


@dataclass(frozen=True)
class BeamState:
    """Hypotheses for the next phrase of some documents."""

    memory: Memory
    state: State

    def select(self, parents: Ids) -> "BeamState":
        """Column k of document b becomes what column ``parents[b, k]`` was."""
        rows, columns = torch.arange(len(parents))[:, None], torch.from_numpy(parents)
        return BeamState(self.memory, {k: part[rows, columns] for k, part in self.state.items()})


class RivalDecoder:
    """Fits the protocol `phraseloom.search.beam.Decoder`."""

    def __init__(self, network: Seq2Seq, batch: Batch, source: Source) -> None:
        self.slots: list[int] = (FIRST_WORD + np.diff(batch.stem_offsets)).tolist()
        self._network = network
        with torch.no_grad():
            self._memory = network.encode(source)
        self._kept: dict[int, tuple[list[Phrase], State]] = {}

    @torch.no_grad()
    def begin(self, documents: Sequence[int], history: Sequence[Sequence[Phrase]]) -> BeamState:
        """Begin the next phrase of these documents: the phrases before it have been read."""
        memory = {name: part[list(documents)] for name, part in self._memory.items()}
        width = max(self.slots[document] for document in documents)
        for name in self._network.by_slot:
            memory[name] = memory[name][:, :width]
        if self._network.one_phrase:
            return BeamState(memory, self._network.start(memory))
        unread, states = [], []
        for row, (document, phrases) in enumerate(zip(documents, history, strict=True)):
            read, state = self._kept.get(document, ([], None))
            if state is None or read != list(phrases[: len(read)]):
                read, state = [], self._network.start({k: v[[row]] for k, v in memory.items()})
            unread.append([slot for phrase in phrases[len(read) :] for slot in (SEP, *phrase)])
            states.append(state)
        state = self._read(memory, join(states), unread)
        for row, (document, phrases) in enumerate(zip(documents, history, strict=True)):
            own = {name: part[row : row + 1] for name, part in state.items()}
            self._kept[document] = list(phrases), own
        return BeamState(memory, state)

    @torch.no_grad()
    def advance(self, words: Ids, state: BeamState) -> tuple[Floats, BeamState]:
        """Read one slot per hypothesis, ``(B, K)``; log-probabilities after it, ``(B, K, S)``."""
        network, memory = self._network, state.memory
        after = network.read(memory, state.state, torch.from_numpy(np.ascontiguousarray(words)))
        return network.predict(memory, after).numpy(), BeamState(memory, after)

    def edge_weights(self, state: BeamState) -> list[Floats]:
        """None: rivals have no dynamic graph."""
        return [np.zeros(0, np.float32)] * len(next(iter(state.memory.values())))

    def _read(self, memory: Memory, state: State, unread: Sequence[Sequence[int]]) -> State:
        """Read some slots in each document; of a document that has fewer, the state stays."""
        for step in range(max(map(len, unread))):
            slots = [words[step] if step < len(words) else _NOTHING for words in unread]
            words = torch.tensor(slots)[:, None]  # (B, 1)
            after = self._network.read(memory, state, words.clamp(min=0))
            state = {
                name: torch.where(_like(words >= 0, part), part, before)
                for name, part in after.items()
                for before in [as_long_as(state[name], part)]
            }
        return state


def join(states: Sequence[State]) -> State:
    """States of several documents as one; what grows with each word read is made equally long."""
    longest = {
        name: max((s[name] for s in states), key=lambda p: p.shape[2:3]) for name in states[0]
    }
    return {
        name: torch.cat([as_long_as(state[name], longest[name]) for state in states])
        for name in states[0]
    }


def as_long_as(part: Tensor, other: Tensor) -> Tensor:
    """A part of a state that has an axis of steps behind those of documents and hypotheses.

    Zeros are put before it: a network that has such a part must not look at those.
    """
    missing = other.shape[2] - part.shape[2] if part.ndim > 2 else 0
    return F.pad(part, [0, 0] * (part.ndim - 3) + [missing, 0]) if missing else part


def _like(mask: Tensor, part: Tensor) -> Tensor:
    return mask.reshape(*mask.shape, *[1] * (part.ndim - 2))
