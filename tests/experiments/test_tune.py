"""Tuning: what costs nothing equals what would cost a search, and the best is what is chosen."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from experiments.sample import Sample, cut_list, open_sample
from experiments.tune import AT_5, AT_M, FLOORS, ORDERS, STOPS, Trial, Tuner
from phraseloom.config import SearchConfig
from phraseloom.search.found import Found


@pytest.fixture(scope="module")
def sample(model_directory: Path, prepared: Path) -> Sample:
    return open_sample(model_directory, prepared, documents=None)[0]


SEARCH = SearchConfig(width=3, max_words=3, max_phrases=4)


@pytest.mark.parametrize("order", ORDERS)
def test_a_list_that_is_cut_is_the_list_of_a_search_with_a_threshold(
    sample: Sample, order: str
) -> None:
    kind = order if order == "expected" else "decoding"
    without = {"stop": 1.0, "floor": 0.0, "max_phrases": 6, "order": kind}
    uncut = sample.decode(SEARCH.model_copy(update=without))
    value = {"expected": "score"}.get(order, "end_prob")
    values = sorted(getattr(each, value) for found in uncut for each in found)
    name = "floor" if order == "expected" else "stop"
    lengths: set[int] = set()
    for threshold in (values[0], values[-4], values[-2]):
        changes = {name: threshold, "order": order, "max_phrases": 6}
        search = SearchConfig.model_validate(SEARCH.model_dump() | changes)

        cut = [cut_list(found, search) for found in uncut]

        assert _slots(cut) == _slots(sample.decode(search))
        lengths |= {len(found) for found in cut}
    assert len(lengths) > 2, "or the law would say nothing"


def _slots(lists: list[list[Found]]) -> list[list[tuple[int, ...]]]:
    """Without scores, whose last digits depend on how many documents are decoded together."""
    return [[each.slots for each in found] for found in lists]


def test_decoding_twice_gives_the_same(sample: Sample) -> None:
    first = sample.decode(SEARCH)
    sample.decode(SEARCH.model_copy(update={"lambda1": 3.0}))
    assert sample.decode(SEARCH) == first


def test_a_sample_scores_documents_without_reference_phrases_too(sample: Sample) -> None:
    assert len(sample) == 5
    judged = sample.judge(sample.decode(SEARCH))
    assert sorted(len(document.targets) for document in judged) == [0, 2, 2, 3, 3]


def test_each_trial_is_made_once_and_the_best_of_all_is_chosen(sample: Sample) -> None:
    made: list[Trial] = []
    tuner = Tuner(sample, on_trial=made.append)

    best = tuner.climb(SEARCH, {"alpha": [0.0, 1.0, 2.0], "width": [1, 3]}, rounds=3, gain=0.0)

    keys = [json.dumps({**trial.search, "stop": 0, "floor": 0}) for trial in made]
    assert len(set(keys)) == len(keys)
    assert best.objective == max(trial.objective for trial in made)
    ends = tuner.endings(SearchConfig.model_validate(best.search))
    assert len(ends) == 2 * len(STOPS) + len(FLOORS)
    same = [trial.objective for trial in ends if trial.search["order"] == SEARCH.order]
    assert max(same) == best.objective


class Hill:
    """Stands in for a sample: the best settings are α = 2 and λ1 = 0.5."""

    def decode(self, search: SearchConfig, *, on_progress: object) -> list[list[Found]]:
        """One phrase that carries the settings to `score`."""
        return [[Found(1, (2,), search.alpha, 0.5, 1.0, 0, 0.0, search.lambda1)]]

    def score(self, lists: list[list[Found]]) -> dict[str, float]:
        (found,) = lists[0]
        height = 0.5 - (found.log_prob - 2) ** 2 / 100 - (found.total - 0.5) ** 2 / 100
        keys = (AT_5, AT_M, "present.ndcg@10", "present.predicted")
        return dict.fromkeys(keys, height)


def test_climbing_reaches_the_top_unless_the_gain_is_too_small() -> None:
    tuner = Tuner(cast(Sample, Hill()), on_trial=lambda trial: None)
    grids = {"alpha": [0.0, 2.0, 3.0], "lambda1": [0.0, 0.5]}

    top = tuner.climb(SEARCH, grids, rounds=2, gain=0.0)
    stay = tuner.climb(SEARCH, grids, rounds=2, gain=0.1)

    assert (top.search["alpha"], top.search["lambda1"], top.objective) == (2.0, 0.5, 0.5)
    assert (stay.search["alpha"], stay.search["lambda1"]) == (SEARCH.alpha, SEARCH.lambda1)


def test_the_command_writes_what_it_chose_and_draws_it_again(
    run: Callable[..., Any], model_directory: Path, prepared: Path, tmp_path: Path
) -> None:
    common = ("experiment", "tune", "--results", tmp_path)
    outcome = run(*common, model_directory, "--corpus", prepared, "--over", "alpha")

    assert outcome.status == 0, outcome.err
    content = json.loads((tmp_path / "tune.json").read_text())
    assert content["chosen"] in [trial["search"] for trial in content["trials"]]
    assert {"command", "commit", "seed", "model", "start"} <= content.keys()
    assert f"alpha = {content['chosen']['alpha']}" in outcome.out
    drawn = ["tune.md", "tune.table.json", "tune-endings.png", "tune-endings.svg"]
    for name in drawn:
        (tmp_path / name).unlink()
    assert run(*common, "--draw-only").out == outcome.out
    assert all((tmp_path / name).stat().st_size for name in drawn)


def test_only_the_sets_asked_for_are_drawn(model_directory: Path, prepared: Path) -> None:
    sample, _ = open_sample(model_directory, prepared, documents=None, sets=["odd"])
    assert sorted(sample.rows) == [1, 3]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name a model directory"),
        (["--draw-only"], "nothing was measured yet"),
        (["MODEL", "--over", "colour"], "give one of alpha"),
        (["MODEL", "--from", "moon"], "has no set moon; it has: even, odd"),
        (["MODEL", "--set", "width"], "write it as key=value"),
        (["MODEL", "--set", "depth=3"], "unknown setting search.depth"),
    ],
)
def test_mistakes_are_one_line(
    run: Callable[..., Any],
    model_directory: Path,
    prepared: Path,
    tmp_path: Path,
    arguments: list[str],
    said: str,
) -> None:
    given = [model_directory if each == "MODEL" else each for each in arguments]
    outcome = run("experiment", "tune", "--corpus", prepared, "--results", tmp_path, *given)
    assert outcome.status == 2
    assert said in outcome.err
    assert outcome.err.count("\n") == 1
