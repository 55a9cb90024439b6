"""The network learns from the documents that lists are not fitted to, as long as that helps."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from phraseloom.config import Config, DataConfig, TrainConfig
from phraseloom.errors import import_extra
from phraseloom.io.atomic import write_json
from phraseloom.network.lexicon import Ids
from phraseloom.network.weights import BEST, load_lexicon, load_model
from phraseloom.train.corpus.loader import plan_epoch
from phraseloom.train.corpus.prepared import PreparedCorpus
from phraseloom.train.fit.work import Work
from phraseloom.train.metrics_log import MetricsEntry

if TYPE_CHECKING:
    from phraseloom.train.trainer import Trainer

EPOCHS = 4
"""Times that the network sees each document, if there is time."""
FEWEST = 300
"""Documents with keyphrases to learn from; fewer teach a network little."""
_LEAST_MINUTES, _DOCUMENTS_A_MINUTE = 4.0, 500
_VALIDATIONS = 6
_OVERHEAD = 1.3  # of a whole step over its gradient
_TIMED = 5  # gradients, after one that is slower
_THREADS = 1  # two on a busy machine take six times as long (docs/training.md)


def can_learn(work: Work) -> bool:
    """Whether there is enough to learn from."""
    if not work.rest.exists():
        return False
    return int((PreparedCorpus.open(work.rest).phrase_counts > 0).sum()) >= FEWEST


def tune_network(
    base: Path,
    style: str | None,
    work: Work,
    minutes: float | None,
    on_stage: Callable[[str, int, int], None],
) -> Path:
    """Go on training a model, in the run that was begun if there is one.

    Args:
        base: model to begin from.
        style: of the network, that the documents are shown under.
        work: with the corpora.
        minutes: of training; none: by the number of documents.
        on_stage: told what is being done, and how far it is.

    Raises:
        KeyboardInterrupt: it was asked to stop; the same call goes on.
    """
    import_extra("torch", "fitting a network", "train")
    file = work.folder / "plan.json"
    config = _config(base, style, work)
    if not file.exists():
        write_json(file, _plan(config, work, minutes))
    plan = json.loads(file.read_text(encoding="utf-8"))
    plan["minutes"] = minutes or plan["minutes"]  # the call that goes on may give it less or more
    if "end" not in plan:
        reason = _train(_with(config, plan), work, on_stage)
        if reason == "asked to stop":
            raise KeyboardInterrupt
        write_json(file, {**plan, "end": reason})  # a later call must not train on
    return work.run / BEST


def _train(config: Config, work: Work, on_stage: Callable[[str, int, int], None]) -> str:
    """Until the steps are done or the time is up; returns which."""
    from phraseloom.train.setup import open_run  # here: torch takes seconds to load

    trainer, steps = open_run(config, work.run), config.train.steps or 1

    def report(entry: MetricsEntry) -> None:
        on_stage("training", min(entry["step"], steps), steps)

    on_stage("training", trainer.state.step, steps)
    return trainer.fit(report)


def _config(base: Path, style: str | None, work: Work) -> Config:
    _, config = load_model(base)
    return Config(
        model=config.model,
        search=config.search,
        ranking=config.ranking,
        kinds=config.kinds,
        data=DataConfig(
            train=(work.rest,),
            valid=(work.apart,),
            style_of={} if style is None else {"own": style},
            vocabulary=max(1, len(load_lexicon(base).words)),
            max_tokens=400,
        ),
        train=TrainConfig(
            init=base,
            threads=_THREADS,
            batch_documents=32,
            phrases_per_document=3,
            max_grad_norm=1.0,
            learning_rate=5e-4,
            vectors_rate=0.1,
            warmup=20,
            ema_decay=0.99,
            log_every=1,
            validate_documents=200,
            score_documents=0,
            checkpoint_every=50,
            epochs=1_000_000,
        ),
    )


def _with(config: Config, plan: dict[str, Any]) -> Config:
    """The rate falls to zero over the steps; if they take longer than planned, the time ends it."""
    steps = plan["steps"]
    changes = {
        "steps": steps,
        "minutes": plan["minutes"],
        "validate_every": max(1, steps // _VALIDATIONS),
    }
    return config.model_copy(update={"train": config.train.model_copy(update=changes)})


def _plan(config: Config, work: Work, minutes: float | None) -> dict[str, float]:
    """As many steps as there are in some epochs, or in the time beside validations, if less."""
    from phraseloom.train.setup import open_run  # here: torch takes seconds to load

    trainer = open_run(config, work.folder / "trial")
    pool = trainer.loader.pool
    batches = plan_epoch(pool, config.train, 0)
    _, *timed = [_time_gradient(trainer, batches[n % len(batches)]) for n in range(1 + _TIMED)]
    limit = minutes or max(_LEAST_MINUTES, len(pool) / _DOCUMENTS_A_MINUTE)
    left = 60 * limit - _VALIDATIONS * _time_validation(trainer)
    in_time = round(left / max(_OVERHEAD * median(timed), 1e-3))
    return {"steps": max(1, min(EPOCHS * len(batches), in_time)), "minutes": limit}


def _time_gradient(trainer: "Trainer", documents: Ids) -> float:
    batch = trainer.loader.make(0, 0, documents)
    begun = time.monotonic()
    trainer.learner.find_gradient(batch)
    return time.monotonic() - begun


def _time_validation(trainer: "Trainer") -> float:
    begun = time.monotonic()
    trainer.validator.measure(trainer.learner.averaged_weights())
    return time.monotonic() - begun
