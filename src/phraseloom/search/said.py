"""What was said of each document: nothing is said twice, and no search ends up with nothing."""

from collections import Counter
from collections.abc import Sequence

import torch
from torch import Tensor

from phraseloom.search.allowed import Allowed
from phraseloom.search.step import Phrase


class Said:
    """The phrases said of each document of a batch.

    A prefix is *spent* once all allowed phrases that begin with it were said. Search never steps
    onto a spent prefix, hence every live hypothesis can be brought to an end, whatever the width.
    """

    def __init__(self, allowed: Allowed, documents: int) -> None:
        self.phrases: list[list[Phrase]] = [[] for _ in range(documents)]
        self._spent: list[list[Phrase]] = [[] for _ in range(documents)]
        self._counts: list[Counter[Phrase]] = [Counter() for _ in range(documents)]
        self._allowed = allowed

    def add(self, document: int, phrase: Phrase) -> None:
        """Note a phrase as said."""
        self.phrases[document].append(phrase)
        for length in range(len(phrase) + 1):
            prefix = phrase[:length]
            self._counts[document][prefix] += 1
            if self._counts[document][prefix] == self._allowed.phrases_from(document, prefix):
                self._spent[document].append(prefix)

    def has_all(self, document: int) -> bool:
        """Whether no phrase of this document is left to say."""
        return self._counts[document][()] == self._allowed.phrases_from(document, ())

    def find_said(self, documents: Sequence[int], prefixes: Tensor) -> Tensor:
        """Which hypotheses, ``(D, K, t)``, are phrases said before; ``(D, K)``, bool."""
        found = torch.zeros(prefixes.shape[:2], dtype=torch.bool)  # (D, K)
        listed = _of_length(self.phrases, documents, prefixes.shape[2])
        if listed:
            document, hypothesis, _ = _match(prefixes, listed)
            found[document, hypothesis] = True
        return found

    def find_spent(self, documents: Sequence[int], prefixes: Tensor, slots: Tensor) -> Tensor:
        """Which continuations, ``(D, K, C)``, of hypotheses, ``(D, K, t)``, are spent; bool."""
        found = torch.zeros(slots.shape, dtype=torch.bool)  # (D, K, C)
        listed = _of_length(self._spent, documents, prefixes.shape[2] + 1)
        if listed:
            document, hypothesis, last = _match(prefixes, listed)
            at = (document, hypothesis)
            # Two spent prefixes may continue one hypothesis, so a plain assignment would lose one.
            found.index_put_(at, slots[at] == last[:, None], accumulate=True)
        return found


def _of_length(
    phrases: Sequence[Sequence[Phrase]], documents: Sequence[int], length: int
) -> list[tuple[int, Phrase]]:
    return [(row, y) for row, d in enumerate(documents) for y in phrases[d] if len(y) == length]


def _match(prefixes: Tensor, listed: list[tuple[int, Phrase]]) -> tuple[Tensor, Tensor, Tensor]:
    """Pair hypotheses ``(D, K, t)`` with the listed phrases that begin with them.

    Returns row and column of the hypothesis and last word of the phrase, for each such pair.
    """
    rows = torch.tensor([row for row, _ in listed])  # (M,)
    phrases = torch.tensor([phrase for _, phrase in listed])  # (M, t) or (M, t + 1)
    heads = phrases[:, None, : prefixes.shape[2]]  # (M, 1, t)
    match, hypotheses = (prefixes[rows] == heads).all(-1).nonzero(as_tuple=True)
    return rows[match], hypotheses, phrases[match, -1]
