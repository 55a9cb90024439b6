"""A run from its first step, or wherever it was, to its end."""

import logging
import time
from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path

import torch

from phraseloom.config import Config
from phraseloom.data.lexicon import Lexicon
from phraseloom.data.loader import ALONE, BatchLoader, Share
from phraseloom.errors import CheckpointError, TrainingError
from phraseloom.model.checkpoint import BEST, read_notes, save_model
from phraseloom.train.checkpoint import (
    CURVES,
    LAST,
    METRICS,
    clear,
    clear_unfinished,
    find_checkpoint,
    load_checkpoint,
    restore_learner,
    save_checkpoint,
)
from phraseloom.train.curves import draw_curves
from phraseloom.train.distributed import from_first
from phraseloom.train.journal import Entry, Journal
from phraseloom.train.learner import Learner
from phraseloom.train.optim import rate_at
from phraseloom.train.setup import begin_model, make_pool, open_corpora
from phraseloom.train.state import Sums, TrainState
from phraseloom.train.stopping import stop_requests
from phraseloom.train.validate import Validation, Validator

Report = Callable[[Entry], None]

_logger = logging.getLogger(__name__)


class Trainer:
    """One run in one directory; make it with `open_run`."""

    def __init__(
        self,
        config: Config,
        out: Path,
        lexicon: Lexicon,
        learner: Learner,
        loader: BatchLoader,
        validator: Validator,
    ) -> None:
        self.config = config
        self.out = out
        self.lexicon = lexicon
        self.learner = learner
        self.loader = loader
        self.validator = validator
        self.state = learner.state
        self.journal = Journal(out / METRICS)
        self.report: Report = lambda entry: None
        self._validated = -1
        self._earlier = self.state.seconds
        self._begun = time.monotonic()
        self._learning = 0.0
        self._seen = 0

    def fit(self, report: Report) -> str:
        """Train until epochs, steps, patience or time are spent, or someone asks to stop.

        Args:
            report: told every line of the journal.

        Returns:
            Why the run ended.
        """
        self.report = report
        self.learner.model.train()
        reason = None
        with stop_requests() as request:
            while (reason := reason or self._is_over()) is None:
                reason = self._run_epoch(lambda: request.is_made)
            self._finish(reason)
        return reason

    def _run_epoch(self, is_asked: Callable[[], bool]) -> str | None:
        """Go through the rest of the epoch; say why, if the run ends before it does."""
        config, state = self.config.train, self.state
        with closing(self.loader.stream(state.epoch, state.batch)) as works:
            for work in works:
                begun = time.monotonic()
                try:
                    totals = self.learner.learn(work, is_stopping=is_asked() or self._is_late())
                except TrainingError:
                    self._keep_something()
                    raise
                self._learning += time.monotonic() - begun
                self._seen += totals.documents
                if state.step % config.log_every == 0:
                    self._log()
                if state.step % config.validate_every == 0:
                    self._validate()
                if state.step % config.checkpoint_every == 0:
                    self._save()
                if totals.stops:
                    return (
                        "the time is up"
                        if from_first(self._is_late(), self._share)
                        else "asked to stop"
                    )
                if (reason := self._is_over()) is not None:
                    return reason
        state.epoch += 1
        state.batch = 0
        return None

    def _is_over(self) -> str | None:
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
        measured = self._measure("valid")
        if state.best is None or measured.perplexity < state.best:
            state.best, state.stagnant = measured.perplexity, 0
        else:
            state.halvings += 1
            state.stagnant += 1

    def _measure(self, kind: str) -> Validation:
        """Measure the weights as they would be used, and keep them if they are the best so far."""
        model, average = self.learner.model, self.learner.average
        measured = None
        with average.applied(model) if average else nullcontext():
            if self._is_first:
                measured = self.validator.measure(model)
                self._keep_best(measured)
        found: Validation = from_first(measured, self._share)
        self._validated = self.state.step
        self._write(
            {
                "kind": kind,
                "step": self.state.step,
                "epoch": self.state.epoch,
                "documents": self.state.documents,
                "perplexity": found.perplexity,
                "f1@5": found.f1_at_5,
                "f1@M": found.f1_at_m,
                "seconds": round(self._seconds(), 3),
            }
        )
        return found

    def _keep_best(self, measured: Validation) -> None:
        """Compares with what is on disk, which may come from a stop or a kill after ``last``."""
        best = read_notes(self.out / BEST)
        if best is not None and best["perplexity"] <= measured.perplexity:
            return
        notes = {
            "step": self.state.step,
            "perplexity": measured.perplexity,
            "f1@5": measured.f1_at_5,
            "f1@M": measured.f1_at_m,
        }
        save_model(self.out / BEST, self.learner.model, self.lexicon, self.config, notes=notes)

    def _log(self) -> None:
        state, sums = self.state, self.state.sums
        speed = self._seen / max(self._learning, 1e-9)
        entry: Entry = {
            "kind": "train",
            "step": state.step,
            "epoch": state.epoch,
            "documents": state.documents,
            "loss": sums.loss / sums.steps,
            "importance": sums.importance / sums.steps,
            "norm": sums.norm / sums.steps,
            "rate": rate_at(state.step - 1, state.halvings, self.config.train),
            "seconds": round(self._seconds(), 3),
            "documents_per_second": round(speed, 2),
            "seconds_left": round(self._seconds_left()),
        }
        state.sums = Sums()
        self._seen, self._learning = 0, 0.0
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

    def _write(self, entry: Entry) -> None:
        if self._is_first:
            self.journal.add(entry)
            self.report(entry)

    def _save(self) -> None:
        self.state.seconds = self._seconds()
        if self._is_first:
            save_checkpoint(self.out, self.learner, self.lexicon, self.config)

    def _keep_something(self) -> None:
        """Before the run fails: a checkpoint, unless there is an older one, which is better."""
        if not (self.out / LAST).is_dir():
            self._save()

    def _finish(self, reason: str) -> None:
        """Save, then measure the last weights too; what comes of that is no part of the state."""
        if self.state.step == 0:
            return
        self._save()
        if self._validated != self.state.step:
            self._measure("end")
        if self._is_first:
            draw_curves(self.journal.path, self.out / CURVES)

    def _seconds(self) -> float:
        return self._earlier + time.monotonic() - self._begun

    @property
    def _share(self) -> Share:
        return self.learner.share

    @property
    def _is_first(self) -> bool:
        return self.learner.share.rank == 0


def open_run(
    config: Config, out: Path, share: Share = ALONE, *, is_restarted: bool = False
) -> Trainer:
    """Begin a run, or go on with the one that the directory holds.

    Args:
        config: of the run; one that goes on must have the same but for when it ends.
        out: directory of the run.
        share: which process of how many this is.
        is_restarted: whether to throw away a run that is there.
    """
    _set_up_torch(config.train.threads)
    corpora = open_corpora(config.data)
    if share.rank == 0:
        _make_directory(out)
        if is_restarted:
            clear(out)
        clear_unfinished(out)
    from_first(None, share)  # the others wait
    checkpoint = find_checkpoint(out)
    if checkpoint is not None:
        model, lexicon, state = load_checkpoint(checkpoint, config)
        if state.data != corpora.fingerprint:
            raise CheckpointError(
                f"the corpora have changed since {checkpoint} was written; give another --out,"
                " or --restart to throw that run away"
            )
    else:
        model, lexicon = begin_model(corpora, config)
        state = TrainState(data=corpora.fingerprint)
    learner = Learner(model, state, config.train, share)
    if checkpoint is not None:
        restore_learner(checkpoint, learner)
    pool = make_pool(corpora.train, lexicon, config.data, is_repeated=True)
    valid = make_pool(corpora.valid, lexicon, config.data, is_repeated=False)
    trainer = Trainer(
        config,
        out,
        lexicon,
        learner,
        BatchLoader(pool, lexicon, config.train, share),
        Validator(valid, lexicon, config),
    )
    if share.rank == 0:
        trainer.journal.rewind(state.step)
    return trainer


def _set_up_torch(threads: int | None) -> None:
    """Same seed, same weights: with several threads, sums would else be added in any order."""
    if threads is not None:
        torch.set_num_threads(threads)
    if torch.get_num_threads() > 1:
        torch.use_deterministic_algorithms(True, warn_only=True)
        # filling memory costs time, and we read none before we write it
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


def _make_directory(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CheckpointError(f"cannot make the directory {out}: {error.strerror}") from None
