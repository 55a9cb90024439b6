r"""catSeqCorr: the decoder reviews what it wrote, and sees which words it has looked at.

Chen et al., Keyphrase Generation with Correlation Constraints (EMNLP 2018), over whole lists as
Chan et al. (ACL 2019) run it. Coverage is the attention spent so far, and enters the scores;
review is attention over the decoder's own earlier states, and enters its cell:

.. math::
    \kappa_t = \sum_{j < t} a_j, \qquad
    a_t = \mathrm{softmax}(H W_a s_t + v_\kappa \kappa_t), \\
    r_t = \sum_{j < t} \mathrm{softmax}_j(s_j^\top W_r s_{t-1})\, s_j, \qquad
    s_t = \mathrm{GRU}([e_{y_{t-1}} ; r_t], s_{t-1}).
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from rivals.seq2seq import Memory, Seq2Seq, Sizes, State, masked_softmax


class CatSeqCorr(Seq2Seq):
    """With coverage of the source and a review of the target."""

    seen = ("hidden", "word", "attention")

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.review = nn.Linear(sizes.width, sizes.width, bias=False)  # W_r
        self.covered = nn.Parameter(torch.zeros(1))  # v_kappa

    @staticmethod
    def input_width(sizes: Sizes) -> int:
        return sizes.word_width + sizes.width

    def start(self, memory: Memory) -> State:
        state = super().start(memory)
        nothing = torch.zeros_like(memory["mask"][:, None], dtype=torch.float32)  # (B, 1, T)
        none_before = state["hidden"][:, :, None][:, :, :0]  # (B, 1, 0, D)
        is_state = torch.zeros(*none_before.shape[:3], dtype=torch.bool)  # (B, 1, 0)
        own = {"attention": nothing, "coverage": nothing}
        return {**state, **own, "past": none_before, "is_past": is_state}

    def read(self, memory: Memory, state: State, words: Tensor) -> State:
        before, past, is_past = state["hidden"], state["past"], state["is_past"]
        vectors = self.vectors(memory, words)  # (B, K, D_w)
        scores = (past @ self.review(before)[..., None])[..., 0]  # (B, K, t)
        review = masked_softmax(scores, is_past)[..., None, :] @ past  # (B, K, 1, D)
        hidden = self.advance(torch.cat([vectors, review[:, :, 0]], dim=2), before)
        coverage = state["coverage"] + state["attention"]  # (B, K, T)
        return {
            "hidden": hidden,
            "word": vectors,
            "attention": self.attend(memory, hidden, self.covered * coverage),
            "coverage": coverage,
            "past": torch.cat([past, hidden[:, :, None]], dim=2),
            "is_past": F.pad(is_past, [0, 1], value=True),
        }

    def predict(self, memory: Memory, state: State) -> Tensor:
        hidden = self.dropout(state["hidden"])
        return self.mix(memory, hidden, state["word"], state["attention"])
