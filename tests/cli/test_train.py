"""``phraseloom train``: settings, where a run goes, and what is refused."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from phraseloom.config import load_config
from phraseloom.network.weights import load_model
from phraseloom.train.corpus.vectors import Vectors
from tests.conftest import Outcome
from tests.train.runs import make_rows, tiny_values, to_toml, write_corpus

Run = Callable[..., Outcome]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("train") / "corpus", make_rows(8))


@pytest.fixture
def config(tmp_path: Path, corpus: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(to_toml(tiny_values(corpus, corpus)), encoding="utf-8")
    return path


def test_a_run_is_told_of_on_stderr_and_its_model_on_stdout(
    run: Run, config: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    outcome = run("train", config, "--out", out, "--set", "train.epochs=1")

    assert outcome.status == 0
    assert outcome.out == f"{out / 'best'}\n"
    assert f"{out}: a new run, 8 documents to learn from" in outcome.err
    assert "the same command goes on from there" in outcome.err
    assert "step 2  epoch 1  loss " in outcome.err
    assert "validation: perplexity " in outcome.err
    assert "all 1 epochs are done after step 2" in outcome.err
    load_model(out)

    again = run("train", config, "--out", out)
    assert f"{out}: going on after step 2" in again.err
    assert "all 2 epochs are done after step 4" in again.err


def test_a_run_is_named_after_its_configuration(
    run: Run, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("train", config, "--minutes", 1e-6).status == 0
    assert (tmp_path / "runs" / "small" / "last").is_dir()


def test_a_changed_setting_needs_another_place_or_a_restart(
    run: Run, config: Path, tmp_path: Path
) -> None:
    arguments = ("train", config, "--out", tmp_path / "run", "--set", "train.epochs=1")
    run(*arguments)
    refused = run(*arguments, "--set", "model.width=10")

    assert refused.status == 2
    assert "model.width = 8, not 10" in refused.err
    assert run(*arguments, "--set", "model.width=10", "--restart").status == 0


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("data.train=[]", "name prepared corpora in the configuration: data.train"),
        ("data.valid=['/nowhere']", "no prepared corpus at /nowhere"),
        ("train.epoch=3", "unknown setting train.epoch; did you mean train.epochs?"),
        ("train.minutes=-1", "setting train.minutes = -1"),
        ("data.vectors=/nowhere/vectors", "there are no vectors at /nowhere/vectors"),
        ("data.repeat={c = 2}", "data.repeat names c, but the sets are: a, b"),
    ],
)
def test_mistakes_are_one_line(
    run: Run, config: Path, tmp_path: Path, setting: str, message: str
) -> None:
    outcome = run("train", config, "--out", tmp_path / "run", "--set", setting)
    assert outcome.status == 2
    assert message in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_vectors_of_another_width_are_refused(run: Run, config: Path, tmp_path: Path) -> None:
    vectors = Vectors(("graph",), np.ones((1, 5), np.float32), np.zeros((7, 5), np.float32))
    vectors.save(tmp_path / "vectors")
    arguments = ("train", config, "--out", tmp_path / "run")
    place = f"data.vectors={tmp_path / 'vectors'}"
    refused = run(*arguments, "--set", place)

    assert refused.status == 2
    assert "vectors of width 5: set model.word_width=5 (it is 8)" in refused.err
    fixed = ("--set", "model.word_width=5", "--set", "train.vectors_rate=0.0")
    assert run(*arguments, "--set", place, *fixed).status == 0
    model, _ = load_model(tmp_path / "run")
    word = model.lexicon.words.id("graph")
    assert word is not None
    assert model.weights["encoder.words.table"][word].tolist() == [1.0] * 5
    assert model.lexicon.buckets == 7


def test_without_torch_the_command_to_install_it_is_named(
    run: Run, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    outcome = run("train", config)
    assert (outcome.status, outcome.out) == (2, "")
    install = "pip install '.[train]' in a clone of phraseloom"
    assert outcome.err == f"phraseloom: training needs the train extra: {install}\n"


def test_a_configuration_does_not_include_itself(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('base = "b.toml"\n', encoding="utf-8")
    (tmp_path / "b.toml").write_text('base = "a.toml"\n', encoding="utf-8")
    outcome = run("train", tmp_path / "a.toml")
    assert (outcome.status, outcome.out) == (2, "")
    assert "includes itself in a circle" in outcome.err
    assert outcome.err.count("\n") == 1


def test_settings_go_over_the_file_and_the_file_over_its_base(tmp_path: Path) -> None:
    (tmp_path / "low.toml").write_text("[train]\nseed = 1\nlog_every = 2\nwarmup = 3\n")
    (tmp_path / "high.toml").write_text('base = "low.toml"\n[train]\nlog_every = 5\nwarmup = 6\n')
    config = load_config(tmp_path / "high.toml", ["train.warmup=9"])
    assert (config.train.seed, config.train.log_every, config.train.warmup) == (1, 5, 9)
