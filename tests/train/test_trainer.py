"""What a run leaves behind: metrics, checkpoints, the best model; and how it stops and goes on."""

import json
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from phraseloom.config import Config
from phraseloom.errors import CheckpointError, ConfigError, TrainingError
from phraseloom.network.weights import load_model, read_notes
from phraseloom.train import learner
from phraseloom.train.checkpoint import LAST, PREVIOUS
from phraseloom.train.loss import Losses, sequence_losses
from phraseloom.train.metrics_log import CURVES, METRICS, MetricsEntry, read_entries
from phraseloom.train.setup import open_run
from phraseloom.train.trainer import Trainer
from tests.train.runs import change, make_rows, tiny_config, write_corpus

TIMES = {"seconds", "documents_per_second", "seconds_left"}


@pytest.fixture
def config(corpus_path: Path, valid_path: Path) -> Config:
    return tiny_config(corpus_path, valid_path)


def run(config: Config, out: Path) -> Trainer:
    trainer = open_run(config, out)
    trainer.fit(lambda entry: None)
    return trainer


def stop_after(trainer: Trainer, step: int) -> None:
    """Run until a step has been logged, then stop as Ctrl-C would."""

    def watch(entry: MetricsEntry) -> None:
        if entry["step"] == step and entry["kind"] == "train":
            signal.raise_signal(signal.SIGINT)

    assert trainer.fit(watch) == "asked to stop"
    torch.manual_seed(99)  # another process would not go on with our random numbers


def weights(directory: Path) -> dict[str, bytes]:
    """All that a checkpoint computes with, as bytes."""
    return {path.name: path.read_bytes() for path in directory.glob("*.safetensors")}


def without_times(path: Path) -> list[dict[str, Any]]:
    entries = [entry for entry in read_entries(path) if entry["kind"] != "end"]
    return [{key: entry[key] for key in entry.keys() - TIMES} for entry in entries]


def test_a_run_leaves_everything_behind(config: Config, tmp_path: Path) -> None:
    trainer = run(config, tmp_path / "run")
    entries = read_entries(tmp_path / "run" / METRICS)

    assert trainer.state.step == 12  # two epochs of 24 documents in fours
    assert [entry["step"] for entry in entries if entry["kind"] == "train"] == list(range(1, 13))
    assert [entry["step"] for entry in entries if entry["kind"] == "valid"] == [4, 8, 12]
    assert all(0 <= entry["f1@5"] <= 1 for entry in entries if entry["kind"] == "valid")
    assert {path.name for path in (tmp_path / "run").iterdir()} == {
        *("best", LAST, PREVIOUS, METRICS, CURVES)
    }
    assert (tmp_path / "run" / CURVES).read_bytes().startswith(b"\x89PNG")
    load_model(tmp_path / "run")


def test_same_seed_same_weights(config: Config, tmp_path: Path) -> None:
    run(config, tmp_path / "one")
    run(config, tmp_path / "two")
    run(change(config, seed=1), tmp_path / "other")

    assert weights(tmp_path / "one" / LAST) == weights(tmp_path / "two" / LAST)
    assert weights(tmp_path / "one" / "best") == weights(tmp_path / "two" / "best")
    assert weights(tmp_path / "one" / LAST) != weights(tmp_path / "other" / LAST)


def test_a_stopped_run_goes_on_as_if_it_had_not_been(config: Config, tmp_path: Path) -> None:
    run(config, tmp_path / "whole")
    for step in (2, 5, 8):  # inside an epoch, between checkpoints, at a validation
        stop_after(open_run(config, tmp_path / "parts"), step)
    run(config, tmp_path / "parts")

    assert weights(tmp_path / "parts" / LAST) == weights(tmp_path / "whole" / LAST)
    assert without_times(tmp_path / "parts" / METRICS) == without_times(
        tmp_path / "whole" / METRICS
    )


def test_more_epochs_may_be_asked_for(config: Config, tmp_path: Path) -> None:
    run(config, tmp_path / "whole")
    run(change(config, epochs=1), tmp_path / "parts")
    assert run(config, tmp_path / "parts").state.step == 12
    assert weights(tmp_path / "parts" / LAST) == weights(tmp_path / "whole" / LAST)


def test_a_run_ends_after_its_steps(config: Config, tmp_path: Path) -> None:
    trainer = open_run(change(config, steps=7), tmp_path / "run")
    assert trainer.fit(lambda entry: None) == "all 7 steps are done"
    assert trainer.state.step == 7
    assert trainer.state.epoch == 1


def test_whoever_asks_to_stop_is_answered_at_once(
    config: Config, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stop_after(open_run(config, tmp_path), 2)
    assert "stopping when this step is done and saved" in caplog.text


def test_a_run_that_is_over_stays_over(config: Config, tmp_path: Path) -> None:
    run(config, tmp_path)
    assert {entry["epoch"] for entry in read_entries(tmp_path / METRICS)} == {0, 1}
    before = weights(tmp_path / LAST)
    assert open_run(config, tmp_path).fit(lambda entry: None) == "all 2 epochs are done"
    assert weights(tmp_path / LAST) == before


def test_another_configuration_is_refused(config: Config, tmp_path: Path) -> None:
    run(change(config, epochs=1), tmp_path)
    with pytest.raises(ConfigError, match=r"train\.seed = 0, not 5; give another --out, or --rest"):
        open_run(change(config, seed=5), tmp_path)
    assert open_run(change(config, seed=5), tmp_path, is_restarted=True).state.step == 0
    assert not (tmp_path / LAST).exists()


def test_other_corpora_under_the_same_name_are_refused(corpus_path: Path, tmp_path: Path) -> None:
    valid = write_corpus(tmp_path / "valid", make_rows(5, seed=2))
    config = tiny_config(corpus_path, valid, train={"epochs": 1})
    run(config, tmp_path / "run")
    for file in valid.iterdir():
        file.unlink()
    valid.rmdir()
    write_corpus(valid, make_rows(5, seed=3))
    with pytest.raises(CheckpointError, match="the corpora have changed"):
        open_run(config, tmp_path / "run")


def test_a_damaged_checkpoint_gives_way_to_the_previous_one(
    config: Config, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run(config, tmp_path / "whole")
    stop_after(open_run(config, tmp_path / "parts"), 7)
    optimizer = tmp_path / "parts" / LAST / "optimizer.safetensors"
    optimizer.write_bytes(optimizer.read_bytes()[:-100])

    trainer = open_run(config, tmp_path / "parts")
    assert trainer.state.step == 6
    assert "optimizer.safetensors is damaged" in caplog.text
    assert "going on from" in caplog.text
    trainer.fit(lambda entry: None)
    assert weights(tmp_path / "parts" / LAST) == weights(tmp_path / "whole" / LAST)
    assert without_times(tmp_path / "parts" / METRICS) == without_times(
        tmp_path / "whole" / METRICS
    )


def test_without_a_whole_checkpoint_the_run_is_refused(config: Config, tmp_path: Path) -> None:
    run(config, tmp_path)
    for name in (LAST, PREVIOUS):
        (tmp_path / name / "state.json").unlink()
    with pytest.raises(CheckpointError, match=r"state.json is missing.*--restart"):
        open_run(config, tmp_path)


def test_the_time_limit_counts_over_resumes(config: Config, tmp_path: Path) -> None:
    limited = change(config, minutes=1.0)
    stop_after(open_run(limited, tmp_path), 2)
    trainer = open_run(limited, tmp_path)
    trainer._begun = time.monotonic() - 61

    assert trainer.fit(lambda entry: None) == "the time is up"
    assert trainer.state.step == 4
    assert open_run(limited, tmp_path).state.seconds > 61
    assert read_entries(tmp_path / METRICS)[-1]["kind"] == "valid"


def test_the_last_weights_are_measured_too(config: Config, tmp_path: Path) -> None:
    stop_after(open_run(config, tmp_path), 2)
    assert read_entries(tmp_path / METRICS)[-1]["kind"] == "end"
    notes = read_notes(tmp_path / "best")
    assert notes is not None and notes["step"] == 3


def test_the_best_model_is_the_one_with_the_lowest_perplexity(
    config: Config, tmp_path: Path
) -> None:
    run(config, tmp_path)
    measured = {e["step"]: e["perplexity"] for e in read_entries(tmp_path / METRICS) if "f1@5" in e}
    notes = read_notes(tmp_path / "best")
    assert notes is not None
    assert notes["perplexity"] == min(measured.values()) == measured[notes["step"]]


def test_stagnation_halves_the_rate_and_ends_the_run(
    corpus_path: Path, valid_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = iter([5.0, 6.0, 4.0, 4.0, 4.5])
    config = tiny_config(
        corpus_path, valid_path, train={"validate_every": 1, "patience": 2, "score_documents": 0}
    )
    trainer = open_run(config, tmp_path)
    monkeypatch.setattr(trainer.validator, "perplexity", lambda weights: next(figures))

    assert trainer.fit(lambda entry: None) == "2 validations in a row were no better"
    rates = [e["rate"] for e in read_entries(tmp_path / METRICS) if e["kind"] == "train"]
    assert rates == [0.01, 0.01, 0.005, 0.005, 0.0025]
    notes = read_notes(tmp_path / "best")
    assert notes is not None and notes["step"] == 3


def break_loss(monkeypatch: pytest.MonkeyPatch, *, at: int, factor: float) -> None:
    """Multiply the loss from a step on."""
    calls = iter(range(10**6))

    def broken(*arguments: Any) -> Losses:
        losses = sequence_losses(*arguments)
        if next(calls) < at:
            return losses
        return replace(losses, sequence=losses.sequence * factor)

    monkeypatch.setattr(learner, "sequence_losses", broken)


@pytest.mark.parametrize(("factor", "words"), [(float("nan"), "not finite"), (1e4, "exploded")])
def test_a_loss_out_of_bounds_ends_the_run_and_spares_the_checkpoint(
    config: Config,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    factor: float,
    words: str,
) -> None:
    trainer = open_run(change(config, checkpoint_every=4), tmp_path)
    break_loss(monkeypatch, at=5 if words == "not finite" else 4, factor=factor)
    with pytest.raises(TrainingError, match=words):
        trainer.fit(lambda entry: None)
    monkeypatch.undo()

    assert open_run(change(config, checkpoint_every=4), tmp_path).state.step in (4, 8)
    model, _ = load_model(tmp_path / LAST)
    assert all(np.isfinite(weight).all() for weight in model.weights.values())


def test_even_a_first_step_out_of_bounds_leaves_a_checkpoint(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_loss(monkeypatch, at=0, factor=float("inf"))
    with pytest.raises(TrainingError, match="of step 1 is not finite"):
        run(config, tmp_path)
    load_model(tmp_path / LAST)


def test_weights_that_are_not_finite_are_never_saved(config: Config, tmp_path: Path) -> None:
    stop_after(open_run(config, tmp_path), 2)
    trainer = open_run(config, tmp_path)
    before = weights(tmp_path / LAST)
    with torch.no_grad():
        trainer.learner.weights["decoder.start"].fill_(float("nan"))
    with pytest.raises(TrainingError, match=r"decoder\.start are not finite"):
        trainer._save()
    assert weights(tmp_path / LAST) == before


def test_a_checkpoint_holds_json_and_safetensors_only(config: Config, tmp_path: Path) -> None:
    run(config, tmp_path)
    assert {path.suffix for path in (tmp_path / LAST).iterdir()} == {".json", ".safetensors"}
    manifest = json.loads((tmp_path / LAST / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["files"].keys() == {
        *("model.safetensors", "optimizer.safetensors", "ema.safetensors"),
        *("state.json", "config.json", "lexicon.json"),
    }
