"""Every phrase is counted once, under its score."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.calibration import Point, make_bins


def test_bins_hold_all_phrases_and_the_right_ones_among_them() -> None:
    points = [Point("kind", "nothing", i / 100, i % 3 == 0) for i in range(1, 101)]

    bins = make_bins(points)

    assert sum(row["phrases"] for row in bins) == 100
    assert sum(row["phrases"] * row["right"] for row in bins) == pytest.approx(33)
    assert all(row["low"] < row["score"] <= row["high"] for row in bins if row["phrases"])


def test_the_command_draws_again_from_its_result(
    experiment: Callable[..., Any],
    result: Callable[[str], Any],
    model_directory: Path,
    corpus_file: Path,
    tmp_path: Path,
) -> None:
    outcome = experiment("calibration", model_directory, corpus_file)

    assert outcome.status == 0, outcome.err
    assert "are reference phrases" in outcome.out
    assert {row["asked"] for row in result("calibration")["errors"]} >= {"nothing", "a seed"}
    assert experiment("draw", "calibration").out == outcome.out
    picture = tmp_path / "pictures" / "result-calibration.svg"
    assert picture.read_text().startswith("<?xml")
