"""Fitting: the weights that made the data are found again, and scores are probabilities."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from phraseloom.config import SearchConfig
from phraseloom.errors import ConfigError, CorpusError
from phraseloom.features import FEATURES
from phraseloom.train.ranking import (
    KindPlan,
    LabelledCandidates,
    RankingPlan,
    StylePlan,
    cross_validate,
    expected_calibration_error,
    fit_style,
    load_plan,
)

SEARCH = SearchConfig(lambda1=0.0)
PLAN = RankingPlan(styles={})
_CHOSEN = {"a": 1, "b": 2}
"""The feature by which each set's keyphrases are chosen."""


def make_documents(count: int, *, origin: str = "a", seed: int = 3) -> list[LabelledCandidates]:
    """Documents of twelve candidates, of which those with a high feature are keyphrases."""
    chance = np.random.default_rng(seed)
    documents = []
    for _ in range(count):
        phrases: list[tuple[str, ...]] = [(f"w{i}",) for i in range(12)]
        features = chance.normal(size=(12, len(FEATURES)))
        features[:, 0] = 1.0
        gold = tuple(phrases[i] for i in np.flatnonzero(features[:, _CHOSEN[origin]] > 0.8))
        source = " ".join(" ".join(phrase) for phrase in phrases)
        vector = np.array([1.0, 1.0 if origin == "a" else -1.0])
        documents.append(LabelledCandidates(origin, source, 200, phrases, features, gold, vector))
    return documents


def test_a_weight_that_is_set_must_be_of_a_feature() -> None:
    with pytest.raises(ValidationError, match="'whloe' is no feature"):
        StylePlan(fixed={"whloe": 1.0})


def test_the_feature_that_tells_gets_the_weight_and_lists_are_good() -> None:
    documents = make_documents(150)
    style = StylePlan(network_style="author", min_score=0.5, min_phrases=1)

    ranking = fit_style(documents, style, PLAN).ranking

    others = [abs(ranking.weights[name]) for name in FEATURES[2:]]
    assert ranking.weights[FEATURES[1]] > 3 * max(others)
    assert ranking.network_style == "author"
    report = cross_validate(documents, partial(fit_style, style=style, plan=PLAN), SEARCH)["a"]
    assert report.documents == 150
    assert report.one_list_f1_at_m > 0.8


def test_a_weight_that_is_set_is_not_fitted() -> None:
    documents = make_documents(60)

    free = fit_style(documents, StylePlan(), PLAN).ranking.weights
    fixed = fit_style(documents, StylePlan(fixed={FEATURES[1]: 0.25}), PLAN).ranking.weights

    assert free[FEATURES[1]] > 1.0
    assert fixed[FEATURES[1]] == 0.25
    assert fixed["bias"] != free["bias"]  # as if nothing were known of that feature


def test_each_kind_of_text_has_weights_of_its_own_and_is_told_by_its_words() -> None:
    documents = [*make_documents(150), *make_documents(150, origin="b", seed=4)]
    kinds = {"science": KindPlan(sets=("a",)), "other": KindPlan()}

    fit = fit_style(documents, StylePlan(by_kind=True), RankingPlan(kinds=kinds, styles={}))

    science, other = fit.ranking.weights_of["science"], fit.ranking.weights_of["other"]
    assert science[FEATURES[1]] > 3 * abs(science[FEATURES[2]])
    assert other[FEATURES[2]] > 3 * abs(other[FEATURES[1]])
    assert fit.tell_kinds(documents[0])["science"] > 0.8
    assert fit.tell_kinds(documents[-1])["other"] > 0.8
    for document in (documents[0], documents[-1]):
        top = np.argsort(-fit.scores(document))[: len(document.gold)]
        assert len({document.phrases[i] for i in top} - {*document.gold}) <= 1


def test_a_set_that_counts_nothing_is_not_learned_from() -> None:
    documents, noise = make_documents(40), make_documents(40, origin="b", seed=5)

    fitted = fit_style([*documents, *noise], StylePlan(weight_of={"b": 0.0}), PLAN).ranking
    alone = fit_style(documents, StylePlan(sets=("a",)), PLAN).ranking

    assert fitted.weights[FEATURES[1]] > 3 * abs(fitted.weights[FEATURES[2]])
    assert fitted.weights[FEATURES[1]] == pytest.approx(alone.weights[FEATURES[1]], rel=0.5)


def test_documents_without_keyphrases_are_refused() -> None:
    empty = [document._replace(gold=()) for document in make_documents(3)]

    with pytest.raises(CorpusError, match="nothing to fit"):
        fit_style(empty, StylePlan(), PLAN)


def test_calibration_error_is_the_distance_from_what_happened() -> None:
    predicted = np.full(100, 0.55)

    assert expected_calibration_error(predicted, (np.arange(100) < 55).astype(np.float64)) < 1e-9
    assert expected_calibration_error(predicted, np.zeros(100)) == pytest.approx(0.55)


@pytest.mark.parametrize("text", ["styles = 3", "[styles.a]\nshiny = 1", "= ="])
def test_a_plan_that_is_none_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text)

    with pytest.raises(ConfigError, match=r"plan\.toml"):
        load_plan(path)
