r"""catSeqD: catSeq whose states at separators differ, and which knows what it has written.

Yuan et al., One Size Does Not Fit All (ACL 2020; arXiv 1810.05241), section 3.3. Orthogonal
regularisation: with :math:`H` the decoder's states at the separators of a list,

.. math:: L_{OR} = \lVert H^\top H \odot (1 - I) \rVert_2.

Target encoding: a GRU of its own reads what was written, :math:`u_t = GRU(e_{y_{t-1}}, u_{t-1})`,
and the decoder's cell reads :math:`[e_{y_{t-1}} ; u_t]` (without a gradient to it). At the end of a
list, :math:`u` has to tell its own document from the others of the batch:

.. math:: L_{SC} = -\log \mathrm{softmax}_b(u^\top B\, h_b)_{b = own}.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from phraseloom.slots import EOS, SEP
from rivals.documents import PhraseTargets
from rivals.seq2seq import Memory, Seq2Seq, Sizes, Source, State

ORTHOGONAL, COVERAGE = 1.0, 0.03
"""The paper's weights of the two losses."""


class CatSeqD(Seq2Seq):
    """With a target encoder and two further losses."""

    seen = ("hidden", "word", "written")

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.target_cell = nn.GRUCell(sizes.word_width, sizes.width)
        self.match = nn.Linear(sizes.width, sizes.width, bias=False)  # B

    @staticmethod
    def input_width(sizes: Sizes) -> int:
        return sizes.word_width + sizes.width

    def encode(self, source: Source) -> Memory:
        return {**super().encode(source), "ends": source.ends}

    def start(self, memory: Memory) -> State:
        state = super().start(memory)
        return {**state, "written": torch.zeros_like(state["hidden"])}

    def read(self, memory: Memory, state: State, words: Tensor) -> State:
        vectors = self.vectors(memory, words)  # (B, K, D_w)
        before = state["written"]  # (B, K, D)
        written = self.target_cell(vectors.flatten(0, 1), before.flatten(0, 1)).view_as(before)
        inputs = torch.cat([vectors, written.detach()], dim=2)  # (B, K, D_w + D)
        hidden = self.advance(inputs, state["hidden"])
        return {"hidden": hidden, "word": vectors, "written": written}

    def further_loss(self, memory: Memory, states: State, targets: PhraseTargets) -> Tensor:
        is_separator = targets.mask & ((targets.slots == SEP) | (targets.slots == EOS))  # (P, L)
        similarity = orthogonality(states["hidden"], is_separator)
        last = targets.mask.sum(1) - 1  # (P,)
        written = states["written"][torch.arange(len(last)), last]  # (P, D)
        scores = self.match(written) @ memory["ends"].T  # (P, P)
        contrast = F.cross_entropy(scores, torch.arange(len(last)))
        return ORTHOGONAL * similarity + COVERAGE * contrast


def orthogonality(states: Tensor, is_separator: Tensor) -> Tensor:
    """What the states at the separators of each list have in common, mean over lists.

    The states are scaled to length one, so that the loss is zero if and only if they are at right
    angles, whatever their length.

    Args:
        states: ``(P, L, D)``.
        is_separator: ``(P, L)``.
    """
    chosen = F.normalize(states, dim=2) * is_separator[..., None]  # (P, L, D)
    products = chosen @ chosen.transpose(1, 2)  # (P, L, L)
    others = products * (1 - torch.eye(products.shape[1]))  # (P, L, L)
    return (others.square().sum((1, 2)) + 1e-12).sqrt().mean()
