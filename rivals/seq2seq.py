r"""What most rivals share: a BiGRU reads, a GRU writes word after word, generating or copying.

.. math::
    s_t = \mathrm{GRU}(e_{y_{t-1}}, s_{t-1}), \qquad
    a_t = \mathrm{softmax}(H W_a s_t), \qquad c_t = a_t^\top H, \qquad
    o_t = \tanh(W_o [s_t ; c_t]), \\
    P(y) = g_t\, \mathrm{softmax}(W_v o_t)_y + (1 - g_t) \sum_{i : x_i = y} a_{t,i}, \qquad
    g_t = \sigma(w_g \cdot [s_t ; c_t ; e_{y_{t-1}}])

(See et al., 2017; Gu et al., 2016.) A rival inherits from `Seq2Seq` and says what differs: that is
what inheritance is for, here and nowhere else in this project. Hypotheses, or the steps of a
sequence that is known, stand side by side on the axis K.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from phraseloom.config import ModelConfig
from phraseloom.network.encoder import bigru, embed_tokens, embed_words
from phraseloom.network.example import token_width
from phraseloom.network.graph import Batch
from phraseloom.network.lexicon import Lexicon
from phraseloom.network.ops import Weights
from phraseloom.slots import FIRST_WORD
from phraseloom.train.loss import Losses
from phraseloom.train.ops import TorchOps
from rivals.documents import GENERATED, Documents, PhraseTargets

Memory = dict[str, Tensor]
"""What the decoder reads of documents; every tensor begins with the axis of documents."""
State = dict[str, Tensor]
"""Where hypotheses stand; every tensor begins with the axes of documents and hypotheses."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Widths of a network."""

    width: int
    word_width: int
    token_width: int
    generated: int
    """Words that can be generated, SEP and EOS not counted."""
    tags: int
    relations: int
    dropout: float

    @classmethod
    def of(cls, config: ModelConfig, lexicon: Lexicon) -> "Sizes":
        """Those that a configuration and a lexicon ask for."""
        return cls(
            config.width,
            config.word_width,
            token_width(config),
            min(len(lexicon.words), GENERATED),
            len(lexicon.pos_tags),
            len(lexicon.relations),
            config.dropout,
        )


@dataclass(frozen=True)
class Source:
    """Documents, embedded by the shared backbone: equations (E1) to (E4) of docs/notation.md."""

    documents: Documents
    words: Tensor
    """Word vectors, ``(B, T, D_w)``."""
    tokens: Tensor
    """Words, tags and positions, ``(B, T, D_e)``."""
    _read: Callable[[], tuple[Tensor, Tensor]]

    @property
    def states(self) -> Tensor:
        """States of the BiGRU, ``(B, T, D)``."""
        return self._bigru[0]

    @property
    def ends(self) -> Tensor:
        """Last states of its two directions, ``(B, D)``."""
        return self._bigru[1]

    @cached_property
    def _bigru(self) -> tuple[Tensor, Tensor]:
        return self._read()  # only for those who ask


def read_source(
    weights: Weights, config: ModelConfig, batch: Batch, documents: Documents, ops: TorchOps
) -> Source:
    """Embed documents; the BiGRU reads them once somebody asks for its states."""
    words = embed_words(weights, batch, ops)  # (N, D_w)
    tokens = embed_tokens(weights, config, words, batch, ops)  # (N, D_e)
    mask, half = documents.mask[..., None], config.width // 2  # (B, T, 1)

    def read() -> tuple[Tensor, Tensor]:
        states = bigru(weights, ops.dropout(tokens), batch, ops)  # (N, D)
        forwards = states[batch.node_offsets[1:] - 1, :half]  # (B, D / 2)
        backwards = states[batch.node_offsets[:-1], half:]  # (B, D / 2)
        ends = torch.cat([forwards, backwards], dim=1)  # (B, D)
        return ops.dropout(states)[documents.rows] * mask, ends

    return Source(documents, words[documents.rows] * mask, tokens[documents.rows] * mask, read)


class Seq2Seq(nn.Module):
    """The shared network; its `one_phrase` says whether a sequence is one phrase or all."""

    one_phrase: ClassVar[bool] = False
    seen: ClassVar[tuple[str, ...]] = ("hidden", "word")
    """Parts of the state that `predict` looks at."""
    by_slot: ClassVar[tuple[str, ...]] = ("slot_mask", "generated", "slot_words")
    """Parts of the memory whose second axis is that of slots."""
    reads_states: ClassVar[bool] = True
    """Whether the BiGRU is needed."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        width, word_width = sizes.width, sizes.word_width
        self.sizes = sizes
        self.ends = nn.Parameter(torch.randn(FIRST_WORD, word_width) * word_width**-0.5)
        self.bridge = nn.Linear(width, width)
        self.cell = nn.GRUCell(self.input_width(sizes), width)
        self.query = nn.Linear(width, width, bias=False)
        self.output = nn.Linear(2 * width, width)
        self.vocabulary = nn.Linear(width, FIRST_WORD + sizes.generated)
        self.switch = nn.Linear(2 * width + word_width, 1)
        self.dropout = nn.Dropout(sizes.dropout)

    @staticmethod
    def input_width(sizes: Sizes) -> int:
        """Width of what the decoder's cell reads at each step."""
        return sizes.word_width

    def encode(self, source: Source) -> Memory:
        """What the decoder reads of documents."""
        return self.remember(source, source.states, source.ends)

    def remember(self, source: Source, keys: Tensor, start: Tensor | None = None) -> Memory:
        """A memory with these states to attend to, ``(B, T, D)``, and to start from, ``(B, D)``."""
        documents = source.documents
        rows = torch.arange(len(keys))[:, None]  # (B, 1)
        slot_words = source.words[rows, documents.first_tokens]  # (B, S, D_w)
        ends = self.ends.expand(len(keys), -1, -1)  # (B, 2, D_w)
        begun = {} if start is None else {"start": torch.tanh(self.bridge(start))}
        return {
            **begun,
            "keys": keys,
            "mask": documents.mask,
            "slots": documents.slots,
            "slot_mask": documents.slot_mask,
            "generated": documents.generated,
            "slot_words": torch.cat([ends, slot_words[:, FIRST_WORD:]], dim=1),
        }

    def start(self, memory: Memory) -> State:
        """One hypothesis a document, which has read nothing yet."""
        hidden = memory["start"][:, None]  # (B, 1, D)
        return {"hidden": hidden, "word": torch.zeros_like(memory["slot_words"][:, :1])}

    def read(self, memory: Memory, state: State, words: Tensor) -> State:
        """The state after every hypothesis has read a slot, ``(B, K)``."""
        vectors = self.vectors(memory, words)  # (B, K, D_w)
        return {"hidden": self.advance(vectors, state["hidden"]), "word": vectors}

    def predict(self, memory: Memory, state: State) -> Tensor:
        """Log-probability of each slot after the state, ``(B, K, S)``."""
        hidden = self.dropout(state["hidden"])  # (B, K, D)
        return self.mix(memory, hidden, state["word"], self.attend(memory, hidden))

    def vectors(self, memory: Memory, words: Tensor) -> Tensor:
        """Vectors of slots, ``(B, K)`` to ``(B, K, D_w)``."""
        rows = torch.arange(len(words))[:, None]  # (B, 1)
        return self.dropout(memory["slot_words"][rows, words])

    def advance(self, inputs: Tensor, hidden: Tensor) -> Tensor:
        """A step of the decoder's cell for every hypothesis, ``(B, K, D)``."""
        return self.cell(inputs.flatten(0, 1), hidden.flatten(0, 1)).view_as(hidden)

    def attend(self, memory: Memory, hidden: Tensor, bonus: Tensor | float = 0.0) -> Tensor:
        """Attention over tokens, ``(B, K, T)``; ``bonus`` is added to its scores."""
        scores = self.query(hidden) @ memory["keys"].transpose(1, 2) + bonus  # (B, K, T)
        return masked_softmax(scores / self.sizes.width**0.5, memory["mask"][:, None])

    def mix(self, memory: Memory, hidden: Tensor, word: Tensor, attention: Tensor) -> Tensor:
        """Generate or copy: log-probabilities of slots, ``(B, K, S)``."""
        context = attention @ memory["keys"]  # (B, K, D)
        output = torch.tanh(self.output(torch.cat([hidden, context], dim=2)))  # (B, K, D)
        gate = torch.sigmoid(self.switch(torch.cat([hidden, context, word], dim=2)))  # (B, K, 1)
        generated = self.generate(memory, self.dropout(output))  # (B, K, S)
        return log_of(memory, gate * generated + (1 - gate) * copy(memory, attention))

    def generate(self, memory: Memory, output: Tensor) -> Tensor:
        """Probability that each slot's word is generated, ``(B, K, S)``."""
        logits = self.vocabulary(output)  # (B, K, V)
        numbers = memory["generated"][:, None].expand(-1, logits.shape[1], -1)  # (B, K, S)
        chosen = logits.gather(2, numbers.clamp(min=0))  # (B, K, S)
        return torch.exp(chosen - logits.logsumexp(2, keepdim=True)) * (numbers >= 0)

    def follow(self, memory: Memory, inputs: Tensor) -> State:
        """What `predict` looks at after each step of known sequences, ``(P, L)``."""
        state, steps = self.start(memory), list[State]()
        for words in inputs.split(1, dim=1):  # (P, 1)
            state = self.read(memory, state, words)
            steps.append(state)
        return {name: torch.cat([step[name] for step in steps], dim=1) for name in self.seen}

    def losses(self, source: Source, targets: PhraseTargets) -> Losses:
        """What the network learns by: `likelihood`, unless a rival says otherwise."""
        return self.likelihood(source, targets)

    def likelihood(self, source: Source, targets: PhraseTargets) -> Losses:
        """Negative log-likelihood of sequences, and a rival's further losses."""
        memory = {name: part[targets.rows] for name, part in self.encode(source).items()}
        states = self.follow(memory, targets.inputs)
        log_probs = self.predict(memory, states)  # (P, L, S)
        picked = log_probs.gather(2, targets.slots[..., None])[..., 0]  # (P, L)
        sequence = -(picked * targets.mask).sum()
        further = self.further_loss(memory, states, targets)
        return Losses(sequence, int(targets.mask.sum()), further, 1)

    def further_loss(self, memory: Memory, states: State, targets: PhraseTargets) -> Tensor:
        """What is added to the mean loss of a word; nothing."""
        return torch.zeros(())


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the last axis where the mask is true; all zero where it never is."""
    shares = F.softmax(scores.masked_fill(~mask, -1e9), dim=-1)
    return shares * mask


def run_packed(gru: nn.GRU, inputs: Tensor, lengths: Tensor) -> Tensor:
    """States of a GRU over padded documents, zero behind their ends."""
    packed = pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
    return pad_packed_sequence(gru(packed)[0], batch_first=True, total_length=inputs.shape[1])[0]


def copy(memory: Memory, attention: Tensor) -> Tensor:
    """Attention on tokens, ``(B, K, T)``, added up by slot, ``(B, K, S)``."""
    slots = memory["slots"][:, None].expand_as(attention)  # (B, K, T)
    shape = (*attention.shape[:2], memory["slot_mask"].shape[1])
    return attention.new_zeros(shape).scatter_add(2, slots, attention)


def log_of(memory: Memory, probs: Tensor) -> Tensor:
    """Logarithms, ``-inf`` for slots that a document lacks and never for others."""
    logs: Any = probs.clamp(min=1e-20).log()
    return logs.masked_fill(~memory["slot_mask"][:, None], -torch.inf)
