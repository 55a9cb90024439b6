"""Where a run stands: everything besides weights that the next step depends on.

Random numbers need no place here: the order of documents, the choice of phrases and the dropout of
a step are functions of the seed, the epoch and the step.
"""

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from phraseloom.errors import CheckpointError


@dataclass
class Sums:
    """What has been added up since the last line of the log."""

    steps: int = 0
    loss: float = 0.0
    importance: float = 0.0
    norm: float = 0.0
    documents: int = 0


@dataclass
class TrainState:
    """Counters of a run, all of them JSON numbers, which Python reads back exactly."""

    data: str
    """Fingerprint of the corpora."""
    step: int = 0
    """Updates done."""
    epoch: int = 0
    batch: int = 0
    """Batches of this epoch that are done."""
    documents: int = 0
    """Documents seen, repeats included."""
    halvings: int = 0
    stagnant: int = 0
    """Validations in a row that were not better."""
    best: float | None = None
    """Lowest perplexity seen by a validation that was due."""
    is_over: bool = False
    """Whether the run ended by itself: all epochs done, or nothing gained any more."""
    usual_loss: float | None = None
    """Running mean of the loss, to tell when it explodes."""
    large_losses: int = 0
    """Steps in a row with a far larger loss."""
    seconds: float = 0.0
    """Time used, over all resumes."""
    sums: Sums = field(default_factory=Sums)

    def save(self, path: Path) -> None:
        """Write as JSON."""
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> "TrainState":
        """Read what `save` wrote."""
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            if values.keys() != {each.name for each in fields(cls)}:
                raise CheckpointError(f"{path} was written by another version of phraseloom")
            return cls(**{**values, "sums": Sums(**values["sums"])})
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise CheckpointError(f"{path} is damaged: {error}") from None
