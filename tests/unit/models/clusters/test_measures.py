"""Perplexity by document completion and NPMI: by hand, and at their known values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.models.clusters.measures import completion_perplexity, npmi_coherence, split_tokens


def test_halves_add_up_and_are_halves():
    X = sparse.csr_matrix(np.random.default_rng(0).poisson(1.5, size=(50, 20)))
    before = X.copy()
    seen, unseen = split_tokens(X, 1)
    assert (seen + unseen != X).nnz == 0
    assert (before != X).nnz == 0
    totals = np.asarray(X.sum(axis=1)).ravel()
    np.testing.assert_array_equal(np.asarray(seen.sum(axis=1)).ravel(), (totals + 1) // 2)
    again = split_tokens(X, 1)[0]
    assert (seen != again).nnz == 0
    assert (seen != split_tokens(X, 2)[0]).nnz > 0


def test_each_occurrence_is_as_likely_to_be_seen():
    X = sparse.csr_matrix(np.array([[1, 2, 3, 4]]))
    mean = np.mean([split_tokens(X, seed)[0].toarray()[0] for seed in range(4000)], axis=0)
    np.testing.assert_allclose(mean, [0.5, 1.0, 1.5, 2.0], atol=0.06)  # 4 standard errors of the widest


def test_what_is_beyond_a_whole_number_is_seen():
    seen, unseen = split_tokens(np.array([[0.4, 2.5]]))
    assert unseen.toarray()[0].tolist() == [0.0, 1.0]
    np.testing.assert_allclose(seen.toarray()[0], [0.4, 1.5])


def test_equal_rates_have_the_perplexity_of_the_vocabulary():
    X = np.random.default_rng(0).poisson(2.0, size=(20, 7))
    found = completion_perplexity(X, lambda seen: np.full((seen.shape[0], 2), 0.5), np.full((2, 7), 3.0))
    assert found == pytest.approx(7.0)


def test_perplexity_by_hand():
    X, rates, theta = np.array([[4, 0], [0, 6]]), np.array([[3.0, 1.0], [1.0, 1.0]]), np.array([[1.0, 0.0], [0.5, 0.5]])
    # The first document has 2 unseen occurrences of p = 3/4, the second 3 of p = (½ + ½)/(2 + 1).
    expected = np.exp(-(2 * np.log(3 / 4) + 3 * np.log(1 / 3)) / 5)
    assert completion_perplexity(X, lambda seen: theta, rates) == pytest.approx(expected)


def test_npmi_by_hand():
    X = np.array([[2, 1, 0, 1], [1, 3, 0, 1], [0, 0, 1, 1], [0, 1, 1, 1]])
    first = np.log((2 / 4) / ((2 / 4) * (3 / 4))) / -np.log(2 / 4)
    never = -1.0
    np.testing.assert_allclose(npmi_coherence([[0, 1], [0, 2]], X), [first, never])
    assert npmi_coherence([[3, 3]], X)[0] == 1.0
    second = np.log((1 / 4) / ((3 / 4) * (2 / 4))) / -np.log(1 / 4)
    assert npmi_coherence([[0, 1, 2]], sparse.csr_matrix(X))[0] == pytest.approx((first + never + second) / 3)


def test_independent_words_have_npmi_near_zero_and_equal_ones_one():
    rng = np.random.default_rng(0)
    X = rng.random((20_000, 3)) < 0.3
    X = np.hstack([X, X[:, :1]])
    assert abs(npmi_coherence([[0, 1, 2]], X)[0]) < 0.02
    assert npmi_coherence([[0, 3]], X)[0] == pytest.approx(1.0)


def test_bad_input():
    with pytest.raises(InputError, match="below zero"):
        split_tokens(np.array([[-1.0]]))
    with pytest.raises(InputError, match="two occurrences"):
        completion_perplexity(np.array([[1, 0]]), lambda seen: np.ones((1, 1)), np.ones((1, 2)))
    for top in ([[1]], [1, 2], [[0.5, 1.0]]):
        with pytest.raises(InputError, match="top_words must hold columns"):
            npmi_coherence(top, np.ones((3, 3)))
