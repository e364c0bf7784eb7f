"""The scale from the lengths of documents."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.tune import norm_scale, norm_variance


def test_documents_of_length_one_give_the_number_of_features():
    X = sparse.random(50, 30, density=0.3, random_state=0, format="csr")
    X = sparse.diags(1.0 / np.sqrt(np.asarray(X.power(2).sum(axis=1)).ravel())) @ X
    assert norm_variance(X) == pytest.approx(30.0)
    assert norm_variance(X.toarray()) == pytest.approx(30.0)


def test_the_spread_of_the_predictor_does_not_depend_on_units():
    """Var(x'w) of an average document is the number of features, whatever X is measured in."""
    X = np.random.default_rng(0).gamma(1.0, 2.0, (200, 8))
    for unit in (1e-3, 1.0, 50.0):
        assert norm_variance(unit * X) * np.mean(((unit * X) ** 2).sum(axis=1)) == pytest.approx(8.0)


@pytest.mark.parametrize("prior", ["laplace", "gaussian"])
def test_priors_of_that_scale_have_that_variance(prior):
    X = np.random.default_rng(0).gamma(1.0, 2.0, (200, 8))
    scale, rng = norm_scale(X, prior), np.random.default_rng(1)
    draws = rng.laplace(0.0, scale, 400_000) if prior == "laplace" else rng.normal(0.0, scale, 400_000)
    assert draws.var() == pytest.approx(norm_variance(X), rel=0.02)


def test_weights_are_repetitions():
    X = np.random.default_rng(0).normal(size=(5, 3))
    assert norm_variance(X, [2, 0, 1, 1, 3]) == pytest.approx(norm_variance(X[[0, 0, 2, 3, 4, 4, 4]]))


def test_what_is_refused():
    with pytest.raises(InputError, match="all documents are empty"):
        norm_variance(np.zeros((3, 2)))
    with pytest.raises(InputError, match="prior='horseshoe' is not known"):
        norm_scale(np.ones((3, 2)), "horseshoe")
