"""Scales of priors by word: by hand, by repetition of documents, and as a prior given in full."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes import BayesLinearClassifier
from textbayes.core.errors import InputError
from textbayes.models.linear.words import ratio_scales

X = sparse.csr_matrix(np.array([[2.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 3.0, 1.0], [0.0, 0.0, 1.0]]))
Y = np.array([[True], [True], [False], [False]])


def test_by_hand():
    rate = 2.5 / 5.0
    # Word 0 is in two documents, both of the label; word 1 in one, not of it; word 2 in all.
    ratio = np.log([(2 + 2 * rate) / (0 + 2 * rate), (0 + 2 * rate) / (1 + 2 * rate), (2 + 2 * rate) / (2 + 2 * rate)])
    scale = 0.25 + 0.75 * np.abs(ratio)
    squares = np.array([5.0, 9.0, 4.0]) / 4.0
    expected = scale / np.sqrt(scale**2 @ squares)
    np.testing.assert_allclose(ratio_scales(X, Y)[0], expected, rtol=1e-12)


def test_a_document_of_weight_two_counts_twice():
    again = [0, 1, 1, 2, 3, 3]
    weighed = ratio_scales(X, Y, np.array([1.0, 2.0, 1.0, 2.0]))
    np.testing.assert_allclose(weighed, ratio_scales(X[again], Y[again]), rtol=1e-12)


def test_the_estimator_has_the_prior_that_its_scales_make():
    rng = np.random.default_rng(0)
    M = sparse.random(80, 30, 0.2, random_state=1, format="csr")
    y = rng.random(80) < 0.4
    told = BayesLinearClassifier(prior="gaussian", scale=3.0 * ratio_scales(M, y[:, None]), tol=1e-9).fit(M, y)
    found = BayesLinearClassifier(prior="gaussian", scale=3.0, word_scales="ratio", tol=1e-9).fit(M, y)
    np.testing.assert_allclose(found.coef_, told.coef_, atol=1e-10)


def test_other_names_are_refused():
    with pytest.raises(InputError, match="word_scales='idf' is not known; choose one of None, 'ratio'"):
        BayesLinearClassifier(word_scales="idf").fit(X, Y[:, 0])
