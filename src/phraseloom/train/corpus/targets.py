"""What the decoder should write: each gold phrase as a row, with what was written before it."""

from collections.abc import Sequence
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
    """Whether a stem belongs to any gold phrase of its document, ``(M,)``, 0 or 1."""


def collate_targets(
    batch: Batch, examples: Sequence[Example], chosen: Sequence[Ids] | None = None
) -> Targets:
    """Pack the phrases to be learned.

    Args:
        batch: the examples, collated.
        examples: with gold phrases.
        chosen: numbers of the phrases to take of each example; none: all of them.
    """
    phrases = [[_to_slots(phrase) for phrase in example.phrases] for example in examples]
    if chosen is None:
        chosen = [np.arange(len(of_document)) for of_document in phrases]
    rows = [(b, number) for b, numbers in enumerate(chosen) for number in numbers.tolist()]
    targets = [
        (*phrases[b][number], EOS if number + 1 == len(phrases[b]) else SEP) for b, number in rows
    ]
    lengths = np.array([len(target) for target in targets], dtype=np.int64)  # (P,)
    mask = np.arange(lengths.max(initial=0)) < lengths[:, None]  # (P, L)
    slots = np.zeros(mask.shape, dtype=np.int64)  # (P, L)
    slots[mask] = [slot for target in targets for slot in target]
    important = np.zeros(int(batch.stem_offsets[-1]), dtype=np.float32)  # (M,)
    for start, example in zip(batch.stem_offsets.tolist(), examples, strict=False):
        for phrase in example.phrases:
            important[start + phrase] = 1
    history = [phrases[b][:number] for b, number in rows]
    context = phrase_context(batch, [b for b, _ in rows], history)
    return Targets(context, slots, mask, important)


def _to_slots(phrase: Ids) -> Phrase:
    return tuple((phrase + FIRST_WORD).tolist())
