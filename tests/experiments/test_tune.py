"""Tuning: what costs nothing equals what would cost a search, and the best is what is chosen."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from experiments.sample import AT_5, AT_M, Sample, cut_list, open_sample
from experiments.tune import EOS_THRESHOLDS, MIN_SCORES, ORDERS, Trial, Tuner
from phraseloom.config import SearchConfig
from phraseloom.search.beam import Hypothesis


@pytest.fixture(scope="module")
def sample(model_directory: Path, prepared: Path) -> Sample:
    return open_sample(model_directory, prepared, documents=None)


SEARCH = SearchConfig(beam_width=3, max_words=3, max_phrases=4)


@pytest.mark.parametrize("order", ORDERS)
def test_a_list_that_is_cut_is_the_list_of_a_search_with_a_threshold(
    sample: Sample, order: str
) -> None:
    kind = order if order == "expected" else "decoding"
    without = {"eos_threshold": 1.0, "min_score": 0.0, "max_phrases": 6, "order": kind}
    uncut = sample.decode(SEARCH.model_copy(update=without))
    value = {"expected": "score"}.get(order, "end_prob")
    values = sorted(getattr(phrase, value) for phrases in uncut for phrase in phrases)
    name = "min_score" if order == "expected" else "eos_threshold"
    lengths: set[int] = set()
    for threshold in (values[0], values[-4], values[-2]):
        changes = {name: threshold, "order": order, "max_phrases": 6}
        search = SearchConfig.model_validate(SEARCH.model_dump() | changes)

        cut = [cut_list(phrases, search) for phrases in uncut]

        assert _slots(cut) == _slots(sample.decode(search))
        lengths |= {len(phrases) for phrases in cut}
    assert len(lengths) > 2, "or the law would say nothing"


def _slots(lists: list[list[Hypothesis]]) -> list[list[tuple[int, ...]]]:
    """Without scores, whose last digits depend on how many documents are decoded together."""
    return [[phrase.slots for phrase in phrases] for phrases in lists]


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

    best = tuner.climb(SEARCH, {"alpha": [0.0, 1.0, 2.0], "beam_width": [1, 3]}, rounds=3, gain=0.0)

    keys = [json.dumps({**trial.search, "eos_threshold": 0, "min_score": 0}) for trial in made]
    assert len(set(keys)) == len(keys)
    assert best.objective == max(trial.objective for trial in made)
    ends = tuner.endings(SearchConfig.model_validate(best.search))
    assert len(ends) == 2 * len(EOS_THRESHOLDS) + len(MIN_SCORES)
    same = [trial.objective for trial in ends if trial.search["order"] == SEARCH.order]
    assert max(same) == best.objective


class Hill:
    """Stands in for a sample: the best settings are α = 2 and λ1 = 0.5."""

    def decode(self, search: SearchConfig) -> list[list[Hypothesis]]:
        """One phrase that carries the settings to `score`."""
        return [[Hypothesis(1, (2,), search.alpha, 0.5, 1.0, 0, 0.0, search.lambda1)]]

    def score(self, lists: list[list[Hypothesis]]) -> dict[str, float]:
        (phrase,) = lists[0]
        height = 0.5 - (phrase.log_prob - 2) ** 2 / 100 - (phrase.total - 0.5) ** 2 / 100
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
    experiment: Callable[..., Any],
    result: Callable[..., Any],
    model_directory: Path,
    prepared: Path,
    tmp_path: Path,
) -> None:
    outcome = experiment("tune", model_directory, "--corpus", prepared, "--over", "alpha")

    assert outcome.status == 0, outcome.err
    content = result("tune")
    assert content["chosen"] in [trial["search"] for trial in content["trials"]]
    assert {"command", "commit", "seed", "model", "start"} <= content.keys()
    assert f"alpha = {content['chosen']['alpha']}" in outcome.out
    picture = tmp_path / "pictures" / "result-tune-endings.svg"
    picture.unlink()
    assert experiment("draw", "tune").out == outcome.out
    assert picture.stat().st_size


def test_only_the_sets_asked_for_are_drawn(model_directory: Path, prepared: Path) -> None:
    sample = open_sample(model_directory, prepared, documents=None, sets=["odd"])
    assert sorted(sample.rows) == [1, 3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["draw", "tune"], "nothing was measured yet"),
        (["draw", "moon"], "no experiment draws 'moon'"),
        (["eclipse"], "no experiment 'eclipse'"),
        (["tune", "MODEL", "--over", "colour"], "give one of alpha"),
        (["tune", "MODEL", "--from", "moon"], "has no set moon; it has: even, odd"),
        (["tune", "MODEL", "--set", "beam_width"], "write it as key=value"),
        (["tune", "MODEL", "--set", "depth=3"], "unknown setting search.depth"),
    ],
)
def test_mistakes_are_one_line(
    experiment: Callable[..., Any],
    model_directory: Path,
    prepared: Path,
    arguments: list[str],
    message: str,
) -> None:
    name, *rest = [str(model_directory) if part == "MODEL" else part for part in arguments]
    outcome = experiment(name, *rest, *(("--corpus", prepared) if name == "tune" else ()))
    assert outcome.status == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1
