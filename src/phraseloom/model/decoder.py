"""The decoder: a GRU that says one phrase by copying from the memory.

There is no vocabulary softmax: the attention over the document's slots, SEP and EOS *is* the output
distribution, so no word is unknown.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from phraseloom.config import ModelConfig
from phraseloom.data.batch import FIRST_WORD, Phrases
from phraseloom.model.encoder import Memory
from phraseloom.nn.attention import AdditiveAttention, Attention, BilinearAttention
from phraseloom.nn.masking import masked_log_softmax

COUNTED_PHRASES = 10
"""From the tenth phrase on, the decoder is told "ten"."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A memory made ready for the decoder's attention, one graph a row."""

    keys: Tensor
    """``(R, S', D)``."""
    mask: Tensor
    """``(R, S')``."""
    entry_slots: Tensor | None
    """``(R, S')``; none if entries are slots."""
    slots: int
    hidden: Tensor
    """First state of every GRU layer, ``(R, D)``."""
    first_input: Tensor
    """Start vector of each phrase, ``(R, D_w)``."""
    coverage: Tensor
    """How often each slot's word was said before, ``(R, S)``."""


class CopyDecoder(nn.Module):
    r"""Copies one phrase, word by word, told how many phrases came before it.

    Equation (D3): :math:`s_t = f(s_{t-1}, e^w_{y_{t-1}})` with :math:`s_0 = c^p` in every layer;
    (D4), the first input: a learned vector, plus those of the phrase's number and of the style.
    """

    def __init__(self, config: ModelConfig, *, styles: int) -> None:
        super().__init__()
        self.layers = config.decoder_layers
        self.gru = nn.GRU(config.word_width, config.width, self.layers, batch_first=True)
        self.attention: Attention
        if config.attention == "bilinear":
            self.attention = BilinearAttention(config.width)
        else:
            self.attention = AdditiveAttention(config.width)
        self.ends = nn.Parameter(torch.empty(2, config.width).normal_(std=config.width**-0.5))
        self.start = nn.Parameter(torch.zeros(config.word_width))
        self.number = nn.Embedding(COUNTED_PHRASES, config.word_width)
        self.style = nn.Embedding(styles, config.word_width) if styles else None
        self.dropout = nn.Dropout(config.dropout)

    def prepare(
        self, memory: Memory, phrases: Phrases, *, styles: Tensor, rows: Tensor, slots: int
    ) -> Reading:
        """Make the memory ready for these phrases.

        Args:
            memory: of ``G`` graphs.
            phrases: ``R`` begun phrases.
            styles: style of each phrase's document, ``(R,)``.
            rows: graph that each phrase reads, ``(R,)``.
            slots: of the largest of these phrases' documents, SEP and EOS included.
        """
        ends = self.ends.expand(len(memory.entries), 2, -1)  # (G, 2, D)
        entries = torch.cat([ends, memory.entries[:, 2:]], 1)  # (G, S', D)
        first_input = self.start + self.number(phrases.numbers.clamp(max=COUNTED_PHRASES - 1))
        if self.style is not None:
            first_input = first_input + self.style(styles)  # (R, D_w)
        size = slots if memory.entry_slots is None else entries.shape[1]
        return Reading(
            keys=_select(self.attention.prepare(entries), rows)[:, :size],
            mask=_select(memory.mask, rows)[:, :size],
            entry_slots=None if memory.entry_slots is None else _select(memory.entry_slots, rows),
            slots=slots,
            hidden=_select(memory.start, rows),
            first_input=first_input,
            coverage=said_counts(phrases, slots=slots),
        )

    def forward(self, reading: Reading, words: Tensor) -> Tensor:
        """Teacher forcing: log-probabilities of every slot at every step.

        Args:
            reading: ``R`` phrases.
            words: vectors of the phrase's words but for the last step's, ``(R, L - 1, D_w)``.

        Returns:
            ``(R, L, S)``; ``-inf`` where a document has no such slot.
        """
        inputs = torch.cat([reading.first_input[:, None], words], 1)  # (R, L, D_w)
        hidden = reading.hidden.expand(self.layers, -1, -1).contiguous()  # (layers, R, D)
        states, _ = self.gru(self.dropout(inputs), hidden)  # (R, L, D)
        scores = self.attention.scores(self.dropout(states), reading.keys)
        coverage, steps = reading.coverage, []
        for step in range(inputs.shape[1]):
            of_entries = _per_entry(coverage, reading.entry_slots)  # (R, S')
            log_probs = self._normalise(scores.at(step, of_entries), reading)  # (R, S)
            coverage = coverage + log_probs.exp()  # (R, S)
            steps.append(log_probs)
        return torch.stack(steps, 1)  # (R, L, S)

    def step(
        self, reading: Reading, words: Tensor, hidden: Tensor, coverage: Tensor
    ) -> tuple[Tensor, Tensor]:
        """One step of ``K`` hypotheses of each of ``R`` phrases.

        Args:
            reading: ``R`` phrases.
            words: vectors of the last words, ``(R, K, D_w)``.
            hidden: GRU states, ``(layers, R, K, D)``.
            coverage: of the slots so far, ``(R, K, S)``.

        Returns:
            Log-probabilities of the next slot, ``(R, K, S)``, and the new GRU states.
        """
        states, hidden_after = self.gru(words.flatten(0, 1)[:, None], hidden.flatten(1, 2))
        queries = states.view(*words.shape[:2], -1)  # (R, K, D)
        scores = self.attention.scores(queries, reading.keys)
        of_entries = _per_entry(coverage, reading.entry_slots)  # (R, K, S')
        log_probs = self._normalise(scores.all(of_entries), reading)  # (R, K, S)
        return log_probs, hidden_after.view(hidden.shape)

    def _normalise(self, scores: Tensor, reading: Reading) -> Tensor:
        """Equation (D2): softmax over entries, entries of one slot added up, ``(R, …, S)``."""
        mask = reading.mask.view(len(scores), *[1] * (scores.dim() - 2), -1)
        log_probs = masked_log_softmax(scores, mask)  # (R, …, S')
        if reading.entry_slots is None:
            return log_probs
        nothing = log_probs.new_zeros(*scores.shape[:-1], reading.slots)  # (R, …, S)
        index = reading.entry_slots.view(mask.shape).expand_as(scores)
        # a slot that exists is never quite impossible, so that its loss stays finite
        least = torch.finfo(scores.dtype).tiny * mask
        return nothing.scatter_add(-1, index, log_probs.exp() + least).log()  # (R, …, S)


def said_counts(phrases: Phrases, *, slots: int) -> Tensor:
    """Equation (D1), its constant part: how often each slot was said before, ``(R, slots)``."""
    rows = torch.arange(len(phrases.documents)).repeat_interleave(phrases.said_offsets.diff())
    counts = torch.zeros(len(phrases.documents) * slots)
    places = rows * slots + phrases.said_slots + FIRST_WORD
    return counts.index_add(0, places, torch.ones(len(places))).view(-1, slots)


def _per_entry(coverage: Tensor, entry_slots: Tensor | None) -> Tensor:
    """Coverage of each entry's slot."""
    if entry_slots is None:
        return coverage
    if coverage.dim() == 3:
        entry_slots = entry_slots[:, None].expand(-1, coverage.shape[1], -1)
    return coverage.gather(-1, entry_slots)


def _select(rows: Tensor, index: Tensor) -> Tensor:
    """``rows[index]``, or the rows themselves if the index only counts."""
    if len(rows) == len(index) and bool((index == torch.arange(len(index))).all()):
        return rows
    return rows[index]
