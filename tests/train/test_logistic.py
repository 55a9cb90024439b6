"""Laws of logistic regression."""

import numpy as np

from phraseloom.train.logistic import fit_logistic


def test_logistic_regression_finds_the_weights_that_made_the_data() -> None:
    chance = np.random.default_rng(0)
    features = np.concatenate([np.ones((20_000, 1)), 3 + 2 * chance.normal(size=(20_000, 2))], 1)
    weights = np.array([-1.0, 0.7, -0.4])
    targets = (chance.random(20_000) < 1 / (1 + np.exp(-features @ weights))).astype(np.float64)

    fitted = fit_logistic(features, targets, np.ones(20_000))

    np.testing.assert_allclose(fitted, weights, atol=0.1)
