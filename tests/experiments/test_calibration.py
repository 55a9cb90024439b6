"""Every phrase is counted once, under its score."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.calibration import PHRASES, measure
from experiments.sample import open_sample
from phraseloom.config import SearchConfig
from phraseloom.search.settings import Count

SEARCH = SearchConfig(width=4, max_words=3)


def test_bins_hold_all_phrases_and_the_right_ones_among_them(
    model_directory: Path, prepared: Path
) -> None:
    sample, _ = open_sample(model_directory, prepared, documents=None)
    lists = sample.decode(SEARCH, Count.exactly(PHRASES))

    bins = measure(sample, SEARCH)

    assert sum(each["phrases"] for each in bins) == sum(map(len, lists))
    hits = sum(
        len(set(document.predictions) & set(document.targets)) for document in sample.judge(lists)
    )
    assert hits > 0
    assert sum(each["phrases"] * each["right"] for each in bins) == pytest.approx(hits)
    assert all(each["low"] < each["score"] <= each["high"] for each in bins if each["phrases"])


def test_the_command_draws_again_from_its_result(
    run: Callable[..., Any], model_directory: Path, prepared: Path, tmp_path: Path
) -> None:
    common = ("experiment", "calibration", "--results", tmp_path)
    outcome = run(*common, model_directory, "--corpus", prepared)

    assert outcome.status == 0, outcome.err
    assert "are reference phrases" in outcome.out
    assert run(*common, "--draw-only").out == outcome.out
    assert (tmp_path / "calibration.svg").read_text().startswith("<?xml")
