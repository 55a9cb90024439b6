"""TensorBoard is told what the metrics say, and to forget what a resumed run writes again."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from phraseloom.errors import MissingExtraError
from phraseloom.train.metrics_log import EVENTS, METRICS, MetricsLog, read_entries
from phraseloom.train.setup import open_run
from tests.train.runs import change, tiny_config

Told = list[tuple[object, ...]]


class Writer:
    """As torch's writer of event files, in memory."""

    told: Told

    def __init__(self, folder: str, purge_step: int) -> None:
        self.told.append((Path(folder).name, purge_step))

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        self.told.append((tag, value, step))

    def flush(self) -> None:
        self.told.append(())


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    """What a writer is told, whether TensorBoard is installed or not."""
    writers = ModuleType("torch.utils.tensorboard")
    writers.SummaryWriter = Writer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tensorboard", ModuleType("tensorboard"))
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", writers)
    monkeypatch.setattr(Writer, "told", [], raising=False)
    return Writer.told


def test_a_run_tells_tensorboard_every_figure(
    told: Told, corpus_path: Path, valid_path: Path, tmp_path: Path
) -> None:
    config = change(tiny_config(corpus_path, valid_path), tensorboard=True, epochs=1)
    open_run(config, tmp_path).fit(lambda entry: None)
    entries = read_entries(tmp_path / METRICS)
    scalars = {entry[:1] + entry[2:]: entry[1] for entry in told if len(entry) == 3}

    assert told[0] == (EVENTS, 1)
    assert told[-1] == ()
    for entry in entries:
        names = ("loss", "rate") if entry["kind"] == "train" else ("perplexity", "f1@5")
        part = "train" if entry["kind"] == "train" else "valid"
        for name in names:
            assert scalars[(f"{part}/{name}", entry["step"])] == entry[name]

    told.clear()
    open_run(change(config, epochs=2), tmp_path)
    assert told == [(EVENTS, 7)]  # after the six steps of the first epoch


def test_a_figure_that_was_not_measured_is_left_out(told: Told, tmp_path: Path) -> None:
    log = MetricsLog(tmp_path / METRICS, is_for_tensorboard=True)
    log.rewind(0)
    log.add({"kind": "valid", "step": 2, "perplexity": 3.0, "f1@5": None})

    assert told[1:] == [("valid/perplexity", 3.0, 2), ()]


def test_without_the_package_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard", None)

    with pytest.raises(MissingExtraError, match=r"pip install '\.\[tensorboard\]'"):
        MetricsLog(tmp_path / METRICS, is_for_tensorboard=True).rewind(0)


def test_tensorboard_reads_the_event_files(
    corpus_path: Path, valid_path: Path, tmp_path: Path
) -> None:
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    config = change(tiny_config(corpus_path, valid_path), tensorboard=True)
    trainer = open_run(change(config, epochs=1), tmp_path)
    trainer.fit(lambda entry: None)
    open_run(config, tmp_path).fit(lambda entry: None)

    events = reader.EventAccumulator(str(tmp_path / EVENTS))
    events.Reload()
    assert [event.step for event in events.Scalars("train/loss")] == list(range(1, 13))
    losses = [entry["loss"] for entry in read_entries(tmp_path / METRICS) if "loss" in entry]
    assert [event.value for event in events.Scalars("train/loss")] == pytest.approx(losses)
