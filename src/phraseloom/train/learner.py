"""What changes during a run, weights, optimiser, average and counters, and one step of it."""

from dataclasses import dataclass

import numpy as np
import torch

from phraseloom.config import TrainConfig
from phraseloom.data.loader import ALONE, Share, Work
from phraseloom.errors import TrainingError
from phraseloom.model.network import KeyphraseModel, Losses
from phraseloom.train.average import WeightAverage
from phraseloom.train.distributed import add_up, add_up_gradients
from phraseloom.train.optim import build_optimizer, rate_at, set_rate
from phraseloom.train.state import TrainState

EXPLODED = 10.0
"""A loss this many times the usual one is too large ..."""
EXPLODED_STEPS = 5
"""... and so many of them in a row end the run."""
_SMALLEST_USUAL = 1.0
"""Where less is usual, nearly everything is learned and jumps are harmless."""
_MEMORY = 0.99


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over the batch's documents in all processes."""

    sequence: float
    tokens: int
    importance: float
    entries: int
    documents: int
    stops: int
    """How many processes were asked to stop."""


class Learner:
    """A model that learns, batch by batch."""

    def __init__(
        self, model: KeyphraseModel, state: TrainState, config: TrainConfig, share: Share = ALONE
    ) -> None:
        self.model = model
        self.state = state
        self.config = config
        self.share = share
        self.optimizer = build_optimizer(model, config)
        self.average = WeightAverage(model, config.average) if config.average else None

    def learn(self, work: Work | None, *, is_stopping: bool = False) -> Totals:
        """Do one update, and count it; a loss or gradient out of bounds changes no weight."""
        state, config = self.state, self.config
        totals = self.find_gradient(work, is_stopping=is_stopping)
        learned = [each for each in self.model.parameters() if each.requires_grad]
        norm = float(torch.nn.utils.clip_grad_norm_(learned, config.clip))
        loss, importance = totals.sequence / totals.tokens, totals.importance / totals.entries
        self._watch(loss + config.importance_weight * importance, norm)
        set_rate(self.optimizer, rate_at(state.step, state.halvings, config))
        self.optimizer.step()
        if self.average is not None:
            self.average.update(self.model, state.step)
        state.step += 1
        state.batch += 1
        state.documents += totals.documents
        sums = state.sums
        sums.steps += 1
        sums.loss += loss
        sums.importance += importance
        sums.norm += norm
        sums.documents += totals.documents
        return totals

    def find_gradient(self, work: Work | None, *, is_stopping: bool = False) -> Totals:
        """Gradient of the batch's loss, equations (L1) and (L2), the same in all processes."""
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        torch.manual_seed(step_seed(self.config.seed, self.state.step, self.share.rank))
        with torch.autocast("cpu", torch.bfloat16, enabled=self.config.precision == "bfloat16"):
            losses = None if work is None else self.model(work.batch, work.targets)
        totals = self._add_up(losses, 0 if work is None else len(work.batch), is_stopping)
        if losses is not None:
            loss = losses.sequence / totals.tokens
            if losses.importance.requires_grad:
                weight = self.config.importance_weight
                loss = loss + weight * losses.importance / totals.entries
            loss.backward()
        add_up_gradients(self.model, self.share)
        return totals

    def _add_up(self, losses: Losses | None, documents: int, is_stopping: bool) -> Totals:
        numbers = [0.0] * 4
        if losses is not None:
            numbers = [
                losses.sequence.item(),
                losses.tokens,
                losses.importance.item(),
                losses.entries,
            ]
        values = torch.tensor([*numbers, documents, is_stopping], dtype=torch.float64)  # (6,)
        sequence, tokens, importance, entries, found, stops = add_up(values, self.share).tolist()
        return Totals(sequence, int(tokens), importance, int(entries), int(found), int(stops))

    def _watch(self, loss: float, norm: float) -> None:
        """Refuse to learn from a loss that is no number, or has been far too large for long."""
        state = self.state
        fix = (
            "; the checkpoint before it is kept. Start again with --restart and a smaller"
            " train.learning_rate or train.clip"
        )
        if not np.isfinite(loss) or not np.isfinite(norm):
            what = "loss" if not np.isfinite(loss) else "gradient"
            raise TrainingError(f"the {what} of step {state.step + 1} is not finite{fix}")
        usual = loss if state.usual_loss is None else state.usual_loss
        if loss > EXPLODED * max(usual, _SMALLEST_USUAL):
            state.large_losses += 1
            if state.large_losses == EXPLODED_STEPS:
                raise TrainingError(
                    f"the loss exploded: {loss:.1f} at step {state.step + 1} after a mean of"
                    f" {usual:.1f}{fix}"
                )
            return
        state.large_losses = 0
        state.usual_loss = _MEMORY * usual + (1 - _MEMORY) * loss


def step_seed(seed: int, step: int, rank: int) -> int:
    """Seed of a step's dropout: so a resumed run drops what one never stopped would have."""
    return int(np.random.SeedSequence([seed, step, rank]).generate_state(1, np.uint64)[0] >> 1)
