"""A rival's run is stopped and goes on, is measured, and has its line in the table."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from phraseloom.config import Config
from phraseloom.train.ops import as_arrays
from rivals.__main__ import main
from rivals.run import open_run
from tests.rivals.runs import Bench
from tests.train.runs import change

TINY = [
    *("train.threads=1", "train.batch_documents=4", "train.epochs=1", "train.steps=2"),
    *("train.log_every=1", "train.validate_every=2", "train.score_documents=2"),
    *("model.width=8", "model.word_width=8", "model.pos_width=2", "model.position_width=2"),
]


class Outcome(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture
def rivals(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Outcome]:
    """Run ``python -m rivals`` in this process."""

    def run(*arguments: object) -> Outcome:
        monkeypatch.setattr("sys.argv", ["rivals", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as exit_info:
            main()
        printed = capsys.readouterr()
        return Outcome(int(exit_info.value.code or 0), printed.out, printed.err)

    return run


@pytest.fixture(autouse=True)
def torch_as_it_was() -> Any:
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(False)


def weights_after(config: Config, out: Path, steps: int) -> dict[str, Any]:
    trainer = open_run("catseq", config, out)
    trainer.fit(lambda entry: None)
    assert trainer.state.step == steps
    return as_arrays(trainer.learner.averaged_weights())


def test_stopped_and_resumed_is_never_stopped(bench: Bench, tmp_path: Path) -> None:
    model = bench.config.model.model_copy(update={"dropout": 0.2})
    config = bench.config.model_copy(update={"model": model})
    config = change(config, epochs=2, score_documents=0, ema_decay=0.9)

    whole = weights_after(config, tmp_path / "whole", steps=4)
    weights_after(change(config, epochs=1), tmp_path / "parts", steps=2)
    resumed = weights_after(config, tmp_path / "parts", steps=4)

    for name, weight in whole.items():
        np.testing.assert_array_equal(resumed[name], weight, err_msg=name)


def test_from_a_corpus_to_a_line_of_the_table(
    rivals: Callable[..., Outcome],
    bench: Bench,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run, results = tmp_path / "catseq-0", tmp_path / "results" / "rivals.json"
    settings = [part for setting in TINY for part in ("--set", setting)]
    places = ("--corpus", bench.corpus, "--valid", bench.corpus)

    trained = rivals("train", "catseq", *places, "--out", run, *settings)
    assert trained.status == 0, trained.err
    again = rivals("train", "tgnet", *places, "--out", run, *settings)
    assert (again.status, again.err.count("\n")) == (2, 1)
    assert "holds a run of catseq; give another --out" in again.err

    for _ in range(2):  # the second time the row is replaced
        measure = ("measure", run, bench.corpus, "--valid", bench.corpus, "--results", results)
        measured = rivals(*measure, "--choose-on", 2, "--documents", 4)
        assert measured.status == 0, measured.err
    [row] = json.loads(results.read_text())["rows"]
    assert (row["rival"], row["title"], row["documents"]) == ("catseq", "catSeq", 4)
    assert row["training"]["documents"] == 8
    assert row["command"].startswith("python -m rivals measure")
    assert row["parameters"] > 0 and row["seconds"] > 0
    assert {"f1@M", "f1@5", "ndcg@10", "predicted", "correct", "nested"} < row["values"].keys()

    from experiments.__main__ import main as experiments

    pictures = tmp_path / "pictures"
    arguments = ["rivals", "--results", str(results.parent), "--pictures", str(pictures)]
    monkeypatch.setattr("sys.argv", ["experiments", *arguments])
    with pytest.raises(SystemExit) as exit_info:
        experiments()
    drawn = capsys.readouterr().out
    assert not exit_info.value.code
    assert "| catSeq | run here |" in drawn
    assert "| catSeq | published, not run here |" in drawn
    assert (pictures / "result-rivals.svg").stat().st_size


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "catsek", "--corpus", "{corpus}"), "no rival 'catsek'; there are: catseq"),
        (("train", "catseq", "--set", "model.variant=gcn"), "set model.variant=gru"),
        (("measure", "{folder}", "{corpus}"), "there is no model|is no run|no model directory"),
    ],
)
def test_a_mistake_is_one_line(
    arguments: tuple[str, ...],
    message: str,
    rivals: Callable[..., Outcome],
    bench: Bench,
    tmp_path: Path,
) -> None:
    filled = [a.format(corpus=bench.corpus, folder=tmp_path) for a in arguments]
    if filled[0] == "train":
        filled += ["--valid", str(bench.corpus), "--out", str(tmp_path / "run")]
    outcome = rivals(*filled)

    assert outcome.status == 2
    assert outcome.err.count("\n") == 1
    assert re.search(message, outcome.err)
