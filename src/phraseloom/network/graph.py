"""Documents as graphs on shared axes: all index arithmetic of the network, in NumPy, no padding.

A batch packs the nodes, edges and merged nodes of its documents one after another. A dynamic graph
has other edge weights for every phrase but the same structure, so structure is copied here, for
each begun phrase, without a loop; what no phrase changes is computed once and read through indices.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from phraseloom.network.example import Example
from phraseloom.network.lexicon import Ids, Lexicon
from phraseloom.slots import EOS, FIRST_WORD, Phrase

SELF_LOOP = 0
"""Type of the edge from a node to itself; relation r is ``1 + r``, its inverse ``1 + R + r``."""


@dataclass(frozen=True)
class Groups:
    """Rows put into groups; group i holds ``rows[offsets[i]:offsets[i + 1]]``."""

    rows: Any
    offsets: Any

    @cached_property
    def schedule(self) -> tuple[Ids, list[Ids]]:
        """Groups by falling size, and which entry of ``rows`` is the k-th of each that has one.

        So that sums over groups are a few sums over long arrays.
        """
        sizes = np.diff(self.offsets)
        order = np.argsort(-sizes, kind="stable")  # (groups,)
        starts = self.offsets[:-1][order]
        at_least = np.cumsum(np.bincount(sizes, minlength=1)[::-1])[::-1]  # groups of size >= k
        return order, [starts[:count] + k for k, count in enumerate(at_least[1:].tolist())]


@dataclass(frozen=True)
class Edges:
    """Edges into each node, sorted by target and then by source; the pattern is symmetric."""

    into: Groups
    """Source of every edge, grouped by target, ``(E,)`` and ``(N + 1,)``."""
    targets: Any
    """``(E,)``."""
    reverse: Any
    """Index of the edge that runs the other way, ``(E,)``; a self-loop is its own."""
    degrees: Any
    """:math:`d_i`: edges into the target of each edge, ``(E,)``, float32."""

    @property
    def sources(self) -> Any:
        """``(E,)``."""
        return self.into.rows

    @cached_property
    def blocks(self) -> "Blocks":
        """The matrix of the edges, cut where no edge crosses: a sentence is a block of its own."""
        nodes = len(self.into.offsets) - 1
        low, high = np.minimum(self.targets, self.sources), np.maximum(self.targets, self.sources)
        crossing = np.cumsum(np.bincount(low, minlength=nodes) - np.bincount(high, minlength=nodes))
        bounds = np.concatenate([[0], np.flatnonzero(crossing == 0) + 1])
        sizes = np.diff(bounds)
        block_of = np.repeat(np.arange(len(sizes)), sizes)[self.targets]  # (E,)
        starts, cells = bounds[block_of], offsets_of(sizes**2)
        rows, columns = self.targets - starts, self.sources - starts
        return Blocks(
            bounds=list(zip(bounds.tolist(), bounds[1:].tolist(), cells.tolist(), strict=False)),
            cells=cells[block_of] + rows * sizes[block_of] + columns,
            size=int(cells[-1]),
        )


class Blocks(NamedTuple):
    """Dense blocks along the diagonal of an adjacency matrix, one after the other in one array."""

    bounds: list[tuple[int, int, int]]
    """First node of each block, the node after its last, and its first cell."""
    cells: Ids
    """Cell of each edge, ``(E,)``."""
    size: int
    """Cells of all blocks."""


def build_edges(heads: Ids, relations: Ids, *, relation_count: int) -> tuple[Edges, Ids]:
    """Edges of a forest given by each node's head, and their types.

    Every arc gives two directed edges, typed by its relation and by the relation's inverse, and
    every node has a self-loop.

    Args:
        heads: governing node of each node, ``(N,)``; a root is its own head.
        relations: relation of each node to its head, below ``relation_count``; a root's is unused.
        relation_count: number of relations.
    """
    nodes = np.arange(len(heads))
    dependents = np.flatnonzero(heads != nodes)
    governors, labels = heads[dependents], relations[dependents]
    targets = np.concatenate([nodes, dependents, governors])
    sources = np.concatenate([nodes, governors, dependents])
    types = np.concatenate(
        [np.full(len(nodes), SELF_LOOP), 1 + labels, 1 + relation_count + labels]
    )
    order = np.argsort(targets * len(nodes) + sources)
    targets, sources, types = targets[order], sources[order], types[order]
    degrees = np.bincount(targets, minlength=len(nodes))  # (N,)
    return Edges(
        into=Groups(sources, offsets_of(degrees)),
        targets=targets,
        reverse=np.argsort(sources * len(nodes) + targets),
        degrees=degrees[targets].astype(np.float32),
    ), types


class Schedule(NamedTuple):
    """When a recurrent network reads each row: at step t, the t-th rows of all documents."""

    orders: Any
    """Rows in the order of reading, forwards and backwards, ``(2, N)``; long documents first."""
    sizes: list[int]
    """Rows that are read at each step; they never grow."""


def schedule_steps(offsets: Ids) -> Schedule:
    """Schedule of the documents whose rows are ``offsets[b]:offsets[b + 1]``, ``(B + 1,)``."""
    lengths = np.diff(offsets)  # (B,)
    rank = np.argsort(np.argsort(-lengths, kind="stable"))  # (B,)
    rows = np.arange(offsets[-1])  # (N,)
    forwards = rows - np.repeat(offsets[:-1], lengths)  # (N,)
    backwards = np.repeat(offsets[1:], lengths) - 1 - rows  # (N,)
    steps = np.stack([forwards, backwards])  # (2, N)
    orders = np.argsort(steps * len(lengths) + np.repeat(rank, lengths), axis=1)  # (2, N)
    return Schedule(orders, np.bincount(forwards).tolist())


@dataclass(frozen=True)
class Batch:
    """Documents as one graph: ``N`` nodes, ``E`` edges, ``M`` distinct stems in all."""

    word_ids: Any
    """Vocabulary ids, ``(N,)``; ``V + k`` is unknown word k of the batch."""
    unknown_nodes: Any
    """Nodes whose word is unknown."""
    unknown_ngrams: Groups
    """N-gram buckets of each unknown word."""
    pos_ids: Any
    positions: Any
    """Index of each node in its document, float32."""
    features: Any
    """Bucketed features of each node: of its stem, the glossary, style, token, ``(N, 11)``."""
    styles: Any
    """Annotators' style of each document, ``(B,)``."""
    node_offsets: Any
    """Nodes of document b are ``node_offsets[b]:node_offsets[b + 1]``, ``(B + 1,)``."""
    schedule: Schedule
    edges: Edges
    edge_types: Any
    """``(E,)``."""
    stem_offsets: Any
    """Distinct stems of document b are ``stem_offsets[b]:stem_offsets[b + 1]``, ``(B + 1,)``."""
    stem_of_node: Any
    """Distinct stem of each node on the batch's axis, ``(N,)``."""
    nodes_of_stem: Groups
    """Nodes of each of the ``M`` distinct stems."""
    first_nodes: Any
    """First node of each stem, ``(M,)``: its word stands for the stem."""

    def __len__(self) -> int:
        return len(self.styles)


def collate(examples: Sequence[Example], lexicon: Lexicon) -> Batch:
    """Pack documents, each with at least one token, into one graph."""
    sizes = np.array([len(example) for example in examples])
    if not len(sizes) or not sizes.all():
        raise ValueError("a batch has at least one document and each at least one token")
    node_offsets = offsets_of(sizes)
    stem_offsets = offsets_of(np.array([example.stem_ids.max() + 1 for example in examples]))
    node_starts = np.repeat(node_offsets[:-1], sizes)
    stem_of_node = _join(examples, "stem_ids") + np.repeat(stem_offsets[:-1], sizes)
    edges, edge_types = build_edges(
        _join(examples, "heads") + node_starts,
        _join(examples, "relation_ids"),
        relation_count=len(lexicon.relations),
    )
    styles = np.array([example.style for example in examples])
    features = [
        _join(examples, "node_features"),
        _join(examples, "glossary_features"),
        np.repeat(styles, sizes)[:, None],
        _join(examples, "token_features"),
    ]
    nodes_of_stem = Groups(
        np.argsort(stem_of_node, kind="stable"), offsets_of(np.bincount(stem_of_node))
    )
    word_ids, unknown_ngrams = _number_unknown(examples, sizes, lexicon)
    return Batch(
        word_ids=word_ids,
        unknown_nodes=np.flatnonzero(word_ids >= len(lexicon.words)),
        unknown_ngrams=unknown_ngrams,
        pos_ids=_join(examples, "pos_ids"),
        positions=(np.arange(len(node_starts)) - node_starts).astype(np.float32),
        features=np.concatenate(features, axis=1),
        styles=styles,
        node_offsets=node_offsets,
        schedule=schedule_steps(node_offsets),
        edges=edges,
        edge_types=edge_types,
        stem_offsets=stem_offsets,
        stem_of_node=stem_of_node,
        nodes_of_stem=nodes_of_stem,
        first_nodes=nodes_of_stem.rows[nodes_of_stem.offsets[:-1]],
    )


def _number_unknown(
    examples: Sequence[Example], sizes: Ids, lexicon: Lexicon
) -> tuple[Ids, Groups]:
    """Renumber unknown words on one axis for the batch, and list the n-grams of each."""
    counts = np.array([len(example.unknown) for example in examples])
    shift = np.repeat(offsets_of(counts)[:-1], sizes)
    word_ids = _join(examples, "word_ids")
    is_unknown = word_ids >= len(lexicon.words)
    ngrams = [lexicon.ngrams(word) for example in examples for word in example.unknown]
    rows = np.concatenate([*ngrams, np.zeros(0, dtype=np.int64)])
    offsets = offsets_of(np.array([len(ids) for ids in ngrams], dtype=np.int64))
    return word_ids + shift * is_unknown, Groups(rows, offsets)


def _join(examples: Sequence[Example], column: str) -> Ids:
    return np.concatenate([getattr(example, column) for example in examples])


def offsets_of(sizes: Ids) -> Ids:
    """Where each of several stretches of these sizes begins, and where the last one ends."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])


@dataclass(frozen=True)
class PhraseContext:
    """Begun phrases, one a row: which document each is of, and what was decoded before it."""

    documents: Any
    """``(P,)``."""
    numbers: Any
    """How many phrases were decoded before, ``(P,)``."""
    history_nodes: Groups
    """Batch node that stands for each word of the earlier phrases."""
    history_counts: Any
    """How often each slot was written in earlier phrases, ``(P, S)``, float32."""
    styles: Any
    """Style of each row's document, ``(P,)``."""


def phrase_context(
    batch: Batch, documents: Sequence[int], history: Sequence[Sequence[Phrase]]
) -> PhraseContext:
    """Begin the next phrase of these documents, given the earlier phrases of each, as slots."""
    rows = np.asarray(documents, dtype=np.int64)  # (P,)
    slots = [[slot for phrase in phrases for slot in phrase] for phrases in history]
    sizes = np.array([len(written) for written in slots], dtype=np.int64)  # (P,)
    row_of = np.repeat(np.arange(len(rows)), sizes)
    flat = np.array([slot for written in slots for slot in written], dtype=np.int64)
    width = FIRST_WORD + int(np.diff(batch.stem_offsets)[rows].max(initial=0))
    counts = np.bincount(row_of * width + flat, minlength=len(rows) * width)
    stems = flat - FIRST_WORD + batch.stem_offsets[rows][row_of]
    return PhraseContext(
        documents=rows,
        numbers=np.array([len(phrases) for phrases in history], dtype=np.int64),
        history_nodes=Groups(batch.first_nodes[stems], offsets_of(sizes)),
        history_counts=counts.reshape(len(rows), width).astype(np.float32),
        styles=batch.styles[rows],
    )


@dataclass(frozen=True)
class GraphCopies:
    """``G`` copied graphs: what the decoder may copy from them, and their edges if those move."""

    documents: Any  # (G,)
    entries: "Entries"
    graph: "CopiedGraph | None"  # none if edges stand still, and all copies have the same nodes


@dataclass(frozen=True)
class CopiedGraph:
    """Copies on one axis of ``N'`` nodes, ``E'`` edges and ``M'`` merged nodes."""

    nodes: Any
    """Batch node that each copied node is a copy of, ``(N',)``."""
    edge_ids: Any
    """Batch edge that each copied edge is a copy of, ``(E',)``."""
    edges: Edges
    node_offsets: Any  # (G + 1,)
    entry_offsets: Any  # (G + 1,), of merged nodes, or of nodes if they are not merged
    copy_of_node: Any  # (N',)
    copy_of_edge: Any  # (E',)
    nodes_of_stem: Groups
    """Copied nodes of each of the ``M'`` merged nodes."""


@dataclass(frozen=True)
class Entries:
    """What can be copied from each of ``G`` graphs, padded to ``S``: SEP, EOS, then nodes."""

    rows: Any
    """Padded row ``g * S + s`` of each packed entry."""
    copies: Any
    """Copy g of each packed entry."""
    sources: Any
    """Merged node of the batch that each packed entry is; its node if nodes are not merged."""
    sizes: Any
    """Entries of each graph, ``(G, 1)``, float32, SEP and EOS not counted."""
    mask: Any
    """True for real entries, SEP and EOS, ``(G, S)``."""
    slot_of_entry: Any
    """One-hot slot of each entry, ``(G, S, slots)``; none if entries are slots."""


def copy_graphs(
    batch: Batch, documents: Ids, *, is_merged: bool = True, is_moving: bool = True
) -> GraphCopies:
    """Copy the graph of each of these documents, ``(G,)``, in that order.

    The decoder copies from merged nodes or from all; edges may be moving, from copy to copy.
    """
    offsets = batch.stem_offsets if is_merged else batch.node_offsets
    sources, _, counts = _ranges(offsets, documents)
    entries = _pad(sources, counts)
    if not is_merged:
        entries = _name_slots(entries, batch.stem_of_node[sources], batch.stem_offsets[documents])
    graph = _copy_edges(batch, documents, offsets_of(counts)) if is_moving else None
    return GraphCopies(documents, entries, graph)


def _copy_edges(batch: Batch, documents: Ids, entry_offsets: Ids) -> CopiedGraph:
    edges = batch.edges
    nodes, node_shift, node_counts = _ranges(batch.node_offsets, documents)
    edge_ids, edge_shift, edge_counts = _ranges(edges.into.offsets[batch.node_offsets], documents)
    stems = _ranges(batch.stem_offsets, documents)[0]
    shift_of_edge = np.repeat(node_shift, edge_counts)  # (E',)
    targets = edges.targets[edge_ids] + shift_of_edge  # (E',)
    copy_of_node = np.repeat(np.arange(len(documents)), node_counts)  # (N',)
    degrees = np.diff(edges.into.offsets)[nodes]  # (N',)
    copied = Edges(
        into=Groups(edges.sources[edge_ids] + shift_of_edge, offsets_of(degrees)),
        targets=targets,
        reverse=edges.reverse[edge_ids] + np.repeat(edge_shift, edge_counts),
        degrees=edges.degrees[edge_ids],
    )
    of_stem = batch.nodes_of_stem.rows[nodes] + np.repeat(node_shift, node_counts)  # (N',)
    sizes = np.diff(batch.nodes_of_stem.offsets)[stems]  # (M',)
    return CopiedGraph(
        nodes=nodes,
        edge_ids=edge_ids,
        edges=copied,
        node_offsets=offsets_of(node_counts),
        entry_offsets=entry_offsets,
        copy_of_node=copy_of_node,
        copy_of_edge=copy_of_node[targets],
        nodes_of_stem=Groups(of_stem, offsets_of(sizes)),
    )


def _pad(sources: Ids, counts: Ids) -> Entries:
    width = FIRST_WORD + int(counts.max(initial=0))
    copies = np.repeat(np.arange(len(counts)), counts)
    starts = np.cumsum(counts) - counts  # (G,)
    return Entries(
        rows=copies * width + FIRST_WORD + np.arange(len(sources)) - starts[copies],
        copies=copies,
        sources=sources,
        sizes=counts[:, None].astype(np.float32),
        mask=np.arange(width) < FIRST_WORD + counts[:, None],
        slot_of_entry=None,
    )


def _name_slots(entries: Entries, stems: Ids, stem_starts: Ids) -> Entries:
    """The same where several entries can be of one stem."""
    slots = FIRST_WORD + stems - stem_starts[entries.copies]
    graphs, width = entries.mask.shape
    slot_of_entry = np.zeros((graphs * width, int(slots.max(initial=EOS)) + 1), dtype=np.float32)
    slot_of_entry[entries.rows, slots] = 1
    slot_of_entry = slot_of_entry.reshape(graphs, width, -1)
    slot_of_entry[:, :FIRST_WORD, :FIRST_WORD] = np.eye(FIRST_WORD)
    return replace(entries, slot_of_entry=slot_of_entry)


def _ranges(offsets: Ids, documents: Ids) -> tuple[Ids, Ids, Ids]:
    """All indices of these documents on an axis, by how much each moves, and how many each has."""
    starts = offsets[documents]  # (G,)
    counts = offsets[documents + 1] - starts  # (G,)
    shift = np.cumsum(counts) - counts - starts  # (G,)
    return np.arange(int(counts.sum())) - np.repeat(shift, counts), shift, counts
