"""Small problems and their Gaussian approximations, for the tests of what is found at a mode."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes.inference import Problem
from textbayes.inference.coordinate import Coordinate
from textbayes.inference.laplace_approximation import laplace_approximation
from textbayes.links import make_link
from textbayes.priors import make_prior


def _make_problem(X, y, prior="gaussian", scale=1.0, link="logit", intercept=np.inf, **others):
    columns = sparse.csc_matrix(X)
    columns.indices = columns.indices.astype(np.int32)
    chosen = make_prior(prior, scale)
    y = np.where(np.asarray(y), 1.0, -1.0)
    of_intercept = None if intercept is None else chosen.rescaled(intercept)
    return Problem(columns, y[:, None] if y.ndim == 1 else y, make_link(link), chosen, of_intercept, **others)


def _approximate(problem, **settings):
    posterior = Coordinate(tol=1e-9, max_iter=2000).run(problem)
    return posterior, laplace_approximation(problem, posterior, **settings)


def _data(n=80, p=5, seed=0, labels=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.7)
    eta = X @ rng.normal(0, 1.0, (p, labels)) + 0.3
    return X, eta + rng.logistic(size=eta.shape) > 0.0


def _dense_precision(problem, posterior, active, label=0):
    """X'ΩX + diag(l2) written out, with the intercept as a last column of ones."""
    X = np.hstack([problem.X.toarray()[:, active], np.ones((problem.X.shape[0], 1))])
    eta = problem.X @ posterior.mean[label] + posterior.intercept[label]
    omega = problem.link.hessian(eta, problem.y[:, label])
    if problem.sample_weight is not None:
        omega = omega * problem.sample_weight
    l2 = problem.prior.for_label(label, problem.X.shape[1]).local(posterior.mean[label]).l2[active]
    of_intercept = problem.intercept_prior.local(posterior.intercept[label : label + 1]).l2
    return X.T @ (omega[:, None] * X) + np.diag(np.append(l2, of_intercept))


@pytest.fixture(scope="session")
def make_problem():
    """A problem of a dense matrix and outcomes; settings of the prior by name."""
    return _make_problem


@pytest.fixture(scope="session")
def approximate():
    """The mode of a problem and the Gaussian around it."""
    return _approximate


@pytest.fixture(scope="session")
def data():
    """Random documents and outcomes."""
    return _data


@pytest.fixture(scope="session")
def dense_precision():
    """The precision matrix by dense algebra."""
    return _dense_precision
