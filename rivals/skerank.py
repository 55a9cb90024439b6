r"""SKE-Rank: every span of a document is scored over a pretrained encoder; phrases are ranked.

Mu et al., Keyphrase Extraction with Span-based Feature Representations (2020; arXiv 2002.05407).
A span's features are the encoder's states at its ends, their mean inside it, and its width:

.. math::
    f(i, j) = w \cdot \mathrm{ReLU}(W [x_i ; x_j ; \bar x_{i..j} ; e_{j - i}]), \qquad
    P(y) = \sum_{(i, j) : x_{i..j} = y} \mathrm{softmax}(f)_{(i, j)}.

Each reference phrase is so ranked against all other spans of its document at once. A word's turn in
the search is the sum over the spans that go on with it, so that the search, which writes word after
word, finds the phrases with the highest P. The encoder is frozen; see `minilm.py`.
"""

import torch
from torch import Tensor, nn

from phraseloom.slots import EOS, FIRST_WORD
from rivals.minilm import LONGEST, WIDTH, MiniLM, load_minilm
from rivals.seq2seq import Memory, Seq2Seq, Sizes, Source, State, log_of

SPAN = 5
"""Words in a span, at most."""
_WIDTH_FEATURES = 16


class SkeRank(Seq2Seq):
    """Scores spans; a sequence is one phrase, and the decoder only adds up spans."""

    one_phrase = True
    reads_states = False
    seen = ("alive", "count")
    by_slot = ("slot_mask",)

    def __init__(self, sizes: Sizes) -> None:
        nn.Module.__init__(self)  # none of the shared network's weights
        self.sizes = sizes
        self.widths = nn.Embedding(SPAN, _WIDTH_FEATURES)
        self.hidden = nn.Linear(3 * WIDTH + _WIDTH_FEATURES, sizes.width)
        self.score = nn.Linear(sizes.width, 1)
        self.dropout = nn.Dropout(sizes.dropout)

    def encode(self, source: Source) -> Memory:
        documents = source.documents
        tokens = encode_words(load_minilm(), documents.texts, documents.mask)  # (B, T, WIDTH)
        scores = torch.stack([self.span_scores(tokens, width) for width in range(1, SPAN + 1)], 1)
        table, is_span = span_table(documents.slots, documents.mask)  # (B, M, SPAN + 1), (B, M)
        flat = scores.flatten(1).masked_fill(~is_span, -torch.inf)  # (B, M), M = SPAN * T
        # the trainer wants a gradient of word vectors, which are not read here
        weights = flat.softmax(1) + 0 * source.words.sum()
        return {"weights": weights, "table": table, "slot_mask": documents.slot_mask}

    def span_scores(self, tokens: Tensor, width: int) -> Tensor:
        """Scores of the spans of so many tokens that begin at each token, ``(B, T)``."""
        last = tokens.roll(1 - width, dims=1)  # (B, T, WIDTH); what wraps around is no span
        mean = sum((tokens.roll(-i, dims=1) for i in range(width)), 0 * tokens) / width
        features = self.widths.weight[width - 1].expand(*tokens.shape[:2], -1)
        joined = self.dropout(torch.cat([tokens, last, mean, features], dim=2))
        return self.score(self.dropout(torch.relu(self.hidden(joined))))[..., 0]

    def start(self, memory: Memory) -> State:
        alive = torch.ones_like(memory["weights"][:, None], dtype=torch.bool)  # (B, 1, M)
        return {"alive": alive, "count": torch.full(alive.shape[:2], -1)}  # SEP is not read yet

    def read(self, memory: Memory, state: State, words: Tensor) -> State:
        agrees = next_slots(memory, state["count"].clamp(min=0)) == words[..., None]  # (B, K, M)
        is_word = (words >= FIRST_WORD)[..., None]  # (B, K, 1)
        return {"alive": state["alive"] & (agrees | ~is_word), "count": state["count"] + 1}

    def predict(self, memory: Memory, state: State) -> Tensor:
        weights = memory["weights"][:, None] * state["alive"]  # (B, K, M)
        slots = next_slots(memory, state["count"].clamp(max=SPAN))  # (B, K, M)
        size = int(memory["slot_mask"].shape[1])
        sums = weights.new_zeros(*slots.shape[:2], size)  # (B, K, S)
        sums = sums.scatter_add(2, slots.clamp(max=size - 1), weights)
        return log_of(memory, sums / sums.sum(2, keepdim=True).clamp(min=1e-30))


def next_slots(memory: Memory, count: Tensor) -> Tensor:
    """What follows the first ``count`` words of each span, ``(B, K)`` to ``(B, K, M)``."""
    columns = memory["table"].transpose(1, 2)  # (B, SPAN + 1, M)
    return columns[torch.arange(len(count))[:, None], count.clamp(max=SPAN)]


def span_table(slots: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """The words of every span, EOS behind them, ``(B, M, SPAN + 1)``; which are real, ``(B, M)``.

    Args:
        slots: of tokens, ``(B, T)``.
        mask: which are real.
    """
    tables, real = [], []
    for width in range(1, SPAN + 1):
        words = [slots.roll(-i, dims=1) for i in range(width)]
        ends = [torch.full_like(slots, EOS)] * (SPAN + 1 - width)
        tables.append(torch.stack([*words, *ends], dim=2))  # (B, T, SPAN + 1)
        lengths = mask.sum(1, keepdim=True)  # (B, 1)
        real.append(torch.arange(slots.shape[1]) + width <= lengths)  # (B, T)
    return torch.cat(tables, dim=1), torch.cat(real, dim=1)


def encode_words(encoder: MiniLM, texts: list[list[str]], mask: Tensor) -> Tensor:
    """State of each word's first piece, ``(B, T, WIDTH)``; zero beyond what the encoder reads."""
    pieces = [[encoder.pieces.split(word) for word in words] for words in texts]
    rows = [[piece for word in words for piece in word][: LONGEST - 2] for words in pieces]
    ids = torch.zeros(len(rows), 2 + max(map(len, rows)), dtype=torch.int64)  # (B, Q)
    firsts = torch.zeros(mask.shape, dtype=torch.int64)  # (B, T)
    for b, row in enumerate(rows):
        ids[b, : 2 + len(row)] = torch.tensor([encoder.pieces.first, *row, encoder.pieces.last])
        starts = torch.tensor([0, *(len(word) for word in pieces[b])]).cumsum(0)[:-1]
        firsts[b, : len(starts)] = 1 + starts
    lengths = torch.tensor([2 + len(row) for row in rows])[:, None]  # (B, 1)
    states = encoder.encode(ids, torch.arange(ids.shape[1]) < lengths)  # (B, Q, WIDTH)
    is_read = (mask & (firsts < lengths - 1))[..., None]  # (B, T, 1)
    rows_of = torch.arange(len(rows))[:, None]  # (B, 1)
    return states[rows_of, firsts.clamp(max=ids.shape[1] - 1)] * is_read
