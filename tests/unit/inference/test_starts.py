"""Starts: the ridge start, and the best of several."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes.core.errors import NotSupportedError
from textbayes.inference import Problem
from textbayes.inference.coordinate import Coordinate
from textbayes.inference.starts import best_of_starts, ridge_start
from textbayes.links import make_link
from textbayes.priors import make_prior
from textbayes.priors.student_t import StudentT


@pytest.fixture
def problem():
    """Two words that say almost the same, and a label that follows each: heavy tails keep the one they start with."""
    rng = np.random.default_rng(0)
    first = rng.normal(size=80)
    words = np.column_stack([first, first + 0.3 * rng.normal(size=80)])
    X = sparse.csc_matrix(words)
    X = sparse.csc_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int64)), shape=X.shape)
    y = np.where(words + 0.3 * rng.normal(size=(80, 2)) > 0, 1.0, -1.0)
    return Problem(X, y, make_link("logit"), StudentT(0.01, degrees=0.5), None)


def test_ridge_start_is_the_gaussian_mode(problem):
    gaussian = problem._replace(prior=make_prior("gaussian", 0.02))
    np.testing.assert_allclose(ridge_start(problem, 2.0).mean, Coordinate(tol=1e-8).run(gaussian).mean, rtol=1e-4)


def test_best_of_starts_keeps_the_best_of_each_label(problem):
    starts = [ridge_start(problem), ridge_start(problem)]
    starts[0].mean[:], starts[1].mean[:] = [9.0, 0.0], [0.0, 9.0]
    fits = [Coordinate(tol=1e-8).run(problem, start) for start in starts]
    best = best_of_starts(Coordinate(tol=1e-8), problem, starts)
    assert fits[0].info.objective[0] < fits[1].info.objective[0] - 0.1, "nothing is tested if they lead to the same"
    assert fits[1].info.objective[1] < fits[0].info.objective[1] - 0.1
    for label in (0, 1):
        np.testing.assert_array_equal(best.mean[label], fits[label].mean[label])
        assert best.info.objective[label] == fits[label].info.objective[label]
    assert best.info.converged.all()


def test_modes_at_a_pole_are_not_compared(problem):
    with pytest.raises(NotSupportedError, match="held-out"):
        best_of_starts(Coordinate(), problem._replace(prior=make_prior("jeffreys", 1.0)), [None])
