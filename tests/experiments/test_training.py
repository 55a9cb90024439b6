"""Runs beside each other, and one run over time."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from phraseloom.train.checkpoint import METRICS
from phraseloom.train.journal import read_entries
from phraseloom.train.loop import open_run
from tests.train.runs import make_rows, tiny_config, write_corpus


@pytest.fixture(scope="module")
def valid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpora") / "valid", make_rows(6, seed=1))


@pytest.fixture(scope="module")
def runs(valid: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two seeds of one network, and a wider one."""
    folder = tmp_path_factory.mktemp("runs")
    corpus = write_corpus(folder / "corpus", make_rows(12))
    changes: list[dict[str, Any]] = [{}, {"train": {"seed": 5}}, {"model": {"width": 12}}]
    for i, changed in enumerate(changes):
        config = tiny_config(corpus, valid, **changed)
        open_run(config, folder / f"run{i}").fit(lambda entry: None)
    return [folder / f"run{i}" for i in range(3)]


def test_seeds_are_one_row_and_a_row_says_how_it_differs(
    run: Callable[..., Any], runs: list[Path], valid: Path, tmp_path: Path
) -> None:
    common = ("experiment", "compare", "--results", tmp_path)
    outcome = run(*common, *runs, "--corpus", valid)

    assert outcome.status == 0, outcome.err
    rows = json.loads((tmp_path / "compare.table.json").read_text())["tables"][0]["rows"]
    assert [row["settings"] for row in rows] == ["`run0`", "`model.width = 12`"]
    assert [row["seeds"] for row in rows] == ["2", "1"]
    assert [row["documents seen"] for row in rows] == ["24", "24"]
    assert "±" in rows[0]["F1@5"]
    assert run(*common, "--draw-only").out == outcome.out


def test_a_later_run_counts_on_from_the_one_before(
    run: Callable[..., Any], runs: list[Path], tmp_path: Path
) -> None:
    common = ("experiment", "curve", "--results", tmp_path)
    outcome = run(*common, *runs[:2])

    assert outcome.status == 0, outcome.err
    assert documents_seen(tmp_path) == [16, 24, 40, 48]
    assert (tmp_path / "curve.png").stat().st_size
    assert run(*common, "--draw-only").out == outcome.out


def test_a_run_counts_on_from_one_that_is_gone(
    run: Callable[..., Any], runs: list[Path], tmp_path: Path
) -> None:
    common = ("experiment", "curve", "--results", tmp_path)
    run(*common, runs[0])
    for _ in range(2):  # measured again, a run takes the place of what it measured before
        assert run(*common, runs[1], "--after", runs[0].name).status == 0
    assert documents_seen(tmp_path) == [16, 24, 40, 48]

    outcome = run(*common, runs[1], "--after", "nobody")
    assert (outcome.status, outcome.err.count("\n")) == (2, 1)
    assert "--after nobody" in outcome.err
    assert documents_seen(tmp_path) == [16, 24, 40, 48]


def test_a_model_and_a_setting_make_a_row(
    run: Callable[..., Any], runs: list[Path], valid: Path, tmp_path: Path
) -> None:
    common = ("experiment", "models", "--results", tmp_path, "--corpus", valid)
    varied = ("--vary", "lambda1=0", "--vary", "lambda1=5", "--label", "lambda1")
    outcome = run(*common, *runs[:2], *varied)

    assert outcome.status == 0, outcome.err
    rows = json.loads((tmp_path / "models-lambda1.table.json").read_text())["tables"][0]["rows"]
    assert [row["setting"] for row in rows] == ["`lambda1=0`", "`lambda1=5`"] * 2
    entries = read_entries(runs[0] / METRICS)
    best = min(entry["perplexity"] for entry in entries if "perplexity" in entry)
    assert rows[0]["perplexity"] == rows[1]["perplexity"] == f"{best:.3f}"
    assert run(*common, *varied[-2:], "--draw-only").out == outcome.out
    assert "setting" not in run(*common, runs[0]).out


def documents_seen(results: Path) -> list[int]:
    rows = json.loads((results / "curve.json").read_text())["rows"]
    return [row["documents"] for row in rows]


@pytest.mark.parametrize("name", ["compare", "curve"])
def test_a_run_without_figures_is_named(
    run: Callable[..., Any], runs: list[Path], tmp_path: Path, name: str
) -> None:
    (tmp_path / "empty").symlink_to(runs[0] / "best")  # a model, but no run
    outcome = run("experiment", name, tmp_path / "empty", "--results", tmp_path)
    assert outcome.status == 2
    assert outcome.err.count("\n") == 1
    assert "measured nothing yet" in outcome.err


@pytest.mark.parametrize("name", ["compare", "curve", "models"])
def test_runs_must_be_named(run: Callable[..., Any], tmp_path: Path, name: str) -> None:
    assert " directories" in run("experiment", name, "--results", tmp_path).err
