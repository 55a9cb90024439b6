"""The encoder: a document's graph, read once, then re-read for each phrase.

`GraphEncoder.read` does what no phrase changes: embeddings, BiGRU, the static part of the edge
scores. `GraphEncoder.reread` weighs the edges by what has been said and runs the graph
convolutions. Symbols follow docs/notation.md.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from phraseloom.config import ModelConfig
from phraseloom.data.batch import EOS, FIRST_WORD, Batch, Phrases
from phraseloom.data.copies import Copies, copy_graphs
from phraseloom.data.example import FEATURE_SIZES
from phraseloom.data.glossary import MARK_SIZES
from phraseloom.data.lexicon import Lexicon
from phraseloom.nn.edge_scorer import EdgeScorer, SaidInteraction, SaidShift
from phraseloom.nn.embedding import TokenEmbedding, WordEmbedding
from phraseloom.nn.gate import GatedLinear
from phraseloom.nn.gcn import GraphConvolution
from phraseloom.nn.masking import pad_rows
from phraseloom.nn.recurrent import run_bidirectional, schedule_steps
from phraseloom.nn.sparse import Pattern, gather_rows, segment_mean


@dataclass(frozen=True, slots=True)
class Encoded:
    """What is known of a batch before any phrase."""

    batch: Batch
    words: Tensor
    """Word vectors, ``(N, D_w)``."""
    nodes: Tensor
    """Contextual states :math:`h^0_i`, ``(N, D)``."""
    ends: Tensor
    """Last states of the BiGRU's two directions, ``(B, D)``."""
    edge_scores: Tensor
    """Static part of the edge scores, ``(E,)``; empty without a graph."""
    messages: Tensor
    """What each node says in the first convolution, ``(N, D)``; empty without a graph."""
    listening: Tensor
    """What of each token answers to the words said, ``(N, 2, rank)``; empty without interaction."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What the decoder reads of ``G`` graphs: :math:`H^p` and :math:`c^p`."""

    entries: Tensor
    """Node states :math:`H^p`, padded, ``(G, S', D)``; two first rows are left for SEP and EOS."""
    mask: Tensor
    """``(G, S')``, true for real entries, SEP and EOS."""
    entry_slots: Tensor | None
    """Slot of each entry, ``(G, S')``, if nodes are not merged; else entries are slots."""
    start: Tensor
    """:math:`c^p`, ``(G, D)``."""
    importance: Tensor
    """Score of each packed entry for belonging to a phrase, ``(M',)``; empty if not learned."""
    entry_of: Tensor
    """Slot on the batch's axis that each packed entry belongs to, ``(M',)``."""
    edge_weights: Tensor
    """:math:`A^p` of each copied edge, ``(E',)``; empty without a graph."""
    edge_copies: Tensor
    """Copy that each of them belongs to, ``(E',)``."""


class GraphEncoder(nn.Module):
    """Embedding, BiGRU, weighted graph convolutions, stem merge, gate."""

    def __init__(self, config: ModelConfig, lexicon: Lexicon) -> None:
        super().__init__()
        self.config = config
        self.words = WordEmbedding(len(lexicon.words), config.word_width, buckets=lexicon.buckets)
        self.has_styles = bool(lexicon.styles)
        sizes: tuple[int, ...] = FEATURE_SIZES if config.node_features else ()
        sizes += MARK_SIZES if config.known_phrases else ()
        sizes += (len(lexicon.styles),) if self.has_styles else ()
        self.tokens = TokenEmbedding(
            config.word_width,
            pos_tags=len(lexicon.pos_tags),
            pos_width=config.pos_width,
            position_width=config.position_width,
            feature_sizes=sizes,
        )
        self.context = nn.GRU(self.tokens.width, config.width // 2, bidirectional=True)
        self.dropout = nn.Dropout(config.dropout)
        if config.variant != "gru":
            self._add_graph(config, lexicon)
        if config.gate:
            self.gate = GatedLinear(config.width)
        if config.importance:
            self.importance = nn.Linear(config.width, 1)

    def _add_graph(self, config: ModelConfig, lexicon: Lexicon) -> None:
        self.edges = EdgeScorer(
            self.tokens.width,
            edge_types=lexicon.edge_types,
            edge_width=config.edge_width,
            is_scaled=config.scaled_edges,
        )
        self.convolutions = nn.ModuleList(
            GraphConvolution(config.width, residual=config.residual) for _ in range(config.layers)
        )
        if config.variant == "dgcn":
            self.shift = SaidShift(config.word_width, is_scaled=config.scaled_edges)
            if config.edge_scorer == "interaction":
                self.interaction = SaidInteraction(
                    config.word_width,
                    self.tokens.width,
                    rank=config.interaction_rank,
                    is_scaled=config.scaled_edges,
                )

    def read(self, batch: Batch) -> Encoded:
        """Everything up to :math:`h^0`, once per document."""
        words = self.words(batch.word_ids, batch.unknown_ngrams, batch.unknown_offsets)  # (N, D_w)
        tokens = self.tokens(words, batch.pos_ids, batch.positions, self._features(batch))
        nodes, ends = self._contextualise(batch, self.dropout(tokens))  # (N, D), (B, D)
        nodes = self.dropout(nodes)  # (N, D)
        scores = messages = listening = words.new_zeros(0)
        if self.config.variant != "gru":
            scores = self.edges(tokens, batch.edge_sources, batch.edge_targets, batch.edge_types)
            messages = self._layers[0].messages(nodes)  # (N, D)
        if self.is_dynamic and self.config.edge_scorer == "interaction":
            listening = self.interaction.listen(tokens)  # (N, 2, rank)
        return Encoded(batch, words, nodes, ends, scores, messages, listening)

    def _features(self, batch: Batch) -> Tensor:
        columns = [batch.features] if self.config.node_features else []
        if self.config.known_phrases:
            columns.append(batch.marks)
        if self.has_styles:
            sizes = batch.node_offsets.diff()  # (B,)
            columns.append(batch.styles.repeat_interleave(sizes)[:, None])
        return torch.cat(columns, 1) if columns else batch.features[:, :0]  # (N, F)

    def _contextualise(self, batch: Batch, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Equation (E4): a BiGRU over each document, packed so that padding costs nothing."""
        schedule = schedule_steps(batch.node_offsets)
        states = run_bidirectional(self.context, tokens, schedule)  # (N, D)
        forwards, backwards = states.chunk(2, 1)  # (N, D / 2)
        ends = [forwards[batch.node_offsets[1:] - 1], backwards[batch.node_offsets[:-1]]]
        return states, torch.cat(ends, 1)  # (N, D), (B, D)

    def reread(self, encoded: Encoded, phrases: Phrases) -> Memory:
        """:math:`H^p, c^p` for each begun phrase or, in static variants, for each document."""
        batch = encoded.batch
        documents = phrases.documents if self.is_dynamic else torch.arange(len(batch))
        copies = copy_graphs(batch, documents)
        nodes = gather_rows(
            encoded.nodes, copies.nodes, copies.node_copies, copies.node_copy_offsets
        )  # (N', D)
        weights = encoded.edge_scores
        if self.config.variant != "gru":
            weights = torch.sigmoid(self._edge_scores(encoded, phrases, copies))  # (E',)
            nodes = self._convolve(encoded, copies, weights, nodes)  # (N', D)
        return self._finish(encoded, copies, nodes, weights)

    @property
    def is_dynamic(self) -> bool:
        """Whether the graph is re-scored for each phrase."""
        return self.config.variant == "dgcn"

    @property
    def _layers(self) -> list[GraphConvolution]:
        return list(cast(Iterable[GraphConvolution], self.convolutions))

    def _edge_scores(self, encoded: Encoded, phrases: Phrases, copies: Copies) -> Tensor:
        """Equations (G1) to (G3): static scores, moved by what was said."""
        scores = encoded.edge_scores[copies.edges]  # (E',)
        if not self.is_dynamic:
            return scores
        said = mean_said(encoded, phrases)  # (G, D_w)
        copy_of_edge = copies.copy_of_node[copies.edge_targets]  # (E',)
        scores = scores + self.shift(said)[copy_of_edge]  # (E',)
        if self.config.edge_scorer == "interaction":
            answers = self.interaction(
                said, encoded.listening, copies.copy_of_node, copies.nodes
            )  # (N', 2)
            as_target, as_source = answers.unbind(1)  # (N',), (N',)
            scores = scores + as_target[copies.edge_targets] + as_source[copies.edge_sources]
        return scores

    def _convolve(self, encoded: Encoded, copies: Copies, weights: Tensor, nodes: Tensor) -> Tensor:
        """Equation (G4), layer by layer; the first layer's messages are made once per document."""
        pattern = Pattern(
            copies.edge_offsets, copies.edge_sources, copies.edge_targets, copies.edge_reverse
        )
        degrees = copies.edge_offsets.diff().to(weights.dtype)  # (N',)
        weights = weights / degrees[copies.edge_targets]  # (E',)
        messages = gather_rows(
            encoded.messages, copies.nodes, copies.node_copies, copies.node_copy_offsets
        )  # (N', D)
        first, *others = self._layers
        nodes = first.receive(pattern, weights, messages, nodes)  # (N', D)
        for layer in others:
            nodes = layer(pattern, weights, nodes)  # (N', D)
        return nodes

    def _finish(self, encoded: Encoded, copies: Copies, nodes: Tensor, weights: Tensor) -> Memory:
        """Equations (M1) to (M3): merge by stem, gate, average, and pad for the decoder."""
        graphs = len(copies.documents)
        if self.config.merge:
            nodes = segment_mean(
                nodes, copies.slot_of_node, copies.slot_nodes, copies.slot_node_offsets
            )  # (M', D)
            copy_of, entry_of = copies.copy_of_slot, copies.slots
        else:
            copy_of, entry_of = copies.copy_of_node, encoded.batch.slot_of_node[copies.nodes]
        if self.config.gate:
            nodes = self.gate(nodes)  # (M', D)
        sizes = copy_of.bincount(minlength=graphs)  # (G,)
        first = sizes.cumsum(0) - sizes  # (G,)
        width = FIRST_WORD + int(sizes.max())
        local = FIRST_WORD + torch.arange(len(copy_of)) - first[copy_of]  # (M',)
        places = copy_of * width + local  # (M',)
        padded = pad_rows(self.dropout(nodes), places, size=graphs * width)
        mean = padded.view(graphs, width, -1).sum(1) / sizes[:, None]  # (G, D)
        entry_slots = None
        if not self.config.merge:
            within = entry_of - encoded.batch.slot_offsets[copies.documents][copy_of]
            entry_slots = torch.zeros(graphs * width, dtype=torch.long)
            entry_slots[places] = FIRST_WORD + within
            entry_slots = entry_slots.view(graphs, width)
            entry_slots[:, EOS] = EOS
        return Memory(
            entries=padded.view(graphs, width, -1),
            mask=torch.arange(width) < FIRST_WORD + sizes[:, None],
            entry_slots=entry_slots,
            start=mean if self.config.pooling else encoded.ends[copies.documents],
            importance=self.importance(nodes).squeeze(1)
            if self.config.importance
            else nodes.new_zeros(0),
            entry_of=entry_of,
            edge_weights=weights,
            edge_copies=copies.copy_of_node[copies.edge_targets],
        )


def mean_said(encoded: Encoded, phrases: Phrases) -> Tensor:
    r"""Equation (G5), :math:`\hat e_{<p}`: mean vector of the words said before, ``(R, D_w)``.

    Zero where nothing was said. The word of a slot is the first with that stem.
    """
    nodes = said_nodes(encoded.batch, phrases)
    return F.embedding_bag(nodes, encoded.words, phrases.said_offsets[:-1], mode="mean")


def said_nodes(batch: Batch, phrases: Phrases) -> Tensor:
    """The node that stands for each said word, one after another."""
    counts = phrases.said_offsets.diff()  # (R,)
    slots = phrases.said_slots + batch.slot_offsets[phrases.documents].repeat_interleave(counts)
    return first_nodes(batch)[slots]


def first_nodes(batch: Batch) -> Tensor:
    """First node of each slot, ``(M,)``: its word stands for the slot."""
    return batch.slot_nodes[batch.slot_node_offsets[:-1]]  # (M,)
