r"""catSeqTG and TG-Net: every word attends to the title, and a gate merges what it finds.

Chen et al., Title-Guided Encoding for Keyphrase Generation (AAAI 2019): TG-Net writes one phrase a
target. Chan et al. (ACL 2019) let the same encoder write whole lists: catSeqTG. With :math:`u_i`
the state of word i and :math:`v_j` that of the title's word j, from a BiGRU of its own,

.. math::
    c_i = \sum_j \mathrm{softmax}_j(u_i^\top W_1 v_j)\, v_j, \qquad
    m_i = \mathrm{BiGRU}([u_i ; c_i]), \qquad
    h_i = \lambda_i u_i + (1 - \lambda_i) m_i, \qquad \lambda_i = \sigma(w \cdot [u_i ; c_i]).
"""

import torch
from torch import Tensor, nn

from rivals.seq2seq import Memory, Seq2Seq, Sizes, Source, masked_softmax, run_packed


class CatSeqTG(Seq2Seq):
    """The shared network behind a title-guided encoder."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        width, half = sizes.width, sizes.width // 2
        self.title = nn.GRU(sizes.token_width, half, bidirectional=True, batch_first=True)
        self.match = nn.Linear(width, width, bias=False)  # W_1
        self.merge = nn.GRU(2 * width, half, bidirectional=True, batch_first=True)
        self.gate = nn.Linear(2 * width, 1)

    def encode(self, source: Source) -> Memory:
        guided = self.guide(source)  # (B, T, D)
        half = self.sizes.width // 2
        last = source.documents.mask.sum(1) - 1  # (B,)
        forwards = guided[torch.arange(len(last)), last, :half]  # (B, D / 2)
        ends = torch.cat([forwards, guided[:, 0, half:]], dim=1)  # (B, D)
        return self.remember(source, guided, ends)

    def guide(self, source: Source) -> Tensor:
        """States that know the title, ``(B, T, D)``; without a title, the states as they were."""
        documents, states = source.documents, source.states
        size = max(int(documents.titles.max()), 1)
        in_title = torch.arange(size) < documents.titles[:, None]  # (B, J)
        title = run_packed(self.title, source.tokens[:, :size], documents.titles.clamp(min=1))
        scores = self.match(states) @ title.transpose(1, 2)  # (B, T, J)
        scores = scores / self.sizes.width**0.5
        context = masked_softmax(scores, in_title[:, None]) @ title  # (B, T, D)
        both = torch.cat([states, context], dim=2)  # (B, T, 2D)
        merged = run_packed(self.merge, both, documents.mask.sum(1))  # (B, T, D)
        share = torch.sigmoid(self.gate(both))  # (B, T, 1)
        guided = share * states + (1 - share) * self.dropout(merged)  # (B, T, D)
        return torch.where(documents.titles[:, None, None] > 0, guided, states)


class TGNet(CatSeqTG):
    """A sequence is one phrase."""

    one_phrase = True
