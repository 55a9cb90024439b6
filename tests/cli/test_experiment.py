"""``phraseloom experiment``: finds the experiments of its checkout, and says so if it has none."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments import EXPERIMENTS, MODULES

MEASURING = [name for name in EXPERIMENTS if name != "report"]


def test_the_experiments_are_listed(run: Callable[..., Any]) -> None:
    outcome = run("experiment")
    assert outcome.status == 0
    assert [line.split()[0] for line in outcome.out.splitlines()] == list(EXPERIMENTS)


@pytest.mark.parametrize("name", MEASURING)
def test_each_experiment_explains_itself_and_can_draw_alone(
    run: Callable[..., Any], name: str
) -> None:
    outcome = run("experiment", name, "--help")
    assert outcome.status == 0, outcome.err
    assert f"phraseloom experiment {name}" in outcome.out
    assert "--draw-only" in outcome.out


@pytest.mark.parametrize("name", MEASURING)
def test_nothing_is_drawn_before_something_is_measured(
    run: Callable[..., Any], name: str, tmp_path: Path
) -> None:
    outcome = run("experiment", name, "--draw-only", "--results", tmp_path)
    assert outcome.status == 2
    assert "nothing was measured yet" in outcome.err
    assert outcome.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_every_experiment_has_a_module() -> None:
    assert MODULES.keys() == EXPERIMENTS.keys()


def test_an_unknown_name_is_one_line_with_the_known_ones(run: Callable[..., Any]) -> None:
    outcome = run("experiment", "alchemy")
    assert outcome.status == 2
    assert outcome.err == f"phraseloom: no experiment 'alchemy'; there are: {', '.join(MODULES)}\n"


def test_an_installed_package_says_that_it_has_none(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys.modules["phraseloom.cli.experiment"], "CHECKOUT", tmp_path)
    outcome = run("experiment", "tune")
    assert outcome.status == 2
    assert "not part of the installed package" in outcome.err
