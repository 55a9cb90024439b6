r"""ExHiRD-h: one decoder steps from phrase to phrase, another from word to word.

Chen et al., Exclusive Hierarchical Decoding for Deep Keyphrase Generation (ACL 2020), with hard
exclusion. The phrase-level GRU steps at each separator, from the word-level state s that ended the
phrase before; its attention rescales that of the words of its phrase:

.. math::
    p_k = \mathrm{GRU}(s^{k-1}_{last}, p_{k-1}), \qquad b_k = \mathrm{softmax}(H W_p p_k), \qquad
    s^k_0 = \tanh(W_0 [p_k ; b_k^\top H]), \qquad
    a'_{t,i} = \frac{a_{t,i}\, b_{k,i}}{\sum_j a_{t,j}\, b_{k,j}}.

Hard exclusion: a phrase does not begin with a word that began one of the last four.
"""

import torch
from torch import Tensor, nn

from phraseloom.slots import SEP
from phraseloom.train.loss import Losses
from rivals.documents import PhraseTargets
from rivals.seq2seq import Memory, Seq2Seq, Sizes, Source, State, masked_softmax

WINDOW = 4
"""Phrases before whose first words are excluded; the paper's setting."""


class ExHiRD(Seq2Seq):
    """Two decoders, and exclusion while decoding."""

    seen = ("hidden", "word", "phrase_attention", "at_start", "excluded")

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        width, self.is_excluding = sizes.width, True
        self.phrase_cell = nn.GRUCell(width, width)
        self.phrase_query = nn.Linear(width, width, bias=False)  # W_p
        self.begin_phrase = nn.Linear(2 * width, width)  # W_0

    def start(self, memory: Memory) -> State:
        state = super().start(memory)
        rows = len(memory["keys"])
        return {
            **state,
            "phrase": state["hidden"],
            "phrase_attention": torch.zeros(rows, 1, memory["keys"].shape[1]),
            "at_start": torch.zeros(rows, 1, dtype=torch.bool),
            "excluded": torch.full((rows, 1, WINDOW), SEP),
        }

    def read(self, memory: Memory, state: State, words: Tensor) -> State:
        is_separator = (words == SEP)[..., None]  # (B, K, 1)
        phrase = self.next_phrase(state)  # (B, K, D)
        attention = self.attend_with(self.phrase_query, memory, phrase)  # (B, K, T)
        begun = torch.cat([phrase, attention @ memory["keys"]], dim=2)  # (B, K, 2D)
        phrase = torch.where(is_separator, phrase, state["phrase"])
        attention = torch.where(is_separator, attention, state["phrase_attention"])
        hidden = torch.where(is_separator, torch.tanh(self.begin_phrase(begun)), state["hidden"])
        vectors = self.vectors(memory, words)  # (B, K, D_w)
        is_first = state["at_start"][..., None] & ~is_separator  # (B, K, 1)
        with_word = torch.cat([state["excluded"][:, :, 1:], words[..., None]], dim=2)
        return {
            "hidden": self.advance(vectors, hidden),
            "word": vectors,
            "phrase": phrase,
            "phrase_attention": attention,
            "at_start": is_separator[..., 0],
            "excluded": torch.where(is_first, with_word, state["excluded"]),
        }

    def next_phrase(self, state: State) -> Tensor:
        """The phrase-level state after the phrase that has just been written, ``(B, K, D)``."""
        last, before = state["hidden"], state["phrase"]
        return self.phrase_cell(last.flatten(0, 1), before.flatten(0, 1)).view_as(before)

    def attend_with(self, query: nn.Linear, memory: Memory, hidden: Tensor) -> Tensor:
        scores = query(hidden) @ memory["keys"].transpose(1, 2) / self.sizes.width**0.5
        return masked_softmax(scores, memory["mask"][:, None])

    def predict(self, memory: Memory, state: State) -> Tensor:
        hidden = self.dropout(state["hidden"])
        rescaled = self.attend(memory, hidden) * state["phrase_attention"]  # (B, K, T)
        attention = rescaled / rescaled.sum(2, keepdim=True).clamp(min=1e-20)
        log_probs = self.mix(memory, hidden, state["word"], attention)  # (B, K, S)
        return exclude(log_probs, state) if self.is_excluding else log_probs

    def likelihood(self, source: Source, targets: PhraseTargets) -> Losses:
        """Of phrases as they are, of which several may begin alike: nothing is excluded."""
        self.is_excluding = False
        try:
            return super().likelihood(source, targets)
        finally:
            self.is_excluding = True


def exclude(log_probs: Tensor, state: State) -> Tensor:
    """Take from the first word of a phrase those that began one of the last phrases."""
    is_excluded = torch.zeros_like(log_probs, dtype=torch.bool)
    is_excluded.scatter_(2, state["excluded"].clamp(max=log_probs.shape[2] - 1), value=True)
    is_excluded[:, :, SEP] = False  # what fills the window up
    return log_probs.masked_fill(is_excluded & state["at_start"][..., None], -1e4)
