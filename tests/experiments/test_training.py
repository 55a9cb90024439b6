"""Runs beside each other, and one run over time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from phraseloom.train.metrics_log import METRICS, read_entries
from phraseloom.train.setup import open_run
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


def cells(table: str) -> list[dict[str, str]]:
    """Rows of a Markdown table, by column."""
    lines = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]


def test_seeds_are_one_row_and_a_row_says_how_it_differs(
    experiment: Callable[..., Any], runs: list[Path], valid: Path
) -> None:
    outcome = experiment("compare", *runs, "--corpus", valid)

    assert outcome.status == 0, outcome.err
    rows = cells(outcome.out)
    assert [row["settings"] for row in rows] == ["`run0`", "`model.width = 12`"]
    assert [row["seeds"] for row in rows] == ["2", "1"]
    assert [row["documents seen"] for row in rows] == ["24", "24"]
    assert "±" in rows[0]["F1@5"]
    assert experiment("draw", "compare").out == outcome.out


def test_a_later_run_counts_on_from_the_one_before(
    experiment: Callable[..., Any], runs: list[Path], tmp_path: Path
) -> None:
    outcome = experiment("curve", *runs[:2])

    assert outcome.status == 0, outcome.err
    assert documents_seen(outcome.out) == ["16", "24", "40", "48"]
    assert (tmp_path / "pictures" / "result-curve.svg").stat().st_size
    assert experiment("draw", "curve").out == outcome.out


def test_a_run_counts_on_from_one_that_is_gone(
    experiment: Callable[..., Any], runs: list[Path]
) -> None:
    experiment("curve", runs[0])
    for _ in range(2):  # measured again, a run takes the place of what it measured before
        outcome = experiment("curve", runs[1], "--after", runs[0].name)
        assert documents_seen(outcome.out) == ["16", "24", "40", "48"]

    outcome = experiment("curve", runs[1], "--after", "nobody")
    assert (outcome.status, outcome.err.count("\n")) == (2, 1)
    assert "--after nobody" in outcome.err
    assert documents_seen(experiment("draw", "curve").out) == ["16", "24", "40", "48"]


def documents_seen(table: str) -> list[str]:
    return [row["documents seen"] for row in cells(table)]


def test_a_model_and_a_setting_make_a_row(
    experiment: Callable[..., Any], runs: list[Path], valid: Path
) -> None:
    varied = ("--vary", "lambda1=0", "--vary", "lambda1=5", "--label", "lambda1")
    outcome = experiment("models", *runs[:2], "--corpus", valid, *varied)

    assert outcome.status == 0, outcome.err
    rows = cells(outcome.out)
    assert [row["setting"] for row in rows] == ["`lambda1=0`", "`lambda1=5`"] * 2
    entries = read_entries(runs[0] / METRICS)
    best = min(entry["perplexity"] for entry in entries if "perplexity" in entry)
    assert rows[0]["perplexity"] == rows[1]["perplexity"] == f"{best:.3f}"
    assert experiment("draw", "models-lambda1").out == outcome.out
    assert "setting" not in experiment("models", runs[0], "--corpus", valid).out


@pytest.mark.parametrize("name", ["compare", "curve"])
def test_a_run_without_figures_is_named(
    experiment: Callable[..., Any], runs: list[Path], tmp_path: Path, name: str
) -> None:
    (tmp_path / "empty").symlink_to(runs[0] / "best")  # a model, but no run
    outcome = experiment(name, tmp_path / "empty")
    assert outcome.status == 2
    assert outcome.err.count("\n") == 1
    assert "measured nothing yet" in outcome.err
