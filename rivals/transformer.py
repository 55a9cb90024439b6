r"""Transformer: the same task on self-attention, with the shared generate-and-copy head.

Vaswani et al., Attention Is All You Need (NIPS 2017); as a keyphrase generator in Meng et al., An
Empirical Study on Neural Keyphrase Generation (NAACL 2021). Layers normalise before they attend.
The attention that copies is that of the head, over the encoder's last states.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from phraseloom.network.encoder import sinusoids
from phraseloom.train.ops import TorchOps
from rivals.seq2seq import Memory, Seq2Seq, Sizes, Source, State

LAYERS, HEADS = 2, 4


class Attention(nn.Module):
    """Heads side by side; queries may have an axis of hypotheses that keys lack."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.output = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, queries: Tensor, keys: Tensor, mask: Tensor) -> Tensor:
        """Attend: ``(…, Q, D)`` to ``(…, J, D)`` where ``mask``, ``(…, Q, J)``, is true."""
        return self.attend(queries, *self.project(keys), mask)

    def project(self, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of all heads, ``(…, J, D)`` each: of a source, once and for all."""
        return self.key(keys), self.value(keys)

    def attend(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
        """`forward` with keys and values that are projected already."""
        parts = self.query(queries), keys, values
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(-2, -3) for part in parts)
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask.unsqueeze(-3))
        return self.output(heads.transpose(-2, -3).flatten(-2))


class Layer(nn.Module):
    """Self-attention, attention to the source if there is one, and a network for each word."""

    def __init__(self, sizes: Sizes, *, reads_source: bool) -> None:
        super().__init__()
        width = sizes.width
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2 + reads_source))
        self.own = Attention(width)
        self.source = Attention(width) if reads_source else None
        self.expand, self.shrink = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.dropout = nn.Dropout(sizes.dropout)

    def forward(
        self,
        words: Tensor,
        past: Tensor,
        mask: Tensor,
        source: tuple[Tensor, Tensor, Tensor] | None = None,
    ) -> Tensor:
        """States after the layer.

        Args:
            words: states before it, ``(…, Q, D)``.
            past: what self-attention reads, before its norm, ``(…, J, D)``.
            mask: where it may, ``(…, Q, J)``.
            source: keys and values of the source, and where they are, if it is read.
        """
        norm = self.norms[0]
        words = words + self.dropout(self.own(norm(words), norm(past), mask))
        if self.source is not None and source is not None:
            words = words + self.dropout(self.source.attend(self.norms[2](words), *source))
        inner = F.relu(self.expand(self.norms[1](words)))
        return words + self.dropout(self.shrink(self.dropout(inner)))


class Transformer(Seq2Seq):
    """Self-attention reads and writes; the BiGRU and the shared cell are not used."""

    reads_states = False

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        del self.cell, self.bridge
        self.of_token = nn.Linear(sizes.token_width, sizes.width)
        self.of_word = nn.Linear(sizes.word_width, sizes.width)
        self.encoder = nn.ModuleList(Layer(sizes, reads_source=False) for _ in range(LAYERS))
        self.decoder = nn.ModuleList(Layer(sizes, reads_source=True) for _ in range(LAYERS))
        self.norms = nn.ModuleList(nn.LayerNorm(sizes.width) for _ in range(2))

    def encode(self, source: Source) -> Memory:
        mask = source.documents.mask[:, None]  # (B, 1, T)
        tokens = self.dropout(self.of_token(source.tokens))  # (B, T, D)
        tokens = tokens + self.places(torch.arange(tokens.shape[1]))  # (B, T, D)
        for layer in self.encoder:
            tokens = layer(tokens, tokens, mask)
        keys = self.norms[0](tokens) * source.documents.mask[..., None]  # (B, T, D)
        memory = self.remember(source, keys)
        for i, layer in enumerate(self.decoder):
            assert isinstance(layer, Layer) and layer.source is not None
            memory[f"keys{i}"], memory[f"values{i}"] = layer.source.project(keys)
        return memory

    def start(self, memory: Memory) -> State:
        rows, width = len(memory["keys"]), self.sizes.width
        state = {f"past{i}": torch.zeros(rows, 1, 0, width) for i in range(LAYERS)}
        state["is_past"] = torch.zeros(rows, 1, 0, dtype=torch.bool)
        state["hidden"] = torch.zeros(rows, 1, width)
        state["word"] = torch.zeros(rows, 1, self.sizes.word_width)
        return state

    def read(self, memory: Memory, state: State, words: Tensor) -> State:
        vectors = self.vectors(memory, words)  # (B, K, D_w)
        is_past = F.pad(state["is_past"], [0, 1], value=True)  # (B, K, t)
        place = is_past.sum(2) - 1  # (B, K)
        hidden = (self.of_word(vectors) + self.places(place))[:, :, None]  # (B, K, 1, D)
        mask = memory["mask"][:, None, None]  # (B, 1, 1, T)
        after: State = {"is_past": is_past, "word": vectors}
        for i, layer in enumerate(self.decoder):
            past = torch.cat([state[f"past{i}"], hidden], dim=2)  # (B, K, t, D)
            after[f"past{i}"] = past
            source = memory[f"keys{i}"][:, None], memory[f"values{i}"][:, None], mask
            hidden = layer(hidden, past, is_past[:, :, None], source)
        return {**after, "hidden": self.norms[1](hidden[:, :, 0])}

    def follow(self, memory: Memory, inputs: Tensor) -> State:
        """All steps at once: a step sees itself and those before it."""
        vectors, size = self.vectors(memory, inputs), inputs.shape[1]  # (P, L, D_w)
        hidden = self.of_word(vectors) + self.places(torch.arange(size))  # (P, L, D)
        causal = torch.ones(size, size, dtype=torch.bool).tril()[None]  # (1, L, L)
        for i, layer in enumerate(self.decoder):
            source = memory[f"keys{i}"], memory[f"values{i}"], memory["mask"][:, None]
            hidden = layer(hidden, hidden, causal, source)
        return {"hidden": self.norms[1](hidden), "word": vectors}

    def places(self, numbers: Tensor) -> Tensor:
        """Sinusoids of places in a sequence, ``(…)`` to ``(…, D)``."""
        flat = sinusoids(numbers.flatten().float(), self.sizes.width, TorchOps.xp)
        return flat.view(*numbers.shape, -1)
