"""Information in a region of interest: by its definition with trial updates, and against information on the weights."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes import BayesOnlineClassifier
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.models.online import (
    PAPER_FLIP,
    PAPER_PROBIT,
    Bank,
    DeferredPosterior,
    DiagonalPosterior,
    FullPosterior,
    GaussianProcess,
    expected_information_gain,
    region_information_gain,
)


def learnt(n_words=6, seed=0):
    rng = np.random.default_rng(seed)
    X = sparse.random(30, n_words, density=0.5, random_state=rng, format="csr")
    y = np.where(X @ rng.normal(size=n_words) > 0.0, 1.0, -1.0)
    return FullPosterior.start(range(n_words)).learn(X, y, PAPER_PROBIT)[0], X[:8], X[20:25]


def distance(mean, var, new_mean, new_var):
    """Kullback–Leibler distance in bits between two normal distributions, the new one from the old."""
    return (0.5 * (new_var / var + (new_mean - mean) ** 2 / var - 1.0 - np.log(new_var / var))) / np.log(2.0)


@pytest.mark.equation("online", "4.2.4 region")
@pytest.mark.parametrize("likelihood", [PAPER_PROBIT, PAPER_FLIP], ids=["probit", "flip"])
def test_equals_its_definition(likelihood):
    posterior, X, region = learnt()
    weight = np.array([1.0, 2.0, 0.0, 1.0, 4.0])
    found = region_information_gain(posterior, X, region, likelihood, weight)
    before = posterior.predict(region)
    for i in range(8):
        plus = float(likelihood.predictive(*posterior.predict(X[i]))[0, 0])
        expected = 0.0
        for y, chance in ((1.0, plus), (-1.0, 1.0 - plus)):
            after = posterior.learn(X[i], [y], likelihood)[0].predict(region)
            gains = distance(before.mean[:, 0], before.var[:, 0], after.mean[:, 0], after.var[:, 0])
            expected += chance * (gains @ weight) / weight.sum()
        assert found[i, 0] == pytest.approx(expected, rel=1e-7)


def test_of_itself_it_is_the_gain_about_the_weights_and_of_others_less():
    posterior, X, region = learnt()
    whole = expected_information_gain(*posterior.predict(X), PAPER_FLIP)[:, 0]
    own = [region_information_gain(posterior, X[i], X[i], PAPER_FLIP)[0, 0] for i in range(8)]
    np.testing.assert_allclose(own, whole, rtol=1e-8)
    assert (region_information_gain(posterior, X, region, PAPER_FLIP)[:, 0] < whole).all()


def test_an_edge_that_nobody_cares_for_teaches_nothing():
    """A word that no document of the region has: much to learn of its weight, nothing of the region."""
    prior = FullPosterior.start(range(2), bias_variance=0.0)
    edge, inside = np.array([[0.0, 5.0]]), np.array([[1.0, 0.0]])
    assert expected_information_gain(*prior.predict(edge), PAPER_PROBIT) > 0.3
    assert region_information_gain(prior, edge, inside, PAPER_PROBIT)[0, 0] == pytest.approx(0.0, abs=1e-12)


def test_every_posterior_that_has_a_covariance():
    posterior, X, region = learnt()
    expected = region_information_gain(posterior, X, region, PAPER_FLIP)
    deferred = DeferredPosterior.of(posterior, 1.0)
    np.testing.assert_allclose(region_information_gain(deferred, X, region, PAPER_FLIP), expected, rtol=1e-9)
    both = region_information_gain(Bank([posterior, posterior]), X, region, PAPER_FLIP)
    np.testing.assert_allclose(both, np.hstack([expected, expected]), rtol=1e-12)
    variances = np.diag(posterior.cov)[:, None]
    mean = posterior.mean[:, None]
    diagonal = DiagonalPosterior(mean, variances, mean, variances)
    full = FullPosterior(posterior.words, posterior.mean, np.diag(variances[:, 0]), posterior.mean, variances[:, 0])
    np.testing.assert_allclose(
        region_information_gain(diagonal, X, region, PAPER_FLIP),
        region_information_gain(full, X, region, PAPER_FLIP),
        rtol=1e-9,
    )


def test_the_classifier_asks_for_its_region():
    _, X, region = learnt()
    model = BayesOnlineClassifier(covariance="full").fit(X, [0, 1] * 4)
    found = model.information_gain(X, region=region)
    np.testing.assert_allclose(found, region_information_gain(model.posterior_, X, region, model.likelihood))
    assert not np.allclose(found, model.information_gain(X))


def test_refusals():
    posterior, X, region = learnt()
    with pytest.raises(InputError, match="the region has 0 documents"):
        region_information_gain(posterior, X, region[:0], PAPER_FLIP)
    with pytest.raises(InputError, match="weights of shape"):
        region_information_gain(posterior, X, region, PAPER_FLIP, [1.0])
    with pytest.raises(NotSupportedError, match="GaussianProcess keeps no covariance"):
        region_information_gain(GaussianProcess.start(range(6)), X, region, PAPER_FLIP)
