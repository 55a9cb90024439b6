"""What a search is asked to do. Defaults live in the configuration, not here."""

from dataclasses import dataclass
from typing import Literal, Self


@dataclass(frozen=True)
class Settings:
    """How phrases are looked for; symbols are those of docs/notation.md.

    Attributes:
        mode: ``free``: any slot may follow any other; ``extractive``: only what stands in the text.
        width: hypotheses kept per document, B; 1 is greedy search.
        max_words: words in a phrase, at most; T.
        max_phrases: phrases in a list that the model does not end by itself, at most.
        alpha: length penalty; 0 is none.
        lambda1: weight of the dissimilarity to what was already said; 0 is none.
        lambda2: weight of the rank among siblings; 0 is none.
        order: of the list: as said, the said ones by score, or all that finished in a beam by the
            chance that a list has them; see `lists`.
        stop: the list ends after a phrase that ends in EOS with more than this share; 1 is never.
            Not looked at if all that finished count.
        floor: if all that finished count: phrases with a score below it are left out, but for the
            best one.
    """

    mode: Literal["extractive", "free"]
    width: int
    max_words: int
    max_phrases: int
    alpha: float
    lambda1: float
    lambda2: float
    order: Literal["decoding", "score", "expected"]
    stop: float
    floor: float


@dataclass(frozen=True)
class Count:
    """How many phrases are wanted of each document; use one of the three constructors."""

    limit: int | None
    exact: bool

    @classmethod
    def by_model(cls) -> Self:
        """As many as the model says before EOS, up to ``max_phrases``."""
        return cls(limit=None, exact=False)

    @classmethod
    def at_most(cls, limit: int) -> Self:
        """The list of `by_model` in the order asked for, cut after ``limit``."""
        return cls(limit=limit, exact=False)

    @classmethod
    def exactly(cls, limit: int) -> Self:
        """The list of `by_model`, made longer past EOS if too short; the best ``limit`` by score.

        ``max_phrases`` does not limit it. Fewer come back only when the document has no more
        distinct phrases.
        """
        return cls(limit=limit, exact=True)
