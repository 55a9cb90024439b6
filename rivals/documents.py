"""What every rival reads and writes, as padded index arrays: tokens, slots, phrases to learn.

A rival sees what the paper's network sees of a document: its words, tags and relations, and where
its title ends. Slots are those of `phraseloom.slots`: SEP, EOS, then the document's distinct stems.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from phraseloom.network.example import Example
from phraseloom.network.graph import Batch
from phraseloom.network.lexicon import Ids, Lexicon
from phraseloom.slots import EOS, FIRST_WORD, SEP, Phrase

GENERATED = 5_000
"""Words that a rival can generate, the most frequent ones; it copies any other."""
_IN_TITLE = 1  # column of Example.node_features


@dataclass(frozen=True)
class Documents:
    """``B`` documents of ``T`` tokens and ``S`` slots, padded; arrays of NumPy or of torch."""

    rows: Any
    """Where each token stands on the batch's axis, ``(B, T)``."""
    mask: Any
    """True for real tokens, ``(B, T)``."""
    slots: Any
    """Slot of each token, ``(B, T)``."""
    tags: Any
    """POS tag of each token, ``(B, T)``."""
    relations: Any
    """Relation of each token to its head, ``(B, T)``."""
    titles: Any
    """Tokens in the title, ``(B,)``."""
    slot_mask: Any
    """True for SEP, EOS and real stems, ``(B, S)``."""
    first_tokens: Any
    """First token of each slot's stem, whose word stands for the slot, ``(B, S)``."""
    generated: Any
    """Number of each slot among SEP, EOS and the words that are generated, or -1, ``(B, S)``."""
    texts: list[list[str]]
    """Words of each document, lower-case."""


@dataclass(frozen=True)
class PhraseTargets:
    """What is to be learned: ``P`` sequences, one a document, or one a phrase."""

    documents: Documents
    rows: Any
    """Document of each sequence, ``(P,)``."""
    inputs: Any
    """What is read before each target: SEP, then the targets but for the last, ``(P, L)``."""
    slots: Any
    """Targets: words, SEP between phrases, EOS at the end, ``(P, L)``; zero outside the mask."""
    mask: Any
    """``(P, L)``."""
    gold: tuple[tuple[Phrase, ...], ...]
    """Phrases of each document."""


def collate_documents(batch: Batch, examples: Sequence[Example], lexicon: Lexicon) -> Documents:
    """Pad documents.

    Args:
        batch: the examples, packed.
        examples: of the documents.
        lexicon: that numbered them.
    """
    lengths, stems = np.diff(batch.node_offsets), np.diff(batch.stem_offsets)  # (B,)
    columns = np.arange(lengths.max())  # (T,)
    mask = columns < lengths[:, None]  # (B, T)
    slot_mask = np.arange(FIRST_WORD + stems.max()) < FIRST_WORD + stems[:, None]  # (B, S)
    first_tokens = np.zeros(slot_mask.shape, dtype=np.int64)  # (B, S)
    generated = np.full(slot_mask.shape, -1)  # (B, S)
    generated[:, [SEP, EOS]] = SEP, EOS
    for b, example in enumerate(examples):
        _, first = np.unique(example.stem_ids, return_index=True)
        first_tokens[b, FIRST_WORD : FIRST_WORD + len(first)] = first
        ids = example.word_ids[first]
        is_generated = ids < min(len(lexicon.words), GENERATED)
        generated[b, FIRST_WORD : FIRST_WORD + len(first)] = np.where(is_generated, 2 + ids, -1)
    return Documents(
        rows=np.where(mask, batch.node_offsets[:-1, None] + columns, 0),
        mask=mask,
        slots=_pad([example.stem_ids + FIRST_WORD for example in examples]),
        tags=_pad([example.pos_ids for example in examples]),
        relations=_pad([example.relation_ids for example in examples]),
        titles=np.array([title_tokens(example) for example in examples]),
        slot_mask=slot_mask,
        first_tokens=first_tokens,
        generated=generated,
        texts=[_words(example, lexicon) for example in examples],
    )


def _words(example: Example, lexicon: Lexicon) -> list[str]:
    known, size = lexicon.words.words, len(lexicon.words)
    return [
        known[word] if word < size else example.unknown[word - size]
        for word in example.word_ids.tolist()
    ]


def title_tokens(example: Example) -> int:
    """Tokens of the title: up to the first end of a sentence by which all its stems have occurred.

    An example says of each stem whether it is in the title; no arc leaves a sentence.
    """
    in_title = example.node_features[:, _IN_TITLE] > 0
    if not in_title.any():
        return 0
    _, first = np.unique(example.stem_ids[in_title], return_index=True)
    last = int(np.flatnonzero(in_title)[first].max())
    tokens = np.arange(len(example))
    reach = np.maximum.accumulate(np.maximum(tokens, _farthest_dependent(example)))
    ends = np.flatnonzero(np.maximum(reach, _farthest_head(example)) == tokens) + 1
    return int(ends[ends > last][0])


def _farthest_dependent(example: Example) -> Ids:
    farthest = np.arange(len(example))
    np.maximum.at(farthest, example.heads, np.arange(len(example)))
    return farthest


def _farthest_head(example: Example) -> Ids:
    return np.maximum.accumulate(example.heads)


def collate_targets(
    batch: Batch,
    examples: Sequence[Example],
    chosen: Sequence[Ids] | None,
    *,
    lexicon: Lexicon,
    one_phrase: bool,
) -> PhraseTargets:
    """What to learn of documents: each one's phrases in one sequence, or each phrase as one.

    Args:
        batch: the examples, packed.
        examples: with gold phrases.
        chosen: phrases to learn of each, if each is a sequence of its own; none: all.
        lexicon: that numbered them.
        one_phrase: whether each phrase is a sequence.
    """
    gold = tuple(
        tuple(tuple((phrase + FIRST_WORD).tolist()) for phrase in example.phrases)
        for example in examples
    )
    rows, sequences = list[int](), list[list[int]]()
    for b, phrases in enumerate(gold):
        if one_phrase:
            taken = range(len(phrases)) if chosen is None else chosen[b].tolist()
            rows += [b] * len(taken)
            sequences += [[*phrases[i], EOS] for i in taken]
        else:
            rows.append(b)
            joined = [slot for phrase in phrases for slot in (*phrase, SEP)]
            sequences.append([*joined[:-1], EOS])
    slots = _pad([np.array(sequence) for sequence in sequences])  # (P, L)
    lengths = np.array([len(sequence) for sequence in sequences])  # (P,)
    mask = np.arange(slots.shape[1]) < lengths[:, None]  # (P, L)
    inputs = np.concatenate([np.full((len(slots), 1), SEP), slots[:, :-1]], axis=1)  # (P, L)
    documents = collate_documents(batch, examples, lexicon)
    return PhraseTargets(documents, np.array(rows), inputs, slots, mask, gold)


def _pad(rows: Sequence[Ids]) -> Ids:
    padded = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    for i, row in enumerate(rows):
        padded[i, : len(row)] = row
    return padded
