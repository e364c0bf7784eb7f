"""Small random problems and the printed algorithm to compare with."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from references.online import drift, learn_document, learn_document_diagonal


@pytest.fixture
def documents():
    """(X, y) with empty documents among them and some without a judgement."""

    def make(n_docs=60, n_words=15, n_labels=1, density=0.2, seed=0, unjudged=True):
        rng = np.random.default_rng(seed)
        X = sparse.random(n_docs, n_words, density=density, random_state=rng, format="csr")
        X = sparse.csr_matrix(X.multiply(rng.random((n_docs, 1)) < 0.8))
        y = rng.choice([-1.0, 0.0, 1.0] if unjudged else [-1.0, 1.0], (n_docs, n_labels))
        return X, y

    return make


@pytest.fixture
def by_reference():
    """The printed algorithm for one label, any number of passes, with drift before each document."""

    def learn(X, y, likelihood, passes=1, variance=1.0, bias_variance=1.0, forgetting_factor=1.0, diagonal=False):
        d = X.shape[1] + 1
        prior_mean, prior_var = np.zeros(d), np.full(d, float(variance))
        prior_var[0] = bias_variance
        mean, spread = prior_mean, prior_var if diagonal else np.diag(prior_var)
        evidence, log_prob = [], np.zeros(X.shape[0])
        step = learn_document_diagonal if diagonal else learn_document
        for _ in range(passes):
            for i, x in enumerate(X.toarray()):
                if forgetting_factor < 1.0:
                    full = np.diag(spread) if diagonal else spread
                    mean, full = drift(mean, full, prior_mean, prior_var, forgetting_factor)
                    spread = np.diag(full) if diagonal else full
                if y[i]:
                    mean, spread, log_prob[i] = step(mean, spread, np.concatenate([[1.0], x]), y[i], likelihood)
            evidence.append(log_prob.sum())
        return mean, spread, np.array(evidence), log_prob

    return learn
