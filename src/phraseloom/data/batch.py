"""Packed batches: documents share one node axis and one edge list, with no padding."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from phraseloom.data.example import Example
from phraseloom.data.graph import build_edges
from phraseloom.data.lexicon import Lexicon

SEP = 0
"""Slot that ends a phrase when another follows."""
EOS = 1
"""Slot that ends the last phrase."""
FIRST_WORD = 2
"""Slots from here on are the document's distinct stems."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Documents as one graph: ``N`` nodes, ``E`` edges, ``M`` slots (distinct stems) in all."""

    word_ids: Tensor
    """Vocabulary ids, ``(N,)``; ``V + k`` is unknown word k of the batch."""
    unknown_ngrams: Tensor
    """N-gram buckets of all unknown words, one after another."""
    unknown_offsets: Tensor
    """Where each unknown word's n-grams begin, ``(U,)``."""
    pos_ids: Tensor
    positions: Tensor
    """Place of each node in its document, ``(N,)``."""
    features: Tensor
    """Bucketed node features, ``(N, 3)``."""
    marks: Tensor
    """Levels of the phrases that each node is a part of, ``(N, 4)``."""
    styles: Tensor
    """Annotators' style of each document, ``(B,)``."""
    node_offsets: Tensor
    """Nodes of document b are ``node_offsets[b]:node_offsets[b + 1]``, ``(B + 1,)``."""
    edge_offsets: Tensor
    """Edges into node i, as in `phraseloom.data.graph.Edges`, ``(N + 1,)``."""
    edge_sources: Tensor
    edge_targets: Tensor
    edge_types: Tensor
    edge_reverse: Tensor
    slot_offsets: Tensor
    """Slots of document b are ``slot_offsets[b]:slot_offsets[b + 1]``, ``(B + 1,)``."""
    slot_of_node: Tensor
    """Slot of each node on the batch's slot axis, ``(N,)``."""
    slot_nodes: Tensor
    """Nodes sorted by slot, ``(N,)``; those of slot m are given by ``slot_node_offsets``."""
    slot_node_offsets: Tensor
    """``(M + 1,)``."""

    def __len__(self) -> int:
        return len(self.styles)


@dataclass(frozen=True, slots=True)
class Phrases:
    """Begun phrases, one a row: which document each is of, and what was said of it before."""

    documents: Tensor
    """Document of each row, ``(R,)``."""
    numbers: Tensor
    """How many phrases were said before, ``(R,)``."""
    said_offsets: Tensor
    """Words said before row r are ``said_slots[said_offsets[r]:said_offsets[r + 1]]``."""
    said_slots: Tensor
    """Slots within the row's document, from 0."""


@dataclass(frozen=True, slots=True)
class Targets:
    """What each begun phrase should say: its words' slots, then SEP or EOS."""

    phrases: Phrases
    slots: Tensor
    """Target slots, ``(R, L)``: SEP 0, EOS 1, words from 2; padding is 0 under ``mask``."""
    mask: Tensor
    """``(R, L)``, true where there is a target."""
    important: Tensor
    """Whether a slot's word belongs to any gold phrase, ``(M,)``, 0 or 1."""


def collate(examples: Sequence[Example], lexicon: Lexicon) -> Batch:
    """Pack documents, each with at least one token, into one graph."""
    sizes = np.array([len(example) for example in examples])
    if not len(sizes) or not sizes.all():
        raise ValueError("a batch has at least one document and each at least one token")
    node_offsets = _offsets(sizes)
    slot_offsets = _offsets(np.array([example.stem_ids.max() + 1 for example in examples]))
    node_starts = np.repeat(node_offsets[:-1], sizes)
    slot_of_node = _join(examples, "stem_ids") + np.repeat(slot_offsets[:-1], sizes)
    edges = build_edges(
        _join(examples, "heads") + node_starts,
        _join(examples, "relation_ids"),
        relation_count=len(lexicon.relations),
    )
    word_ids, ngrams = _unknown(examples, sizes, lexicon)
    arrays = {
        "word_ids": word_ids,
        "unknown_ngrams": np.concatenate([*ngrams, np.zeros(0, dtype=np.int64)]),
        "unknown_offsets": _offsets(np.array([len(ids) for ids in ngrams], dtype=np.int64))[:-1],
        "pos_ids": _join(examples, "pos_ids"),
        "positions": np.arange(len(node_starts)) - node_starts,
        "features": _join(examples, "features"),
        "marks": _join(examples, "marks"),
        "styles": np.array([example.style for example in examples]),
        "node_offsets": node_offsets,
        "edge_offsets": edges.offsets,
        "edge_sources": edges.sources,
        "edge_targets": edges.targets,
        "edge_types": edges.types,
        "edge_reverse": edges.reverse,
        "slot_offsets": slot_offsets,
        "slot_of_node": slot_of_node,
        "slot_nodes": np.argsort(slot_of_node, kind="stable"),
        "slot_node_offsets": _offsets(np.bincount(slot_of_node)),
    }
    return Batch(**{name: torch.from_numpy(array) for name, array in arrays.items()})


def collate_targets(
    examples: Sequence[Example], chosen: Sequence[NDArray[np.int64]] | None = None
) -> Targets:
    """Pack the phrases to be learned, all of each document's or the chosen numbers only."""
    if chosen is None:
        chosen = [np.arange(len(example.phrases)) for example in examples]
    rows = [(b, int(p)) for b, numbers in enumerate(chosen) for p in numbers]
    spoken = [np.concatenate([*_said(examples[b], p), _EMPTY]) for b, p in rows]
    targets = [_target(examples[b], p) for b, p in rows]
    lengths = np.array([len(target) for target in targets], dtype=np.int64)
    mask = np.arange(lengths.max(initial=0)) < lengths[:, None]
    slots = np.zeros(mask.shape, dtype=np.int64)
    slots[mask] = np.concatenate([*targets, _EMPTY])
    phrases = Phrases(
        documents=torch.tensor([b for b, _ in rows], dtype=torch.long),
        numbers=torch.tensor([p for _, p in rows], dtype=torch.long),
        said_offsets=torch.from_numpy(_offsets(np.array([len(s) for s in spoken], dtype=np.int64))),
        said_slots=torch.from_numpy(np.concatenate([*spoken, _EMPTY])),
    )
    important = np.concatenate([_important(example) for example in examples])
    return Targets(
        phrases, torch.from_numpy(slots), torch.from_numpy(mask), torch.from_numpy(important)
    )


_EMPTY = np.zeros(0, dtype=np.int64)


def _said(example: Example, number: int) -> Sequence[NDArray[np.int64]]:
    return example.phrases[:number]


def _target(example: Example, number: int) -> NDArray[np.int64]:
    end = EOS if number + 1 == len(example.phrases) else SEP
    return np.append(example.phrases[number] + FIRST_WORD, end)


def _important(example: Example) -> NDArray[np.float32]:
    important = np.zeros(example.stem_ids.max() + 1, dtype=np.float32)
    important[np.concatenate([*example.phrases, _EMPTY])] = 1
    return important


def _offsets(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])


def _join(examples: Sequence[Example], column: str) -> NDArray[np.int64]:
    return np.concatenate([getattr(example, column) for example in examples])


def _unknown(
    examples: Sequence[Example], sizes: NDArray[np.int64], lexicon: Lexicon
) -> tuple[NDArray[np.int64], list[NDArray[np.int64]]]:
    """Renumber unknown words on one axis for the batch, and list the n-grams of each."""
    counts = np.array([len(example.unknown) for example in examples])
    shift = np.repeat(_offsets(counts)[:-1], sizes)
    word_ids = _join(examples, "word_ids")
    is_unknown = word_ids >= len(lexicon.words)
    ngrams = [lexicon.ngrams(word) for example in examples for word in example.unknown]
    return word_ids + shift * is_unknown, ngrams
