"""The network of the paper, assembled: encoder, decoder, teacher forcing and its loss."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from phraseloom.config import ModelConfig
from phraseloom.data.batch import FIRST_WORD, Batch, Phrases, Targets
from phraseloom.data.lexicon import Lexicon
from phraseloom.data.vectors import Vectors
from phraseloom.model.decoder import CopyDecoder, Reading
from phraseloom.model.encoder import Encoded, GraphEncoder, Memory, first_nodes


@dataclass(frozen=True, slots=True)
class Losses:
    """Sums over a batch, so that batches and processes can be added up before dividing."""

    sequence: Tensor
    """Negative log-likelihood of all target tokens."""
    tokens: int
    """How many there are, SEP and EOS included."""
    importance: Tensor
    """Binary cross-entropy of all entries; zero if not learned."""
    entries: int
    """How many there are; at least one."""


class KeyphraseModel(nn.Module):
    """Div-DGCN and its variants, chosen by the configuration."""

    def __init__(self, config: ModelConfig, lexicon: Lexicon) -> None:
        super().__init__()
        self.config = config
        self.encoder = GraphEncoder(config, lexicon)
        self.decoder = CopyDecoder(config, styles=len(lexicon.styles))

    def initialise(self, vectors: Vectors, lexicon: Lexicon) -> None:
        """Start the word vectors from trained ones."""
        words = self.encoder.words
        with torch.no_grad():
            words.table.copy_(torch.from_numpy(vectors.rows(lexicon.words.words)))
            words.ngrams.copy_(torch.from_numpy(vectors.subwords))

    def encode(self, batch: Batch) -> Encoded:
        """What is known of the documents before any phrase."""
        return self.encoder.read(batch)

    def begin(
        self, encoded: Encoded, phrases: Phrases, memory: Memory | None = None
    ) -> tuple[Reading, Memory]:
        """Read the graphs in the light of what was said, and get ready to say a phrase.

        A memory of the same documents may be given again if the graph is static.
        """
        batch, rows = encoded.batch, phrases.documents
        if memory is None or self.encoder.is_dynamic:
            memory = self.encoder.reread(encoded, phrases)
        reading = self.decoder.prepare(
            memory,
            phrases,
            styles=batch.styles[rows],
            rows=torch.arange(len(rows)) if self.encoder.is_dynamic else rows,
            slots=FIRST_WORD + int(batch.slot_offsets.diff()[rows].max()),
        )
        return reading, memory

    def forward(self, batch: Batch, targets: Targets) -> Losses:
        """Teacher forcing: every phrase of every document at once; equation (L1)."""
        encoded = self.encode(batch)
        reading, memory = self.begin(encoded, targets.phrases)
        words = self._inputs(encoded, targets)  # (R, L - 1, D_w)
        with torch.autocast("cpu", enabled=False):  # with fewer bits, many chances are equal
            log_probs = self.decoder(reading, words)  # (R, L, S)
        picked = log_probs.gather(2, targets.slots[..., None]).squeeze(2)  # (R, L)
        return Losses(
            sequence=-picked[targets.mask].sum(),
            tokens=int(targets.mask.sum()),
            importance=self._importance_loss(memory, targets),
            entries=max(1, len(memory.importance)),
        )

    def _inputs(self, encoded: Encoded, targets: Targets) -> Tensor:
        """Vectors of the target words that the decoder reads back, ``(R, L - 1, D_w)``."""
        slots = (targets.slots[:, :-1] - FIRST_WORD).clamp(min=0)  # (R, L - 1)
        slots = slots + encoded.batch.slot_offsets[targets.phrases.documents][:, None]
        return encoded.words[first_nodes(encoded.batch)[slots]]  # (R, L - 1, D_w)

    def _importance_loss(self, memory: Memory, targets: Targets) -> Tensor:
        """Equation (L2), ours: does this entry's word belong to any gold phrase?"""
        if not len(memory.importance):
            return memory.entries.new_zeros(())
        wanted = targets.important[memory.entry_of]  # (M',)
        return F.binary_cross_entropy_with_logits(memory.importance, wanted, reduction="sum")
