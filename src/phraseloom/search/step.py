"""How search sees a decoder: slots in, log-probabilities out.

A *slot* is something a decoder can say next about one document: SEP and EOS, which end a phrase,
and one slot per distinct stem of the document. As an input, SEP means "a phrase begins".
"""

from collections.abc import Sequence
from typing import Protocol, Self, TypeVar

from torch import Tensor

SEP = 0
"""The phrase ends and another follows; as an input, a phrase begins."""
EOS = 1
"""The phrase ends and so does the list."""
FIRST_WORD = 2
"""Slots from here on are the document's distinct stems, in order of first occurrence."""

Phrase = tuple[int, ...]
"""A phrase as the slots of its words, without the SEP or EOS that ended it."""


class State(Protocol):
    """Where each hypothesis of each document stands; rows are documents, columns hypotheses."""

    def select(self, parents: Tensor) -> Self:
        """Column k of document d becomes what column ``parents[d, k]`` was; ``(D, K)``, int64."""
        ...


S = TypeVar("S", bound=State)


class Step(Protocol[S]):
    """A decoder over a fixed batch of documents."""

    @property
    def slots(self) -> Sequence[int]:
        """How many slots each document has, SEP and EOS included."""
        ...

    def begin(self, documents: Sequence[int], said: Sequence[Sequence[Phrase]]) -> S:
        """Begin the next phrase of these documents, given the phrases already said of each.

        A dynamic model re-scores its graphs here. The state has one hypothesis per document.
        """
        ...

    def advance(self, words: Tensor, state: S) -> tuple[Tensor, S]:
        """Read one slot per hypothesis, ``(D, K)``, int64; say what may follow.

        Rows with fewer hypotheses than others are filled up with dead ones, which read SEP; what is
        said of those does not matter.

        Returns log-probabilities over slots, ``(D, K, S)``, where ``S`` is the number of slots of
        the largest of these documents and slots that a document lacks are ``-inf``; and the state
        after the words.
        """
        ...

    def edge_weights(self, state: S) -> list[Tensor]:
        """Weight of every graph edge of each document while this phrase is decoded, for a trace."""
        ...
