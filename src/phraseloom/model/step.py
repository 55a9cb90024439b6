"""The network as search sees it: begin a phrase, advance by a word.

Fits the protocol of `phraseloom.search.step` without importing it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from phraseloom.data.batch import FIRST_WORD, SEP, Batch, Phrases
from phraseloom.model.decoder import Reading
from phraseloom.model.encoder import Memory, first_nodes
from phraseloom.model.network import KeyphraseModel


@dataclass(frozen=True, slots=True)
class DecoderState:
    """``K`` hypotheses for the next phrase of each of ``D`` documents."""

    reading: Reading
    phrases: Phrases
    memory: Memory
    hidden: Tensor
    """GRU states, ``(layers, D, K, width)``."""
    coverage: Tensor
    """``(D, K, S)``."""

    def select(self, parents: Tensor) -> "DecoderState":
        """Column k of document d becomes what column ``parents[d, k]`` was."""
        hidden = self.hidden.gather(
            2, parents[None, :, :, None].expand(len(self.hidden), -1, -1, self.hidden.shape[3])
        )
        coverage = self.coverage.gather(
            1, parents[:, :, None].expand(-1, -1, self.coverage.shape[2])
        )
        return replace(self, hidden=hidden, coverage=coverage)


class NeuralStep:
    """A model bound to a batch of documents."""

    def __init__(self, model: KeyphraseModel, batch: Batch) -> None:
        self.model = model
        self.batch = batch
        self.encoded = model.encode(batch)
        self.slots: list[int] = (FIRST_WORD + batch.slot_offsets.diff()).tolist()
        self._first_nodes = first_nodes(batch)  # (M,)
        self._memory: Memory | None = None  # kept for static graphs, which are read once

    def begin(
        self, documents: Sequence[int], said: Sequence[Sequence[tuple[int, ...]]]
    ) -> DecoderState:
        """Begin the next phrase of these documents, given the phrases said of each."""
        phrases = _phrases(documents, said)
        reading, memory = self.model.begin(self.encoded, phrases, self._memory)
        self._memory = memory
        layers = self.model.decoder.layers
        hidden = reading.hidden[None, :, None].expand(layers, -1, 1, -1)  # (layers, D, 1, width)
        return DecoderState(
            reading, phrases, memory, hidden.contiguous(), reading.coverage[:, None]
        )

    def advance(self, words: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Read one slot per hypothesis, ``(D, K)``; log-probabilities after it, ``(D, K, S)``."""
        starts = self.batch.slot_offsets[state.phrases.documents]  # (D,)
        slots = (words - FIRST_WORD).clamp(min=0) + starts[:, None]  # (D, K)
        vectors = self.encoded.words[self._first_nodes[slots]]  # (D, K, D_w)
        is_start = (words == SEP)[..., None]  # (D, K, 1)
        vectors = torch.where(is_start, state.reading.first_input[:, None], vectors)
        log_probs, hidden = self.model.decoder.step(
            state.reading, vectors, state.hidden, state.coverage
        )
        after = replace(state, hidden=hidden, coverage=state.coverage + log_probs.exp())
        return log_probs, after

    def edge_weights(self, state: DecoderState) -> list[Tensor]:
        """:math:`A^p` of every edge of each document while a phrase is decoded; none in a GRU."""
        if self.model.config.variant == "gru":
            return [state.memory.edge_weights] * len(state.phrases.documents)
        counts = state.memory.edge_copies.bincount(minlength=len(state.memory.start))
        per_graph = state.memory.edge_weights.split(counts.tolist())
        if self.model.encoder.is_dynamic:
            return list(per_graph)
        return [per_graph[int(document)] for document in state.phrases.documents]


def _phrases(documents: Sequence[int], said: Sequence[Sequence[tuple[int, ...]]]) -> Phrases:
    words = [[slot - FIRST_WORD for phrase in phrases for slot in phrase] for phrases in said]
    sizes = torch.tensor([0] + [len(slots) for slots in words])
    return Phrases(
        documents=torch.tensor(list(documents), dtype=torch.long),
        numbers=torch.tensor([len(phrases) for phrases in said], dtype=torch.long),
        said_offsets=sizes.cumsum(0),
        said_slots=torch.tensor([slot for slots in words for slot in slots], dtype=torch.long),
    )
