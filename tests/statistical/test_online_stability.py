"""Thousands of updates: the covariance stays symmetric, positive definite, and what exact algebra says it is.

A million of them are in ``benchmarks/bench_online_exact.py``.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes.kernels.online.full import learn_full
from textbayes.models.online import PAPER_FLIP, PAPER_PROBIT, FullPosterior

N_DOCS, N_WORDS = 2500, 24
PASSES = 8


def stream(kind):
    """Documents of unit length and noisy outcomes; ``collinear`` words come in pairs that are always used together."""
    rng = np.random.default_rng(7)
    X = sparse.random(N_DOCS, N_WORDS, density=0.2, random_state=rng, format="csr")
    if kind == "collinear":
        X = sparse.csr_matrix(np.repeat(X.toarray()[:, ::2], 2, axis=1))
    X = sparse.csr_matrix(X.multiply(1.0 / np.maximum(np.sqrt(X.multiply(X).sum(axis=1)), 1e-9)))
    eta = X @ rng.normal(0.0, 2.0, N_WORDS)
    return X, np.where(eta + rng.normal(0.0, 0.5, N_DOCS) > 0.2, 1.0, -1.0)


@pytest.mark.parametrize("kind", ["sparse", "collinear"])
@pytest.mark.parametrize("likelihood", [PAPER_PROBIT, PAPER_FLIP], ids=["probit", "flip"])
def test_covariance_stays_symmetric_positive_definite(kind, likelihood):
    X, y = stream(kind)
    posterior, info = FullPosterior.start(range(N_WORDS)).learn(X, y, likelihood, passes=PASSES)
    assert (posterior.cov == posterior.cov.T).all()
    # Scaled to unit variances, which changes no sign: some weights are known to many more digits than others.
    scale = np.sqrt(np.diag(posterior.cov))
    assert np.linalg.eigvalsh(posterior.cov / np.outer(scale, scale))[0] > 1e-10
    assert np.isfinite(info.log_evidence).all()
    if kind == "collinear":
        # Two words that always come together: what is known of their difference is the prior, to the last.
        contrast = np.zeros(N_WORDS + 1)
        contrast[1:3] = 1.0, -1.0
        assert contrast @ posterior.cov @ contrast == pytest.approx(2.0, rel=1e-9)
        assert contrast @ posterior.mean == pytest.approx(0.0, abs=1e-9)


def test_twenty_thousand_downdates_equal_one_inversion():
    """Every update adds to the precision what its site says: Λ = I + Σ β x x', summed apart from the downdates."""
    X, y = stream("sparse")
    prior = FullPosterior.start(range(N_WORDS))
    rows = prior._rows(X)
    mean, cov = prior.mean.copy(), prior.cov.copy()
    design = np.hstack([np.ones((N_DOCS, 1)), X.toarray()])
    precision = np.eye(N_WORDS + 1)
    for _ in range(PASSES):
        sites, log_z = np.zeros((N_DOCS, 2)), np.empty(N_DOCS)  # empty sites: every pass is new, as in the paper
        learn_full(*rows, y, mean, cov, *PAPER_PROBIT.closed_form, sites, log_z)
        assert (sites[:, 0] > 0.0).all()
        precision += (design.T * sites[:, 0]) @ design
    exact = np.linalg.inv(precision)
    np.testing.assert_allclose(cov, exact, atol=1e-11 * np.abs(exact).max())
