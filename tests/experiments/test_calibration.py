"""Every phrase is counted once, under its score."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.calibration import PHRASES, measure
from experiments.sample import open_sample
from phraseloom.config import SearchConfig

SEARCH = SearchConfig(beam_width=4, max_words=3)


def test_bins_hold_all_phrases_and_the_right_ones_among_them(
    model_directory: Path, prepared: Path
) -> None:
    sample = open_sample(model_directory, prepared, documents=None)
    lists = sample.decode(SEARCH, limit=PHRASES)

    bins = measure(sample, SEARCH)

    assert sum(row["phrases"] for row in bins) == sum(map(len, lists))
    hits = sum(
        len(set(document.predictions) & set(document.targets)) for document in sample.judge(lists)
    )
    assert hits > 0
    assert sum(row["phrases"] * row["right"] for row in bins) == pytest.approx(hits)
    assert all(row["low"] < row["score"] <= row["high"] for row in bins if row["phrases"])


def test_the_command_draws_again_from_its_result(
    experiment: Callable[..., Any], model_directory: Path, prepared: Path, tmp_path: Path
) -> None:
    outcome = experiment("calibration", model_directory, "--corpus", prepared)

    assert outcome.status == 0, outcome.err
    assert "are reference phrases" in outcome.out
    assert experiment("draw", "calibration").out == outcome.out
    picture = tmp_path / "pictures" / "result-calibration.svg"
    assert picture.read_text().startswith("<?xml")
