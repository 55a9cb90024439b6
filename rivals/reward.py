r"""catSeqD-2RF1 and catSeqTG-2RF1: networks that go on learning from what their lists are worth.

Chan et al., Neural Keyphrase Generation via Reinforcement Learning with Adaptive Rewards (ACL
2019). With :math:`y` a list drawn from the network, :math:`\hat y` its greedy list and r the
reward, recall while a list is shorter than the reference and F1 from then on (RF1), the gradient is
that of

.. math:: -(r(y) - r(\hat y)) \log P(y).

The 2 stands for two rewards, of present and of absent phrases; there are only present ones here.
Training begins where likelihood ended: ``--set train.init=RUN``.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from phraseloom.slots import EOS, SEP, Phrase
from phraseloom.train.loss import Losses
from phraseloom.train.reward import reward
from rivals.catseqd import CatSeqD
from rivals.documents import PhraseTargets
from rivals.seq2seq import Memory, Seq2Seq, Source
from rivals.titleguided import CatSeqTG

LONGEST = 40
"""Slots of a drawn list, at most."""


class CatSeqDReward(CatSeqD):
    """catSeqD, learning from rewards."""

    def losses(self, source: Source, targets: PhraseTargets) -> Losses:
        return reward_losses(self, source, targets)


class CatSeqTGReward(CatSeqTG):
    """catSeqTG, learning from rewards."""

    def losses(self, source: Source, targets: PhraseTargets) -> Losses:
        return reward_losses(self, source, targets)


def reward_losses(network: Seq2Seq, source: Source, targets: PhraseTargets) -> Losses:
    """The loss above, summed over documents; its tokens are those of the drawn lists."""
    memory = network.encode(source)
    with torch.no_grad():
        drawn, greedy = (write(network, memory, is_drawn=kind) for kind in (True, False))
    gains = [
        reward(split(own), gold) - reward(split(base), gold)
        for own, base, gold in zip(drawn.tolist(), greedy.tolist(), targets.gold, strict=True)
    ]
    inputs = torch.cat([torch.full_like(drawn[:, :1], SEP), drawn[:, :-1]], dim=1)  # (B, L)
    log_probs = network.predict(memory, network.follow(memory, inputs))  # (B, L, S)
    picked = log_probs.gather(2, drawn[..., None])[..., 0]  # (B, L)
    is_end = drawn == EOS  # (B, L)
    mask = (is_end.cumsum(1) - is_end.long()) == 0  # (B, L), up to the first EOS
    sequence = -(torch.tensor(gains)[:, None] * picked * mask).sum()
    return Losses(sequence, int(mask.sum()), picked.new_zeros(()), 1)


def write(network: Seq2Seq, memory: Memory, *, is_drawn: bool) -> Tensor:
    """Lists of all documents, drawn or greedy, as slots that end with EOS, ``(B, L)``."""
    state = network.start(memory)
    words = torch.full((len(memory["mask"]), 1), SEP)  # (B, 1)
    columns: list[Tensor] = []
    has_ended = torch.zeros_like(words, dtype=torch.bool)
    while len(columns) < LONGEST and not has_ended.all():
        state = network.read(memory, state, words)
        log_probs = network.predict(memory, state)[:, 0]  # (B, S)
        best = log_probs.argmax(1, keepdim=True)  # (B, 1)
        words = torch.multinomial(log_probs.exp(), 1) if is_drawn else best
        words = words.masked_fill(has_ended, EOS)
        has_ended |= words == EOS
        columns.append(words)
    return torch.cat(columns, dim=1)


def split(slots: Sequence[int]) -> list[Phrase]:
    """The phrases of a list, up to its end.

    >>> split([5, 6, 0, 7, 0, 5, 6, 1, 1])
    [(5, 6), (7,), (5, 6)]
    """
    phrases: list[Phrase] = [()]
    for slot in slots:
        if slot == EOS:
            break
        if slot == SEP:
            phrases.append(())
        else:
            phrases[-1] = (*phrases[-1], slot)
    return list(filter(None, phrases))
