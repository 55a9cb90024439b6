"""What changes during a run, weights, optimiser, average and counters, and one step of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import Parameter
from torch.optim.swa_utils import get_ema_multi_avg_fn

from phraseloom.config import Config, ModelConfig, TrainConfig
from phraseloom.errors import TrainingError
from phraseloom.network.graph import Batch
from phraseloom.network.ops import Weights
from phraseloom.train.corpus.loader import SINGLE_PROCESS, ProcessRank, TrainingBatch
from phraseloom.train.distributed import add_up, add_up_gradients
from phraseloom.train.loss import Losses, sequence_losses
from phraseloom.train.ops import TorchOps
from phraseloom.train.word_table import BETAS, EPSILON, WordTable

EXPLODED = 10.0
"""A loss this many times the usual one is too large ..."""
EXPLODED_STEPS = 5
"""... and so many of them in a row end the run."""
_MIN_USUAL_LOSS = 1.0  # where less is usual, nearly everything is learned and jumps are harmless
_USUAL_LOSS_DECAY = 0.99
_WORD_TABLE = "encoder.words.table"
_MOMENTS = ("step", "exp_avg", "exp_avg_sq")

Arrays = Mapping[str, NDArray[np.float32]]
LossFunction = Callable[[ModelConfig, Weights, Batch, Any, TorchOps], Losses]
"""Losses of documents and their targets, of whatever kind the loader makes."""


@dataclass
class LossSums:
    """What has been added up since the last line of the log."""

    steps: int = 0
    loss: float = 0.0
    importance: float = 0.0
    norm: float = 0.0


@dataclass
class TrainState:
    """Counters of a run, all of them JSON numbers, which Python reads back exactly.

    Random numbers need no field here: the order of documents, the choice of phrases and the dropout
    of a step are functions of the seed, the epoch and the step.
    """

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
    """Lowest cost seen by a validation that was due: perplexity, or what F1 lacks."""
    usual_loss: float | None = None
    """Running mean of the loss, to tell when it explodes."""
    large_losses: int = 0
    """Steps in a row with a far larger loss."""
    seconds: float = 0.0
    """Time used, over all resumes."""
    sums: LossSums = field(default_factory=LossSums)


@dataclass(frozen=True, slots=True)
class BatchTotals:
    """Sums over a batch's documents in all processes."""

    sequence: float
    tokens: int
    importance: float
    entries: int
    documents: int
    stops: int
    """How many processes were asked to stop."""


class Learner:
    """Weights that learn, batch by batch."""

    def __init__(
        self,
        weights: Mapping[str, Parameter],
        state: TrainState,
        config: Config,
        process: ProcessRank = SINGLE_PROCESS,
        losses: LossFunction | None = None,
    ) -> None:
        # sorted: sums over all weights, such as the gradient's norm, must not depend on a file
        self.weights = {name: weights[name] for name in sorted(weights)}
        self.state = state
        self.config = config
        self.process = process
        rate = config.train.vectors_rate
        self.weights[_WORD_TABLE].requires_grad_(rate > 0)
        self.ema = {
            name: weight.detach().clone()
            for name, weight in self.weights.items()
            if config.train.ema_decay and weight.requires_grad
        }
        """Exponential moving average of the weights that learn; empty if there is none. That of
        word vectors falls back where no batch reads them: see `averaged_weights`."""
        table = self.weights[_WORD_TABLE].detach()
        self.words = WordTable(table, self.ema.get(_WORD_TABLE)) if rate else None
        """The word vectors, unless they are fixed."""
        self._others = [
            weight
            for name, weight in self.weights.items()
            if weight.requires_grad and name != _WORD_TABLE
        ]
        self.optimizer = torch.optim.Adam(
            self._others, lr=config.train.learning_rate, betas=BETAS, eps=EPSILON, fused=True
        )
        self._losses = losses
        self._ops = TorchOps(dropout=config.model.dropout)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.weights[_WORD_TABLE].device

    @property
    def learned(self) -> list[Parameter]:
        """What is not fixed; of the word vectors, those of the step at hand."""
        return self._others if self.words is None else [*self._others, self.words.vectors]

    def learn(self, batch: TrainingBatch | None, *, is_stopping: bool = False) -> BatchTotals:
        """Do one update, and count it; a loss or gradient out of bounds changes no weight."""
        state, config = self.state, self.config.train
        totals = self.find_gradient(batch, is_stopping=is_stopping)
        norm = float(torch.nn.utils.clip_grad_norm_(self.learned, config.max_grad_norm))
        loss, importance = totals.sequence / totals.tokens, totals.importance / totals.entries
        self._check_loss(loss + config.importance_weight * importance, norm)
        rate = learning_rate_at(state.step, state.halvings, config)
        self.optimizer.param_groups[0]["lr"] = rate
        self.optimizer.step()
        self._update_words_and_ema(rate)
        state.step += 1
        state.batch += 1
        state.documents += totals.documents
        sums = state.sums
        sums.steps += 1
        sums.loss += loss
        sums.importance += importance
        sums.norm += norm
        return totals

    def find_gradient(
        self, batch: TrainingBatch | None, *, is_stopping: bool = False
    ) -> BatchTotals:
        """Gradient of the batch's loss, equations (L1) and (L2), the same in all processes."""
        config = self.config.train
        self.optimizer.zero_grad(set_to_none=True)
        torch.manual_seed(step_seed(config.seed, self.state.step, self.process.rank))
        losses = None
        packed, weights = None if batch is None else batch.batch, self.weights
        if self.words is not None:
            packed = self.words.read(packed)
            weights = {**weights, _WORD_TABLE: self.words.vectors}
        if batch is not None and packed is not None:
            is_mixed = config.precision == "bfloat16" or self.device.type == "cuda"
            with torch.autocast(self.device.type, torch.bfloat16, enabled=is_mixed):
                measure = self._losses or sequence_losses
                losses = measure(self.config.model, weights, packed, batch.targets, self._ops)
        totals = self._add_up(losses, 0 if batch is None else len(batch.batch), is_stopping)
        if losses is not None:
            loss = losses.sequence / totals.tokens
            if losses.importance.requires_grad:
                loss = loss + config.importance_weight * losses.importance / totals.entries
            loss.backward()
        if self.words is not None and self.process.world_size > 1:
            is_read = torch.zeros(len(self.weights[_WORD_TABLE]), device=self.device)
            is_read[self.words.rows] = 1
            self.words.share(add_up(is_read, self.process).nonzero()[:, 0])
        add_up_gradients(self.learned, self.process)
        return totals

    def averaged_weights(self) -> dict[str, Tensor]:
        """The weights as they would be used: the moving average, where there is one."""
        weights = {name: self.ema.get(name, w.detach()) for name, w in self.weights.items()}
        return weights if self.words is None else {**weights, _WORD_TABLE: self.words.current()[1]}

    def optimizer_arrays(self) -> dict[str, NDArray[np.float32]]:
        """The moments of every weight that has any, under the weight's name."""
        words = {} if self.words is None else self.words.arrays()
        return {f"{_WORD_TABLE}:{name}": array for name, array in words.items()} | {
            f"{name}:{moment}": self.optimizer.state[weight][moment].cpu().numpy()
            for name, weight in self.weights.items()
            if weight in self.optimizer.state
            for moment in _MOMENTS
        }

    def restore(self, optimizer: Arrays, ema: Arrays) -> None:
        """Put back what `optimizer_arrays` gave, and the average."""
        for name, weight in self.weights.items():
            if name != _WORD_TABLE and f"{name}:step" in optimizer:
                shapes = {"step": (), "exp_avg": weight.shape, "exp_avg_sq": weight.shape}
                self.optimizer.state[weight] = {
                    moment: torch.tensor(optimizer[f"{name}:{moment}"], device=self.device).reshape(
                        shape
                    )
                    for moment, shape in shapes.items()
                }
        for name, average in self.ema.items():
            average.copy_(torch.from_numpy(ema[name]))
        if self.words is not None:
            prefix = f"{_WORD_TABLE}:"
            self.words.restore(
                {
                    name.removeprefix(prefix): array
                    for name, array in optimizer.items()
                    if name.startswith(prefix)
                }
            )

    @torch.no_grad()
    def _update_words_and_ema(self, rate: float) -> None:
        """The decay of update n is at most ``(1 + n) / (10 + n)``: random weights fade soon."""
        config, number = self.config.train, self.state.step
        decay = min(config.ema_decay or 0.0, (1 + number) / (10 + number))
        if self.words is not None:
            self.words.update(number + 1, rate * config.vectors_rate, decay)
        if names := [name for name in self.ema if name != _WORD_TABLE]:
            averages = [self.ema[name] for name in names]
            get_ema_multi_avg_fn(decay)(averages, [self.weights[name] for name in names], number)

    def _add_up(self, losses: Losses | None, documents: int, is_stopping: bool) -> BatchTotals:
        is_shared = self.process.world_size > 1  # NCCL adds up what is on the device
        sums = torch.zeros(6, dtype=torch.float64, device=self.device if is_shared else "cpu")
        sums[4], sums[5] = documents, is_stopping
        if losses is not None:
            sums[0], sums[1] = losses.sequence.item(), losses.tokens
            sums[2], sums[3] = losses.importance.item(), losses.entries
        totals = add_up(sums, self.process).tolist()
        return BatchTotals(
            sequence=totals[0],
            tokens=int(totals[1]),
            importance=totals[2],
            entries=int(totals[3]),
            documents=int(totals[4]),
            stops=int(totals[5]),
        )

    def _check_loss(self, loss: float, norm: float) -> None:
        """Refuse to learn from a loss that is no number, or has been far too large for long."""
        state = self.state
        fix = (
            "; the checkpoint before it is kept. Start again with --restart and a smaller"
            " train.learning_rate or train.max_grad_norm"
        )
        if not np.isfinite(loss) or not np.isfinite(norm):
            what = "loss" if not np.isfinite(loss) else "gradient"
            raise TrainingError(f"the {what} of step {state.step + 1} is not finite{fix}")
        usual = loss if state.usual_loss is None else state.usual_loss
        if loss > EXPLODED * max(usual, _MIN_USUAL_LOSS):
            state.large_losses += 1
            if state.large_losses == EXPLODED_STEPS:
                raise TrainingError(
                    f"the loss exploded: {loss:.1f} at step {state.step + 1} after a mean of"
                    f" {usual:.1f}{fix}"
                )
            return
        state.large_losses = 0
        state.usual_loss = _USUAL_LOSS_DECAY * usual + (1 - _USUAL_LOSS_DECAY) * loss


def learning_rate_at(step: int, halvings: int, config: TrainConfig) -> float:
    """Learning rate of a step, counted from zero: rises while warming up, then only falls."""
    warmth = min(1.0, (step + 1) / config.warmup) if config.warmup else 1.0
    left = max(0.0, 1 - step / config.steps) if config.steps else 1.0
    return config.learning_rate * warmth * left * 0.5**halvings


def step_seed(seed: int, step: int, rank: int) -> int:
    """Seed of a step's dropout: so a resumed run drops what one never stopped would have."""
    return int(np.random.SeedSequence([seed, step, rank]).generate_state(1, np.uint64)[0] >> 1)
