"""A run from its first step, or wherever it was, to its end."""

import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType

from phraseloom.errors import TrainingError
from phraseloom.network.model import KeyphraseModel
from phraseloom.network.weights import BEST, read_notes, save_model
from phraseloom.train.checkpoint import LAST, save_checkpoint
from phraseloom.train.corpus.loader import BatchLoader
from phraseloom.train.distributed import from_first
from phraseloom.train.learner import Learner, LossSums, learning_rate_at
from phraseloom.train.metrics_log import CURVES, METRICS, MetricsEntry, MetricsLog, draw_curves
from phraseloom.train.ops import as_arrays
from phraseloom.train.validate import Measurer, Validation

_logger = logging.getLogger(__name__)

OnMetrics = Callable[[MetricsEntry], None]


class Trainer:
    """One run in one directory; make it with `phraseloom.train.setup.open_run`."""

    def __init__(
        self, out: Path, learner: Learner, loader: BatchLoader, validator: Measurer
    ) -> None:
        self.out = out
        self.learner = learner
        self.loader = loader
        self.validator = validator
        self.lexicon = loader.lexicon
        self.config = learner.config
        self.state = learner.state
        is_for_tensorboard = self.config.train.tensorboard
        self.metrics = MetricsLog(out / METRICS, is_for_tensorboard=is_for_tensorboard)
        self._on_metrics: OnMetrics = lambda entry: None
        self._process = learner.process
        self._validated_step = -1
        self._earlier_seconds = self.state.seconds
        self._begun = time.monotonic()
        self._speed = _Speedometer()

    def fit(self, on_metrics: OnMetrics) -> str:
        """Train until epochs, steps, patience or time are spent, or someone asks to stop.

        Args:
            on_metrics: told every line of the metrics.

        Returns:
            Why the run ended.
        """
        self._on_metrics = on_metrics
        reason = None
        with stop_requests() as request:
            while (reason := reason or self._end_reason()) is None:
                reason = self._run_epoch(request)
            self._finish()
        return reason

    def _run_epoch(self, request: "StopRequest") -> str | None:
        """Go through the rest of the epoch; say why, if the run ends before it does."""
        config, state = self.config.train, self.state
        with closing(self.loader.stream(state.epoch, state.batch)) as batches:
            for batch in batches:
                is_stopping = request.is_made or self._is_late()
                try:
                    with self._speed.timed():
                        totals = self.learner.learn(batch, is_stopping=is_stopping)
                except TrainingError:
                    self._save_unless_saved()
                    raise
                self._speed.documents += totals.documents
                if state.step % config.log_every == 0:
                    self._log_step()
                if state.step % config.validate_every == 0:
                    self._validate()
                if state.step % config.checkpoint_every == 0:
                    self._save()
                if totals.stops:
                    is_late = from_first(self._is_late(), self._process)
                    return "the time is up" if is_late else "asked to stop"
                if (reason := self._end_reason()) is not None:
                    return reason
        state.epoch += 1
        state.batch = 0
        return None

    def _end_reason(self) -> str | None:
        config = self.config.train
        if self.state.stagnant >= config.patience:
            return f"{config.patience} validations in a row were no better"
        if self.state.epoch >= config.epochs:
            return f"all {config.epochs} epochs are done"
        if config.steps is not None and self.state.step >= config.steps:
            return f"all {config.steps} steps are done"
        return None

    def _is_late(self) -> bool:
        minutes = self.config.train.minutes
        return minutes is not None and self._seconds() >= 60 * minutes

    def _validate(self) -> None:
        """Measure, keep the model if it is the best, and halve the rate if it is not better."""
        state = self.state
        validation = self._measure("valid")
        cost = validation.cost(self.config.train.objective)
        if state.best is None or cost < state.best:
            state.best, state.stagnant = cost, 0
        else:
            state.halvings += 1
            state.stagnant += 1

    def _measure(self, kind: str) -> Validation:
        """Measure the weights as they would be used, and keep them if they are the best so far."""
        validation = None
        if self._is_first:
            validation = self.validator.measure(self.learner.averaged_weights())
            self._keep_best(validation)
        shared: Validation = from_first(validation, self._process)
        self._validated_step = self.state.step
        self._write(
            {
                "kind": kind,
                "step": self.state.step,
                "epoch": self._epoch_at_work(),
                "documents": self.state.documents,
                "perplexity": shared.perplexity,
                "f1@5": shared.f1_at_5,
                "f1@M": shared.f1_at_m,
                "seconds": round(self._seconds(), 3),
            }
        )
        return shared

    def _epoch_at_work(self) -> int:
        """The one of the last batch: after an epoch's end the state is at the next already."""
        is_between = self.state.batch == 0 and self.state.step > 0
        return self.state.epoch - is_between

    def _keep_best(self, validation: Validation) -> None:
        """Compares with what is on disk, which may come from a stop or a kill after ``last``."""
        best = read_notes(self.out / BEST)
        cost = validation.cost(self.config.train.objective)
        if best is not None and best.get("cost", best["perplexity"]) <= cost:
            return
        notes = {
            "cost": cost,
            "step": self.state.step,
            "perplexity": validation.perplexity,
            "f1@5": validation.f1_at_5,
            "f1@M": validation.f1_at_m,
        }
        weights = as_arrays(self.learner.averaged_weights())
        model = KeyphraseModel(self.config.model, self.lexicon, weights)
        save_model(self.out / BEST, model, self.config, notes=notes)

    def _log_step(self) -> None:
        state, sums = self.state, self.state.sums
        entry: MetricsEntry = {
            "kind": "train",
            "step": state.step,
            "epoch": state.epoch,
            "documents": state.documents,
            "loss": sums.loss / sums.steps,
            "importance": sums.importance / sums.steps,
            "norm": sums.norm / sums.steps,
            "rate": learning_rate_at(state.step - 1, state.halvings, self.config.train),
            "seconds": round(self._seconds(), 3),
            "documents_per_second": round(self._speed.documents_per_second(), 2),
            "seconds_left": round(self._seconds_left()),
        }
        state.sums = LossSums()
        self._speed = _Speedometer()
        self._write(entry)

    def _seconds_left(self) -> float:
        """Until the time limit or, at the speed so far, the last epoch or step."""
        state, config = self.state, self.config.train
        documents = config.epochs * float(self.loader.pool.repeats.sum())
        per_document = self._seconds() / max(state.documents, 1)
        left = max(0.0, documents - state.documents) * per_document
        if config.steps is not None:
            per_step = self._seconds() / max(state.step, 1)
            left = min(left, max(0, config.steps - state.step) * per_step)
        if config.minutes is not None:
            left = min(left, max(0.0, 60 * config.minutes - self._seconds()))
        return left

    def _write(self, entry: MetricsEntry) -> None:
        if self._is_first:
            self.metrics.add(entry)
            self._on_metrics(entry)

    def _save(self) -> None:
        self.state.seconds = self._seconds()
        if self._is_first:
            save_checkpoint(self.out, self.learner, self.lexicon)

    def _save_unless_saved(self) -> None:
        """Before the run fails: a checkpoint, unless there is an older one, which is better."""
        if not (self.out / LAST).is_dir():
            self._save()

    def _finish(self) -> None:
        """Save, then measure the last weights too; what comes of that is no part of the state."""
        if self.state.step == 0:
            return
        self._save()
        if self._validated_step != self.state.step:
            self._measure("end")
        if self._is_first:
            draw_curves(self.metrics.path, self.out / CURVES)

    def _seconds(self) -> float:
        return self._earlier_seconds + time.monotonic() - self._begun

    @property
    def _is_first(self) -> bool:
        return self._process.rank == 0


class _Speedometer:
    """How fast steps are done, validation and checkpoints not counted."""

    def __init__(self) -> None:
        self.documents = 0
        self._seconds = 0.0

    @contextmanager
    def timed(self) -> Iterator[None]:
        begun = time.monotonic()
        yield
        self._seconds += time.monotonic() - begun

    def documents_per_second(self) -> float:
        return self.documents / max(self._seconds, 1e-9)


class StopRequest:
    """Whether someone asked the run to stop."""

    def __init__(self) -> None:
        self.is_made = False


@contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Take the first Ctrl-C or SIGTERM as a request; the second Ctrl-C interrupts as ever.

    The step at hand is finished and a checkpoint written first.
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request  # only the main thread gets signals
        return

    def ask(number: int, frame: FrameType | None) -> None:
        if request.is_made:
            raise KeyboardInterrupt
        request.is_made = True
        _logger.warning("stopping when this step is done and saved; ask again to stop at once")

    earlier = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield request
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
