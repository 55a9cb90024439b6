"""The curves of the diversity factors, and the pair that is chosen from them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from experiments.lambdas import measure
from experiments.sample import AT_5, AT_M, open_sample
from phraseloom.config import SearchConfig


def test_each_factor_is_varied_alone_and_the_best_go_together(
    model_directory: Path, prepared: Path
) -> None:
    sample = open_sample(model_directory, prepared, documents=None)
    search = SearchConfig(beam_width=3, max_words=3, lambda1=7.0, lambda2=7.0)

    measured = measure(sample, search, {"lambda1": [0.5, 2.0], "lambda2": [0.1, 1.0]})

    none = measured["none"]
    for name, curve in measured["curves"].items():
        means = {point["value"]: point["F1@5"] + point["F1@M"] for point in [none, *curve]}
        assert means[measured["chosen"][name]] == max(means.values())
        alone = SearchConfig.model_validate(measured["search"] | {name: curve[0]["value"]})
        values = sample.score(sample.decode(alone))
        assert values[AT_M] == curve[0]["F1@M"]
    assert measured["search"]["lambda1"] == measured["search"]["lambda2"] == 0
    chosen = SearchConfig.model_validate(measured["chosen"])
    values = sample.score(sample.decode(chosen))
    assert values[AT_5] == measured["together"]["F1@5"]


def test_the_command_draws_again_from_its_result(
    experiment: Callable[..., Any],
    result: Callable[..., Any],
    model_directory: Path,
    prepared: Path,
    tmp_path: Path,
) -> None:
    outcome = experiment(
        "lambda", model_directory, "--corpus", prepared, "--documents", 2, "--every", 5
    )

    assert outcome.status == 0, outcome.err
    assert result("lambda")["documents"] == 2
    lists = result("lambda")["lists"]
    assert [one["search"]["order"] for one in lists.values()] == ["expected", "decoding"]
    assert result("lambda")["chosen"] == lists["our list"]["chosen"]
    assert experiment("draw", "lambda").out == outcome.out
    assert (tmp_path / "pictures" / "result-lambda.svg").read_text().startswith("<?xml")
