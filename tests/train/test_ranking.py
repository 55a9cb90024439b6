"""Fitting: the weights that made the data are found again, and scores are probabilities."""

import numpy as np

from phraseloom.config import SearchConfig
from phraseloom.ranker import FEATURES
from phraseloom.train.ranking import (
    LabelledCandidates,
    cross_validate,
    expected_calibration_error,
    fit_logistic,
    fit_ranking,
)

SEARCH = SearchConfig(lambda1=0.0)


def make_documents(count: int, *, origin: str = "a") -> list[LabelledCandidates]:
    """Documents of twelve candidates, of which those with a high second feature are keyphrases."""
    chance = np.random.default_rng(3)
    documents = []
    for _ in range(count):
        phrases = [(f"w{i}",) for i in range(12)]
        features = chance.normal(size=(12, len(FEATURES)))
        features[:, 0] = 1.0
        gold = tuple(phrases[i] for i in np.flatnonzero(features[:, 1] > 0.8))
        source = " ".join(stem for (stem,) in phrases)
        documents.append(LabelledCandidates(origin, source, 200, phrases, features, gold))
    return documents


def test_logistic_regression_finds_the_weights_that_made_the_data() -> None:
    chance = np.random.default_rng(0)
    features = np.concatenate([np.ones((20_000, 1)), 3 + 2 * chance.normal(size=(20_000, 2))], 1)
    weights = np.array([-1.0, 0.7, -0.4])
    targets = (chance.random(20_000) < 1 / (1 + np.exp(-features @ weights))).astype(np.float64)

    fitted = fit_logistic(features, targets, np.ones(20_000))

    np.testing.assert_allclose(fitted, weights, atol=0.1)


def test_the_feature_that_tells_gets_the_weight_and_lists_are_good() -> None:
    documents = make_documents(60)

    ranking = fit_ranking(documents, SEARCH, network_style="author")

    others = [abs(ranking.weights[name]) for name in FEATURES[2:]]
    assert ranking.weights[FEATURES[1]] > 3 * max(others)
    assert ranking.network_style == "author"
    assert cross_validate(documents, SEARCH)["a"].f1_at_5 > 0.6


def test_a_set_that_counts_nothing_is_not_learned_from() -> None:
    documents = make_documents(40)
    noise = [document._replace(origin="b", gold=document.phrases[:3]) for document in documents]  # type: ignore[arg-type]

    fitted = fit_ranking([*documents, *noise], SEARCH, network_style=None, weight_of={"b": 0.0})
    alone = fit_ranking(documents, SEARCH, network_style=None, weight_of={})

    for name in FEATURES:
        assert abs(fitted.weights[name] - alone.weights[name]) < 0.2


def test_calibration_error_is_the_distance_from_what_happened() -> None:
    predicted = np.full(100, 0.55)

    assert expected_calibration_error(predicted, np.arange(100) < 55) < 1e-9  # type: ignore[arg-type]
    assert abs(expected_calibration_error(predicted, np.zeros(100)) - 0.55) < 1e-9
