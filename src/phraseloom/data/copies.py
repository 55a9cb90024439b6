"""Copies of documents' graphs, one for each phrase that is begun.

A dynamic graph has other edge weights for every phrase, but the same nodes and edges; so the
structure is copied by index arithmetic, without a loop, and what does not depend on the phrase is
computed once per document and read through ``nodes`` and ``edges``.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from phraseloom.data.batch import Batch


@dataclass(frozen=True, slots=True)
class Copies:
    """``G`` copied graphs on one axis of ``N'`` nodes, ``E'`` edges and ``M'`` slots."""

    documents: Tensor
    """Document of each copy, ``(G,)``."""
    nodes: Tensor
    """Batch node that each copied node is a copy of, ``(N',)``."""
    node_copies: Tensor
    """Copied nodes sorted by what they copy, ``(N',)``, and where each begins, ``(N + 1,)``."""
    node_copy_offsets: Tensor
    copy_of_node: Tensor
    """Copy that each copied node is in, ``(N',)``."""
    edges: Tensor
    """Batch edge that each copied edge is a copy of, ``(E',)``."""
    edge_offsets: Tensor
    """As in `Batch`, over the copied nodes."""
    edge_sources: Tensor
    edge_targets: Tensor
    edge_reverse: Tensor
    slots: Tensor
    """Batch slot that each copied slot is a copy of, ``(M',)``."""
    slot_of_node: Tensor
    slot_nodes: Tensor
    slot_node_offsets: Tensor
    copy_of_slot: Tensor
    slot_starts: Tensor
    """First slot of each copy, ``(G,)``."""


def copy_graphs(batch: Batch, documents: Tensor) -> Copies:
    """Copy the graph of each of these documents, ``(G,)``, in that order."""
    node_starts, node_counts = _spans(batch.node_offsets, documents)
    edge_starts, edge_counts = _spans(batch.edge_offsets[batch.node_offsets], documents)
    slot_starts, slot_counts = _spans(batch.slot_offsets, documents)
    nodes, node_shift = _ranges(node_starts, node_counts)
    edges, edge_shift = _ranges(edge_starts, edge_counts)
    slots, slot_shift = _ranges(slot_starts, slot_counts)
    shift_of_edge = node_shift.repeat_interleave(edge_counts)  # (E',)
    copies = torch.arange(len(documents))
    degrees = batch.edge_offsets.diff()[nodes]  # (N',)
    slot_sizes = batch.slot_node_offsets.diff()[slots]  # (M',)
    return Copies(
        documents=documents,
        nodes=nodes,
        node_copies=nodes.argsort(stable=True),
        node_copy_offsets=_offsets(nodes.bincount(minlength=len(batch.word_ids))),
        copy_of_node=copies.repeat_interleave(node_counts),
        edges=edges,
        edge_offsets=_offsets(degrees),
        edge_sources=batch.edge_sources[edges] + shift_of_edge,
        edge_targets=batch.edge_targets[edges] + shift_of_edge,
        edge_reverse=batch.edge_reverse[edges] + edge_shift.repeat_interleave(edge_counts),
        slots=slots,
        slot_of_node=batch.slot_of_node[nodes] + slot_shift.repeat_interleave(node_counts),
        slot_nodes=batch.slot_nodes[nodes] + node_shift.repeat_interleave(node_counts),
        slot_node_offsets=_offsets(slot_sizes),
        copy_of_slot=copies.repeat_interleave(slot_counts),
        slot_starts=slot_counts.cumsum(0) - slot_counts,
    )


def _spans(offsets: Tensor, documents: Tensor) -> tuple[Tensor, Tensor]:
    """First place and number of places of each document on an axis."""
    starts = offsets[documents]
    return starts, offsets[documents + 1] - starts


def _ranges(starts: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
    """All ``start … start + count`` one after another, and by how much each range was moved."""
    shift = counts.cumsum(0) - counts - starts  # (G,)
    places = torch.arange(int(counts.sum()))
    return places - shift.repeat_interleave(counts), shift


def _offsets(sizes: Tensor) -> Tensor:
    return torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])
