"""Lists: weights stay near the model's where nothing speaks against them; rules count alike."""

import numpy as np

from phraseloom.config import SearchConfig, StyleRanking
from phraseloom.features import FEATURES
from phraseloom.train.fit.lists import (
    F1_AT_5,
    choose_rule,
    fit_lists,
    gain,
    is_better,
    measure,
    measure_fitted,
)
from phraseloom.train.logistic import fit_logistic
from phraseloom.train.ranking import Fit
from tests.train.test_ranking import make_documents

SEARCH = SearchConfig(lambda1=0.0)
USELESS = Fit(StyleRanking(weights={FEATURES[5]: 1.0}), {})
RIGHT = Fit(StyleRanking(weights={FEATURES[0]: -4.0, FEATURES[1]: 5.0}), {})


def test_without_evidence_weights_stay_where_they_are() -> None:
    towards = np.array([0.5, 2.0, -3.0])
    features = np.array([[1.0, 0.3, 2.0], [1.0, -0.4, 1.0]])

    still = fit_logistic(features, np.array([0.0, 1.0]), np.zeros(2), towards=towards)
    moved = fit_logistic(features, np.array([0.0, 1.0]), np.full(2, 100.0), towards=towards)

    np.testing.assert_allclose(still, towards, atol=1e-6)
    assert np.abs(moved - towards).max() > 0.1


def test_a_fit_far_from_where_it_begins_is_found_too() -> None:
    chance = np.random.default_rng(0)
    features = np.concatenate([np.ones((400, 1)), chance.normal(size=(400, 3))], 1)
    targets = (features[:, 1] > 1.5).astype(np.float64)
    far = np.array([30.0, -40.0, 25.0, 10.0])

    fitted = fit_logistic(features, targets, np.ones(400), towards=far, strength=0.1)

    assert np.isfinite(fitted).all()
    assert ((features @ fitted > 0) == (targets > 0)).mean() > 0.95


def test_what_is_learned_is_gain_and_what_was_right_is_not() -> None:
    documents = make_documents(60)

    useless, right = (measure(documents, [fit] * 60, SEARCH) for fit in (USELESS, RIGHT))

    assert is_better(gain(measure_fitted(documents, USELESS, SEARCH), useless))
    assert not is_better(gain(right, right))
    assert right.report.values[F1_AT_5] > useless.report.values[F1_AT_5]


def test_the_rule_that_is_chosen_is_as_good_as_any_other() -> None:
    documents = make_documents(40)
    fit = choose_rule(documents, fit_lists(documents, RIGHT, SEARCH), SEARCH)

    def score(fit: Fit) -> float:
        values = measure(documents, [fit] * len(documents), SEARCH).report.values
        return (values[F1_AT_5] + values["present.macro.f1@M"]) / 2

    others = [
        Fit(fit.ranking.model_copy(update={"min_score": least, "min_phrases": fewest}), {})
        for least in (0.05, 0.15, 0.3)
        for fewest in (1, 3, 5)
    ]
    assert score(fit) >= max(map(score, others)) - 1e-9
