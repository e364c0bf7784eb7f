"""What must hold for every inference that samples, with every link × prior that it takes; enumerated, not listed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from references.optimality import supported
from textbayes.core.errors import MissingExtraError, NotSupportedError
from textbayes.inference import inferences
from textbayes.links import links
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.priors import priors

SAMPLERS = [name for name in inferences.names() if inferences.get(name).samples]


SUPPORTED = [c for c in product(links.names(), priors.names(), SAMPLERS) if supported(*c)]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = sparse.random(60, 10, density=0.4, random_state=1, format="csr")
    eta = X @ rng.normal(0, 3, 10)
    return X, np.stack([eta - eta.mean() + rng.logistic(size=60) > 0, rng.random(60) < 0.3], axis=1)


def fitted(combination, X, Y, seed=0, **settings):
    link, prior, inference = combination
    short = inferences.get(inference)(
        chains=2, warmup=30, max_draws=100, target_ess=1, max_r_hat=99.0, random_state=seed
    )
    try:
        return BayesLinearClassifier(link, prior, inference=short, **{"intercept_scale": 3.0} | settings).fit(X, Y)
    except MissingExtraError as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("combination", SUPPORTED, ids="-".join)
def test_a_sampler_gives_means_errors_probabilities_and_intervals(combination, data):
    X, Y = data
    model = fitted(combination, X, Y)
    again, other = fitted(combination, X, Y), fitted(combination, X, Y, seed=1)
    np.testing.assert_array_equal(model.coef_, again.coef_)
    assert (model.coef_ != other.coef_).all()
    np.testing.assert_allclose(model.coef_, model.draws_.mean())
    assert (model.standard_errors_ > 0.0).all()
    proba = model.predictive_proba(X)
    assert proba.shape == (60, 2)
    low, high = model.predict_interval(X, 0.9)
    assert (low <= high).all()
    assert ((low <= proba) & (proba <= high)).mean() > 0.9
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("combination", SUPPORTED, ids="-".join)
def test_tight_priors_pin_words_to_their_means(combination, data):
    X, Y = data
    scale, mean = np.full(10, 0.5), np.zeros(10)
    scale[3], mean[3] = 1e-6, 1.7
    model = fitted(combination, X, Y, scale=scale, mean=mean)
    np.testing.assert_allclose(model.coef_[:, 3], 1.7, atol=1e-2)


@pytest.mark.parametrize("inference", SAMPLERS)
def test_signs_are_refused(inference, data):
    with pytest.raises(NotSupportedError, match="use inference 'coordinate'"):
        BayesLinearClassifier("probit", "laplace", sign=1, inference=inference).fit(*data)


@pytest.mark.parametrize("inference", SAMPLERS)
def test_classes_that_exclude_each_other(inference, data):
    X, _ = data
    y = np.arange(60) % 3
    model = fitted(("probit", "laplace", inference), X, y)
    np.testing.assert_allclose(model.predictive_proba(X).sum(axis=1), 1.0)


def test_a_sampled_intercept_knows_its_mean(data):
    """Where documents count for nothing beside it, a tight prior is the posterior."""
    X, Y = data
    model = fitted(("probit", "gaussian", "gibbs"), X, Y, intercept_mean=[2.0, -3.0], scale=1e-3)
    tight = fitted(("probit", "gaussian", "gibbs"), X, Y, intercept_mean=[2.0, -3.0], scale=1e-3, intercept_scale=1e-3)
    np.testing.assert_allclose(tight.intercept_, [2.0, -3.0], atol=0.01)
    assert abs(model.intercept_ - [2.0, -3.0]).min() > 0.1  # a wide one gives way to them
