r"""ParaNetT+CoAtt: words beside tags and relations, two encoders and two decoders in parallel.

Zhao and Zhang, Incorporating Linguistic Constraints into Keyphrase Generation (ACL 2019). One
encoder reads words, the other each word's tag and relation. One decoder writes a phrase, the other
its tags, which is a second task (the T). Each step attends to the tags first, and to the words with
what was found there, so that the two attentions know each other; :math:`s`, :math:`q` are the
states of the decoders:

.. math::
    q_t = \mathrm{GRU}(e^{tag}_{y_{t-1}}, q_{t-1}), \qquad
    c^{tag}_t = \mathrm{softmax}(G W_q q_t)^\top G, \qquad
    a_t = \mathrm{softmax}(H W_a (s_t + W_c c^{tag}_t)), \\
    P(tag_t) = \mathrm{softmax}(W_t [q_t ; c^{tag}_t]).
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from phraseloom.slots import FIRST_WORD
from rivals.documents import PhraseTargets
from rivals.seq2seq import Memory, Seq2Seq, Sizes, Source, State, masked_softmax, run_packed

TASK_WEIGHT = 0.3
"""Of the loss of tags beside that of words."""


class ParaNet(Seq2Seq):
    """Two encoders, two decoders; a sequence is one phrase."""

    one_phrase = True
    seen = ("hidden", "word", "tagging")

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        width, half = sizes.width, sizes.width // 2
        self.tag_count = sizes.tags  # SEP and EOS have tags of their own behind those
        self.tags = nn.Embedding(sizes.tags + FIRST_WORD, half)
        self.relations = nn.Embedding(sizes.relations, half)
        self.tag_encoder = nn.GRU(width, half, bidirectional=True, batch_first=True)
        self.tag_cell = nn.GRUCell(half, width)
        self.tag_query = nn.Linear(width, width, bias=False)  # W_q
        self.of_tags = nn.Linear(width, width)  # W_c
        self.tag_output = nn.Linear(2 * width, sizes.tags + FIRST_WORD)  # W_t

    def encode(self, source: Source) -> Memory:
        documents = source.documents
        rows = torch.arange(len(documents.tags))[:, None]  # (B, 1)
        pairs = [self.tags(documents.tags), self.relations(documents.relations)]
        lengths = documents.mask.sum(1)  # (B,)
        tag_keys = run_packed(self.tag_encoder, self.dropout(torch.cat(pairs, dim=2)), lengths)
        slot_tags = documents.tags[rows, documents.first_tokens].clone()  # (B, S)
        slot_tags[:, :FIRST_WORD] = self.tag_count + torch.arange(FIRST_WORD)
        return {**super().encode(source), "tag_keys": tag_keys, "slot_tags": slot_tags}

    def start(self, memory: Memory) -> State:
        state = super().start(memory)
        return {**state, "tagging": state["hidden"]}

    def read(self, memory: Memory, state: State, words: Tensor) -> State:
        tags = memory["slot_tags"][torch.arange(len(words))[:, None], words]  # (B, K)
        before = state["tagging"]  # (B, K, D)
        inputs = self.tags(tags).flatten(0, 1)
        tagging = self.tag_cell(inputs, before.flatten(0, 1)).view_as(before)
        return {**super().read(memory, state, words), "tagging": tagging}

    def predict(self, memory: Memory, state: State) -> Tensor:
        context = self.attend_to_tags(memory, state["tagging"])  # (B, K, D)
        hidden = self.dropout(state["hidden"]) + self.of_tags(context)  # (B, K, D)
        return self.mix(memory, hidden, state["word"], self.attend(memory, hidden))

    def attend_to_tags(self, memory: Memory, tagging: Tensor) -> Tensor:
        """What the tag decoder finds among the tags, ``(B, K, D)``."""
        keys = memory["tag_keys"]  # (B, T, D)
        scores = self.tag_query(tagging) @ keys.transpose(1, 2) / self.sizes.width**0.5
        return masked_softmax(scores, memory["mask"][:, None]) @ keys

    def further_loss(self, memory: Memory, states: State, targets: PhraseTargets) -> Tensor:
        tagging = states["tagging"]  # (P, L, D)
        both = torch.cat([tagging, self.attend_to_tags(memory, tagging)], dim=2)  # (P, L, 2D)
        tags = memory["slot_tags"].gather(1, targets.slots)  # (P, L)
        mask = targets.mask
        return TASK_WEIGHT * F.cross_entropy(self.tag_output(both)[mask], tags[mask])
