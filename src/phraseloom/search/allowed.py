"""Which words may follow a hypothesis: the protocol, and the mode that allows everything.

The other mode, which allows only what stands in the text, is in `ngrams`.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from phraseloom.search.step import FIRST_WORD, Phrase


class Continuations(NamedTuple):
    """The words that may follow each hypothesis, padded to the most of any."""

    slots: Tensor  # (D, K, C), int64, ascending; SEP where padded
    places: Tensor  # (D, K, C), int64
    mask: Tensor  # (D, K, C), bool


class Allowed(Protocol):
    """The phrases that may be said of each document of a batch.

    A *place* is what an implementation needs to know of a hypothesis; search carries it along.
    """

    nowhere: int
    """A place that nothing follows, for hypotheses that are dead."""

    def start(self, documents: Sequence[int]) -> Tensor:
        """Place of the empty phrase of these documents, ``(D, 1)``."""
        ...

    def follow(self, places: Tensor, slots: int) -> Continuations:
        """What may follow the hypotheses at these places, ``(D, K)``; ``slots`` is S."""
        ...

    def can_end(self, places: Tensor) -> Tensor:
        """Whether a phrase may end at these places, ``(D, K)``, bool."""
        ...

    def phrases_from(self, document: int, prefix: Phrase) -> int:
        """How many allowed phrases of a document begin with a prefix, itself included."""
        ...


class Anything:
    """Mode ``free``: every word may follow every other, up to a number of words."""

    nowhere = 0

    def __init__(self, slots: Sequence[int], max_words: int) -> None:
        """Take the number of slots of each document, SEP and EOS included."""
        self._words = [count - FIRST_WORD for count in slots]
        self._max_words = max_words

    def start(self, documents: Sequence[int]) -> Tensor:
        return torch.zeros(len(documents), 1, dtype=torch.int64)  # (D, 1)

    def follow(self, places: Tensor, slots: int) -> Continuations:
        # Slots that a document lacks need no mask: their log-probability is -inf.
        words = torch.arange(FIRST_WORD, slots).expand(*places.shape, -1)  # (D, K, C)
        return Continuations(
            words, places[:, :, None].expand_as(words), torch.ones_like(words, dtype=torch.bool)
        )

    def can_end(self, places: Tensor) -> Tensor:
        return torch.ones_like(places, dtype=torch.bool)  # (D, K)

    def phrases_from(self, document: int, prefix: Phrase) -> int:
        words = self._words[document]
        longer = sum(words**more for more in range(1, self._max_words - len(prefix) + 1))
        return longer + (len(prefix) > 0)
