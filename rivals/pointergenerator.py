r"""Pointer-generator with coverage: catSeq that is fined for looking twice at a word.

See et al., Get To The Point: Summarization with Pointer-Generator Networks (ACL 2017). It is in
none of the paper's tables: the how-to of docs/rivals.md was tried with it. Coverage is the
attention spent so far; it enters the scores, and what it shares with the attention is a loss:

.. math::
    \kappa_t = \sum_{j < t} a_j, \qquad
    a_t = \mathrm{softmax}(H W_a s_t + v_\kappa \kappa_t), \qquad
    L_{cov} = \sum_i \min(a_{t,i}, \kappa_{t,i}).
"""

import torch
from torch import Tensor, nn

from rivals.documents import PhraseTargets
from rivals.seq2seq import Memory, Seq2Seq, Sizes, State


class PointerGenerator(Seq2Seq):
    """The shared network with coverage."""

    seen = ("hidden", "word", "attention", "coverage")

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.covered = nn.Parameter(torch.zeros(1))  # v_kappa

    def start(self, memory: Memory) -> State:
        nothing = torch.zeros_like(memory["mask"][:, None], dtype=torch.float32)  # (B, 1, T)
        return {**super().start(memory), "attention": nothing, "coverage": nothing}

    def read(self, memory: Memory, state: State, words: Tensor) -> State:
        after = super().read(memory, state, words)
        coverage = state["coverage"] + state["attention"]  # (B, K, T)
        attention = self.attend(memory, self.dropout(after["hidden"]), self.covered * coverage)
        return {**after, "attention": attention, "coverage": coverage}

    def predict(self, memory: Memory, state: State) -> Tensor:
        hidden = self.dropout(state["hidden"])
        return self.mix(memory, hidden, state["word"], state["attention"])

    def further_loss(self, memory: Memory, states: State, targets: PhraseTargets) -> Tensor:
        twice = torch.minimum(states["attention"], states["coverage"]).sum(2)  # (P, L)
        return twice[targets.mask].mean()
