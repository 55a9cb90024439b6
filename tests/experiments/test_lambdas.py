"""The curves of the diversity factors, and the pair that is chosen from them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from experiments.lambdas import measure
from experiments.sample import open_sample
from phraseloom.config import SearchConfig


def test_each_factor_is_varied_alone_and_the_best_go_together(
    model_directory: Path, prepared: Path
) -> None:
    sample, _ = open_sample(model_directory, prepared, documents=None)
    search = SearchConfig(width=3, max_words=3, lambda1=7.0, lambda2=7.0)

    measured = measure(sample, search, {"lambda1": [0.5, 2.0], "lambda2": [0.1, 1.0]})

    for name, curve in measured["curves"].items():
        points = [{"value": 0.0, **measured["none"]}, *curve]
        means = {point["value"]: point["f1@5"] + point["f1@M"] for point in points}
        assert means[measured["pair"][name]] == max(means.values())
        alone = SearchConfig.model_validate(measured["search"] | {name: curve[0]["value"]})
        values = sample.score(sample.decode(alone))
        assert values["present.macro.f1@M"] == curve[0]["f1@M"]
    assert measured["search"]["lambda1"] == measured["search"]["lambda2"] == 0
    chosen = SearchConfig.model_validate(measured["chosen"])
    assert {"lambda1": chosen.lambda1, "lambda2": chosen.lambda2} == measured["pair"]
    values = sample.score(sample.decode(chosen))
    assert values["present.filled.macro.f1@5"] == measured["together"]["f1@5"]


def test_the_command_draws_again_from_its_result(
    run: Callable[..., Any], model_directory: Path, prepared: Path, tmp_path: Path
) -> None:
    common = ("experiment", "lambda", "--results", tmp_path)
    outcome = run(*common, model_directory, "--corpus", prepared, "--documents", 2)

    assert outcome.status == 0, outcome.err
    assert json.loads((tmp_path / "lambda.json").read_text())["documents"] == 2
    assert run(*common, "--draw-only").out == outcome.out
    assert (tmp_path / "lambda.svg").read_text().startswith("<?xml")
