"""What the decoder should write: each gold phrase as a row, with what was written before it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phraseloom.network.example import Example
from phraseloom.network.graph import Batch, PhraseContext, phrase_context
from phraseloom.network.lexicon import Ids
from phraseloom.slots import EOS, FIRST_WORD, SEP, Phrase


@dataclass(frozen=True, slots=True)
class Targets:
    """Target slots of ``P`` phrases, padded to ``L``."""

    context: PhraseContext
    slots: Ids
    """Words, then SEP or EOS, ``(P, L)``; zero outside the mask."""
    mask: NDArray[np.bool_]
    """True where there is a target, ``(P, L)``."""
    important: NDArray[np.float32]
    """Whether a stem belongs to any phrase of its document's list, ``(M,)``, 0 or 1."""


def collate_targets(
    batch: Batch, examples: Sequence[Example], chosen: Sequence[Ids] | None = None
) -> Targets:
    """Pack the phrases to be learned.

    Args:
        batch: the examples, collated.
        examples: with gold phrases.
        chosen: numbers of the phrases to take of each example; none: all of them.
    """
    phrases = [gold_slots(example) for example in examples]
    if chosen is None:
        chosen = [np.arange(len(of_document)) for of_document in phrases]
    rows = [(b, number) for b, numbers in enumerate(chosen) for number in numbers.tolist()]
    documents = range(len(examples))
    return pack_targets(
        batch, documents, phrases, rows, is_last=lambda b, number: number + 1 == len(phrases[b])
    )


def pack_targets(
    batch: Batch,
    documents: Sequence[int],
    lists: Sequence[Sequence[Phrase]],
    rows: Sequence[tuple[int, int]],
    *,
    is_last: Callable[[int, int], bool],
) -> Targets:
    """Pack some phrases of lists, each after those before it in its list.

    Args:
        batch: the documents, collated.
        documents: of which one each list is; one may have several.
        lists: of phrases.
        rows: list, and number in it, of each phrase to take.
        is_last: whether the list ends with this phrase.
    """
    targets = [(*lists[i][number], EOS if is_last(i, number) else SEP) for i, number in rows]
    lengths = np.array([len(target) for target in targets], dtype=np.int64)  # (P,)
    mask = np.arange(lengths.max(initial=0)) < lengths[:, None]  # (P, L)
    slots = np.zeros(mask.shape, dtype=np.int64)  # (P, L)
    slots[mask] = [slot for target in targets for slot in target]
    important = np.zeros(int(batch.stem_offsets[-1]), dtype=np.float32)  # (M,)
    for document, phrases in zip(documents, lists, strict=True):
        for phrase in phrases:
            important[batch.stem_offsets[document] - FIRST_WORD + np.array(phrase)] = 1
    history = [lists[i][:number] for i, number in rows]
    context = phrase_context(batch, [documents[i] for i, _ in rows], history)
    return Targets(context, slots, mask, important)


def gold_slots(example: Example) -> tuple[Phrase, ...]:
    """The gold phrases of a document."""
    return tuple(tuple((phrase + FIRST_WORD).tolist()) for phrase in example.phrases)
