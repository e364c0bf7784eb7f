"""Means and variances of propagated posteriors against long Markov chains, within the chains' own error.

The full set of 20 problems is in ``benchmarks/bench_online_exact.py``.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from references.online import sample_probit
from textbayes.models.online import PAPER_LOGIT, FullPosterior, propagate


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_moments_lie_within_the_error_of_long_chains(seed):
    rng = np.random.default_rng(seed)
    n_words, n_docs = int(rng.integers(1, 6)), int(rng.integers(5, 40))
    X = np.abs(rng.normal(size=(n_docs, n_words))) * (rng.random((n_docs, n_words)) < 0.6)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)  # unit length, as texts are given to the models
    design = np.hstack([np.ones((n_docs, 1)), X])
    p = special.ndtr(design @ rng.normal(size=n_words + 1) / PAPER_LOGIT.noise)
    y = np.where(rng.random(n_docs) < p, 1.0, -1.0)
    first, second = sample_probit(design, y, PAPER_LOGIT.noise, rng, n_chains=100, n_keep=500)
    posterior, info = propagate(FullPosterior.start(range(n_words)), X, y, PAPER_LOGIT)
    assert info.converged
    mean = first.mean(axis=0)
    squares = second - 2.0 * first * mean + mean**2  # of the distance from the mean, chain by chain
    for found, chains in ((posterior.mean, first), (np.diag(posterior.cov), squares)):
        error = chains.std(axis=0, ddof=1) / np.sqrt(len(chains))
        assert (np.abs(found - chains.mean(axis=0)) < 4.0 * error).all()
