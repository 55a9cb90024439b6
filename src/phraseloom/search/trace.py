"""What a search saw on its way, for pictures and analyses."""

from dataclasses import dataclass, field

from torch import Tensor

from phraseloom.search.found import Found


@dataclass(frozen=True)
class TracedPhrase:
    """One phrase of one document at the moment it was chosen.

    Attributes:
        found: the winner.
        runners_up: the other finished hypotheses of its beam, best first, with their score parts.
        edge_weights: weight of every edge of the document's graph while it was decoded.
    """

    found: Found
    runners_up: tuple[Found, ...]
    edge_weights: Tensor


@dataclass
class Trace:
    """Pass one to `find_phrases` to have it filled in.

    A traced search finds the same phrases but takes longer: it follows hypotheses to their end.

    Attributes:
        runners_up: how many to keep per phrase, at most.
        phrases: of each document number, the phrases in the order in which they were decoded.
    """

    runners_up: int
    phrases: dict[int, list[TracedPhrase]] = field(default_factory=dict)

    def add(self, document: int, beam: list[Found], edge_weights: Tensor) -> None:
        """Note the finished hypotheses of one beam, best first."""
        winner, *others = beam[: 1 + self.runners_up]
        self.phrases.setdefault(document, []).append(
            TracedPhrase(winner, tuple(others), edge_weights)
        )
