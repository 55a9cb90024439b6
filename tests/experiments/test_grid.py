"""The grid of the dynamic graph: a queue of runs that goes on where it was stopped."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments import grid
from phraseloom.config import load_config


@pytest.mark.parametrize("kind", grid.KINDS)
def test_each_kind_is_another_network(kind: str) -> None:
    config = load_config(Path("configs/rivals-ours.toml"), list(grid.KINDS[kind]))
    others = [
        load_config(Path("configs/rivals-ours.toml"), list(settings))
        for other, settings in grid.KINDS.items()
        if other != kind
    ]

    assert config not in others


def test_the_queue_goes_on_and_measures_each_run_once(
    experiment: Callable[..., Any],
    result: Callable[..., Any],
    prepared: Path,
    tmp_path: Path,
) -> None:
    tiny = tmp_path / "tiny.toml"
    tiny.write_text(
        f"""
[model]
word_width = 6
pos_width = 3
position_width = 4
width = 8
edge_width = 3
layers = 2
decoder_layers = 1
[data]
train = ["{prepared}"]
valid = ["{prepared}"]
[train]
steps = 2
"""
    )
    arguments = ["grid", tiny, "--corpus", prepared, "--documents", 3, "--seed", 0, "--out"]
    arguments += [tmp_path / "runs", "--kind", "dynamic", "--kind", "static"]

    stopped = experiment(*arguments, "--set", "train.minutes=0.0001")
    assert "the same command goes on" in stopped.out
    outcome = experiment(*arguments)

    assert outcome.status == 0, outcome.err
    rows = result("dynamic")["rows"]
    assert [row["run"] for row in rows] == ["dynamic-0", "static-0"]
    shutil.rmtree(tmp_path / "runs")
    experiment(*arguments)
    assert result("dynamic")["rows"] == rows, "nothing is measured twice"
    assert not (tmp_path / "runs").exists(), "nor trained again"
