r"""DivGraphPointer: a graph of words that stand near each other, and a pointer into it.

Sun et al., DivGraphPointer: A Graph Pointer Network for Extracting Diverse Keyphrases (SIGIR
2019). A node is a stem. Edges add up how near its occurrences are to those of another, forwards and
backwards apart; both matrices are divided by their rows' sums:

.. math::
    \overrightarrow{A}_{ij} = \sum_{p \in P_i, q \in P_j} \mathrm{relu}(1 / (q - p)), \qquad
    f(H) = \overrightarrow{A} H W_1 + \overleftarrow{A} H W_2 + H W_3, \qquad
    H' = H + f(H) \otimes \sigma(g(H)).

The decoder points at nodes, SEP or EOS. Its state starts anew for each phrase, from the mean node
c and the mean of the words written so far (context modification); coverage of nodes enters scores:

.. math::
    s_0 = \tanh(W_0 [c ; \bar y]), \qquad P(y_t) = \mathrm{softmax}(H W_a s_t + v_\kappa \kappa_t).
"""

import torch
from torch import Tensor, nn

from phraseloom.slots import FIRST_WORD, SEP
from rivals.seq2seq import Memory, Seq2Seq, Sizes, Source, State, log_of

LAYERS = 3
WINDOW = 10
"""Words farther apart add less than a tenth, and are left out."""


class Convolution(nn.Module):
    """One gated graph convolution over edges in both directions."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.value = nn.ModuleList(nn.Linear(width, width, bias=i == 2) for i in range(3))
        self.gate = nn.ModuleList(nn.Linear(width, width, bias=i == 2) for i in range(3))

    def forward(self, nodes: Tensor, forwards: Tensor, backwards: Tensor) -> Tensor:
        """Nodes after it, ``(B, S, D)``."""
        near = (forwards @ nodes, backwards @ nodes, nodes)
        value = sum((part(x) for part, x in zip(self.value, near, strict=True)), nodes * 0)
        gate = sum((part(x) for part, x in zip(self.gate, near, strict=True)), nodes * 0)
        return nodes + value * torch.sigmoid(gate)


class DivGraphPointer(Seq2Seq):
    """Copies from a graph; the keys of attention are slots, SEP and EOS learned ones."""

    seen = ("attention",)
    by_slot = (*Seq2Seq.by_slot, "keys", "mask", "slots")
    reads_states = False

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        del self.output, self.vocabulary, self.switch, self.bridge
        width = sizes.width
        self.node = nn.Linear(sizes.token_width, width)
        self.convolutions = nn.ModuleList(Convolution(width) for _ in range(LAYERS))
        self.norm = nn.LayerNorm(width)  # or the mean node soon saturates the state
        self.end_keys = nn.Parameter(torch.randn(FIRST_WORD, width) * width**-0.5)
        self.modify = nn.Linear(width + sizes.word_width, width)  # W_0
        self.covered = nn.Parameter(torch.zeros(1))  # v_kappa

    def encode(self, source: Source) -> Memory:
        documents = source.documents
        is_node = documents.slot_mask[..., None].float()  # (B, S, 1)
        is_node[:, :FIRST_WORD] = 0
        is_of_slot = torch.zeros(*documents.slots.shape, documents.slot_mask.shape[1])
        is_of_slot.scatter_(2, documents.slots[..., None], documents.mask[..., None].float())
        counts = is_of_slot.sum(1).clamp(min=1)[..., None]  # (B, S, 1)
        nodes = self.node(self.dropout(is_of_slot.transpose(1, 2) @ source.tokens / counts))
        forwards, backwards = proximity(is_of_slot)  # (B, S, S)
        for convolution in self.convolutions:
            nodes = convolution(nodes, forwards, backwards) * is_node  # (B, S, D)
        nodes = self.norm(nodes) * is_node  # (B, S, D)
        ends = self.end_keys.expand(len(nodes), -1, -1)  # (B, 2, D)
        memory = self.remember(source, torch.cat([ends, nodes[:, FIRST_WORD:]], dim=1))
        slots = torch.arange(nodes.shape[1]).expand(len(nodes), -1)  # (B, S)
        center = nodes.sum(1) / is_node.sum(1).clamp(min=1)  # (B, D)
        return {**memory, "center": center, "mask": documents.slot_mask, "slots": slots}

    def start(self, memory: Memory) -> State:
        nothing = torch.zeros_like(memory["mask"][:, None], dtype=torch.float32)  # (B, 1, S)
        return {
            "hidden": torch.zeros_like(memory["center"][:, None]),  # (B, 1, D)
            "attention": nothing,
            "coverage": nothing,
            "written": torch.zeros_like(memory["slot_words"][:, :1]),  # (B, 1, D_w)
            "count": torch.zeros(len(nothing), 1),
        }

    def read(self, memory: Memory, state: State, words: Tensor) -> State:
        vectors = self.vectors(memory, words)  # (B, K, D_w)
        is_separator = (words == SEP)[..., None]  # (B, K, 1)
        written = state["written"] + vectors * ~is_separator  # (B, K, D_w)
        count = state["count"] + (words != SEP)  # (B, K)
        begun = self.modified(memory, written, count)  # (B, K, D)
        hidden = self.advance(vectors, torch.where(is_separator, begun, state["hidden"]))
        size = memory["slot_mask"].shape[1]
        coverage = (state["coverage"] + state["attention"])[..., :size]  # (B, K, S)
        bonus = self.covered * coverage
        return {
            "hidden": hidden,
            "attention": self.attend(memory, self.dropout(hidden), bonus),
            "coverage": coverage,
            "written": written,
            "count": count,
        }

    def modified(self, memory: Memory, written: Tensor, count: Tensor) -> Tensor:
        """Where a phrase starts from, given the words written before it, ``(B, K, D)``."""
        center = memory["center"][:, None].expand(-1, written.shape[1], -1)  # (B, K, D)
        mean = written / count.clamp(min=1)[..., None]  # (B, K, D_w)
        return torch.tanh(self.modify(torch.cat([center, mean], dim=2)))

    def predict(self, memory: Memory, state: State) -> Tensor:
        return log_of(memory, state["attention"])


def proximity(is_of_slot: Tensor) -> tuple[Tensor, Tensor]:
    """Both matrices of edges, each row divided by its sum, ``(B, S, S)``.

    Args:
        is_of_slot: one-hot slot of each token, ``(B, T, S)``.
    """
    forwards = is_of_slot.new_zeros(len(is_of_slot), *[is_of_slot.shape[2]] * 2)  # (B, S, S)
    for distance in range(1, min(WINDOW, is_of_slot.shape[1] - 1) + 1):
        before, after = is_of_slot[:, :-distance], is_of_slot[:, distance:]  # (B, T - d, S)
        forwards += before.transpose(1, 2) @ after / distance
    backwards = forwards.transpose(1, 2)
    rows = (part / part.sum(2, keepdim=True).clamp(min=1e-9) for part in (forwards, backwards))
    first, second = rows
    return first, second
