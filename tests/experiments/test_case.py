"""One document, all models: which phrases are right, and a column for each list."""

from collections.abc import Callable
from pathlib import Path
from typing import Any


def test_the_table_has_each_model_twice_and_right_phrases_are_bold(
    experiment: Callable[..., Any],
    result: Callable[..., Any],
    model_directory: Path,
    corpus_file: Path,
) -> None:
    outcome = experiment("case", corpus_file, model_directory, "--id", "own-2")

    assert outcome.status == 0, outcome.err
    content = result("case")
    assert content["title"] == "counting swifts"
    plain, diverse = content["lists"]
    assert (plain["inference"], diverse["inference"]) == ("plain", "div")
    assert plain["search"]["lambda1"] == 0 < diverse["search"]["lambda1"]
    header, _, *lines = [line for line in outcome.out.splitlines() if line.startswith("|")]
    assert header == "| rank | dgcn, plain | dgcn, div |"
    for place, column in ((2, plain), (3, diverse)):
        for line, phrase in zip(lines, column["phrases"], strict=False):
            is_right = phrase["text"].lower() in {"swifts", "nest boxes"}
            cell = line.split("|")[place].strip()
            assert phrase["is_right"] is is_right is cell.startswith("**")
            assert phrase["text"] in cell
    assert experiment("draw", "case").out == outcome.out


def test_a_document_that_is_not_there_is_named(
    experiment: Callable[..., Any], model_directory: Path, corpus_file: Path
) -> None:
    outcome = experiment("case", corpus_file, model_directory, "--id", "lost")
    assert (outcome.status, outcome.err.count("\n")) == (2, 1)
    assert "--id lost" in outcome.err
