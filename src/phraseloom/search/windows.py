"""Long documents: cut into windows of sentences, search each, merge what was found.

The policy, for a budget of tokens per window:

- A document within the budget is one window.
- A title that takes at most half the budget stands at the beginning of every window, since it says
  what the whole is about; a longer one is treated like any other sentence.
- The rest is dealt out in order, whole sentences, to windows of about equal length, so that no
  window is left with a stub. Nothing is left out and nothing but the title is repeated.
- A sentence longer than a window has room for is cut into pieces of about equal length.
- What the windows found is merged by `merge_windows`.

Pure functions on numbers; time and memory are linear in the number of sentences and windows.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Generic, NamedTuple, TypeVar


class SentencePart(NamedTuple):
    """Tokens ``[start, end)`` of a sentence; mostly all of them."""

    sentence: int
    start: int
    end: int


Window = tuple[SentencePart, ...]
"""Pieces in the order of the document, the title first if it is repeated."""


def split_windows(lengths: Sequence[int], budget: int, *, title: int = 0) -> list[Window]:
    """Cut a document into windows of sentences.

    Args:
        lengths: tokens of each sentence, those of the title first.
        budget: tokens in a window, at most; at least 1.
        title: how many sentences the title has.

    Returns:
        The windows in order; none if the document has no tokens.

    >>> split_windows([3, 5, 5], 8, title=1)
    [(SentencePart(sentence=0, start=0, end=3), SentencePart(sentence=1, start=0, end=5)), \
(SentencePart(sentence=0, start=0, end=3), SentencePart(sentence=2, start=0, end=5))]
    """
    if budget < 1:
        raise ValueError(f"a window needs room for at least one token, not {budget}")
    whole = [SentencePart(i, 0, length) for i, length in enumerate(lengths) if length]
    if sum(lengths) <= budget:
        return [tuple(whole)] if whole else []
    head = tuple(piece for piece in whole if piece.sentence < title)
    if _tokens(head) * 2 > budget:
        head = ()
    body = whole[len(head) :]
    room = budget - _tokens(head)
    pieces = [part for piece in body for part in _cut(piece, room)]
    return [head + window for window in _deal(pieces, room)]


def _tokens(pieces: Sequence[SentencePart]) -> int:
    return sum(piece.end - piece.start for piece in pieces)


def _cut(piece: SentencePart, room: int) -> list[SentencePart]:
    """Cut a whole sentence into as few parts as fit, of about equal length."""
    parts = -(-piece.end // room)
    bounds = [piece.end * i // parts for i in range(parts + 1)]
    return [SentencePart(piece.sentence, bounds[i], bounds[i + 1]) for i in range(parts)]


def _deal(pieces: Sequence[SentencePart], room: int) -> list[Window]:
    """Deal pieces out in order to windows that are never over ``room`` and about equally long."""
    total = _tokens(pieces)
    share = total / -(-total // room)
    windows: list[list[SentencePart]] = []
    held = room  # tokens in the last window; there is none yet, so it is full
    for piece in pieces:
        length = piece.end - piece.start
        if held >= share or held + length > room:
            windows.append([])
            held = 0
        windows[-1].append(piece)
        held += length
    return [tuple(window) for window in windows]


Item = TypeVar("Item")


@dataclass(frozen=True)
class Merged(Generic[Item]):
    """A phrase of a long document.

    Attributes:
        best: what the window that was surest of it found.
        score: of all windows together, in (0, 1].
    """

    best: Item
    score: float


def merge_windows(
    results: Sequence[Sequence[Item]],
    phrase: Callable[[Item], Hashable],
    score: Callable[[Item], float],
) -> list[Merged[Item]]:
    """Merge what the windows of a document found and rank it again.

    The score of a phrase is one minus the product of ``1 - score`` over the windows that found it:
    what the score would be if each window were an independent witness. A phrase found once keeps
    its score; one that runs through the whole document rises above what a single page insists on.

    Args:
        results: what each window found, best first.
        phrase: what makes two finds the same phrase, such as its stems. Slots will not do: each
            window numbers its own.
        score: of a find, in (0, 1].

    Returns:
        Each phrase once, best first; of equals, the one found first.
    """
    finds: dict[Hashable, list[Item]] = {}
    for item in chain.from_iterable(results):
        finds.setdefault(phrase(item), []).append(item)
    merged = [_merge(of_phrase, score) for of_phrase in finds.values()]
    return sorted(merged, key=lambda phrase: -phrase.score)


def _merge(finds: Sequence[Item], score: Callable[[Item], float]) -> Merged[Item]:
    best = max(finds, key=score)  # the first of equals
    if len(finds) == 1:
        return Merged(best, score(best))
    doubt = 1.0
    for item in finds:
        doubt *= 1 - score(item)
    # Rounding must not put a phrase below what one window alone says of it.
    return Merged(best, max(1 - doubt, score(best)))
