"""Small problems for the choice of hyperparameters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes.inference import Problem
from textbayes.links import make_link
from textbayes.models.weights import as_columns
from textbayes.priors import make_prior


@pytest.fixture(scope="session")
def texts():
    """Sparse non-negative features and three labels: common, rare and noise."""
    rng = np.random.default_rng(0)
    X = sparse.random(240, 60, density=0.15, random_state=1, format="csr", data_rvs=lambda n: rng.gamma(2.0, 0.4, n))
    w = np.where(np.arange(60) < 6, rng.normal(0.0, 3.0, 60), 0.0)
    eta = X @ w - (X @ w).mean()
    noise = rng.logistic(size=(240, 2))
    Y = np.stack([eta + noise[:, 0] > 0.0, eta + noise[:, 1] > 2.5, rng.random(240) < 0.15], axis=1)
    return X, Y


@pytest.fixture
def make_problem(texts):
    """A problem on these texts; settings of the prior by name."""

    def make(link="logit", prior="laplace", intercept=np.inf, weight=None, words=None, labels=slice(None), **hyper):
        X, Y = texts
        at = hyper.pop("intercept_mean", 0.0)
        made = make_prior(prior, hyper.pop("scale", 1.0), hyper.pop("mean", 0.0), hyper.pop("sign", 0.0))
        y = np.ascontiguousarray(np.where(Y[:, labels], 1.0, -1.0))
        return Problem(as_columns(X), y, make_link(link), made, made.rescaled(intercept, at), weight, words)

    return make
