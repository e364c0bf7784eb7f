"""Correlation and t statistics against numpy and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, stats

from textbayes.select import scores

SHAPES = [(12, 6, 2), (80, 30, 5), (400, 15, 3)]


def corpus(n_docs, n_features, n_labels):
    """Sparse weights, at least two documents on each side of every label."""
    rng = np.random.default_rng(n_docs)
    Y = rng.random((n_docs, n_labels)) < rng.uniform(0.1, 0.6, n_labels)
    Y[:2], Y[2:4] = True, False
    X = rng.gamma(1.0, 1.0, (n_docs, n_features)) * (rng.random((n_docs, n_features)) < rng.uniform(0.1, 1, n_features))
    X[:, :2] += 0.8 * Y[:, :2]
    X[:, 2] = rng.random(n_docs) + 1e6  # in every document, large beside its spread
    return X, Y


@pytest.mark.parametrize("shape", SHAPES)
def test_pearson_matches_numpy_and_scipy(shape):
    X, Y = corpus(*shape)
    result = scores.get("pearson")(sparse.csr_matrix(X), Y)
    n_labels = Y.shape[1]
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(
        result.scores, np.abs(np.corrcoef(centred.T, Y.T.astype(float))[-n_labels:, :-n_labels]), rtol=1e-8, atol=1e-12
    )
    for j in range(n_labels):
        for word in range(X.shape[1]):
            expected = stats.pearsonr(centred[:, word], Y[:, j].astype(float)).pvalue
            assert result.p_values[j, word] == pytest.approx(expected, rel=1e-7, abs=1e-300)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("name", "pooled"), [("t_test", False), ("t_test_pooled", True)])
@pytest.mark.filterwarnings("ignore:Precision loss:RuntimeWarning")  # scipy's, where a word is absent from one side
def test_t_matches_scipy(name, pooled, shape):
    X, Y = corpus(*shape)
    result = scores.get(name)(sparse.csr_matrix(X), Y)
    centred = X - X.mean(axis=0)
    for j in range(Y.shape[1]):
        expected = stats.ttest_ind(centred[Y[:, j]], centred[~Y[:, j]], equal_var=pooled)
        np.testing.assert_allclose(result.scores[j], np.abs(expected.statistic), rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(result.p_values[j], expected.pvalue, rtol=1e-7, atol=1e-300)


def test_pooled_t_is_the_correlation_in_another_unit():
    X, Y = corpus(80, 30, 5)
    r, t = scores.get("pearson")(X, Y), scores.get("t_test_pooled")(X, Y)
    np.testing.assert_allclose(t.scores, r.scores * np.sqrt(78 / (1 - r.scores**2)), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(t.p_values, r.p_values, rtol=1e-8, atol=1e-300)


@pytest.mark.parametrize("name", ["pearson", "t_test", "t_test_pooled"])
def test_a_common_shift_changes_nothing(name):
    """Counts of about 10⁹ that differ by ones: raw sums of squares (10¹⁸ each) would lose every digit."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (50, 8)).astype(float)
    y = rng.random(50) < 0.4
    plain, shifted = scores.get(name)(X, y), scores.get(name)(X + 1e9, y)
    np.testing.assert_allclose(shifted.scores, plain.scores, rtol=1e-10)
    np.testing.assert_allclose(shifted.p_values, plain.p_values, rtol=1e-10)


@pytest.mark.parametrize("name", ["pearson", "t_test", "t_test_pooled"])
def test_each_word_has_its_own_unit(name):
    X, Y = corpus(80, 30, 5)
    units = np.ldexp(1.0, np.resize([0, 600, -600, 7], 30))
    np.testing.assert_array_equal(scores.get(name)(X * units, Y).scores, scores.get(name)(X, Y).scores)


@pytest.mark.parametrize("name", ["pearson", "t_test", "t_test_pooled"])
def test_negative_values_are_taken(name):
    X, Y = corpus(80, 30, 5)
    np.testing.assert_allclose(scores.get(name)(-X, Y).scores, scores.get(name)(X, Y).scores, rtol=1e-12)


@pytest.mark.parametrize("weights", [(0.3, 0.1), (0.1, 0.0), (7.0, 3.0)])
def test_perfect_separation_has_infinite_t_and_correlation_one(weights):
    """No variance on either side; rounding must not turn infinity into some large number, whatever the row order."""
    for seed in range(5):
        y = np.random.default_rng(seed).random(999) < 0.3
        X = np.column_stack([np.where(y, *weights), np.arange(999) % 7])
        for name in ("t_test", "t_test_pooled"):
            result = scores.get(name)(X, y)
            assert result.scores[0, 0] == np.inf
            assert result.p_values[0, 0] == 0
            assert np.isfinite(result.scores[0, 1])
        result = scores.get("pearson")(X, y)
        assert result.scores[0, 0] == pytest.approx(1, abs=1e-14)
        assert result.p_values[0, 0] == 0


def test_one_sided_variance_is_kept():
    """A word outside the category only: Welch uses the outside variance alone."""
    rng = np.random.default_rng(1)
    y = np.arange(30) < 5
    X = np.where(y, 0.0, rng.random(30))[:, None]
    expected = stats.ttest_ind(X[y, 0], X[~y, 0], equal_var=False)
    result = scores.get("t_test")(X, y)
    assert result.scores.item() == pytest.approx(abs(expected.statistic))
    assert result.p_values.item() == pytest.approx(expected.pvalue)


def test_a_single_document_has_no_variance_of_its_own():
    rng = np.random.default_rng(2)
    X, y = rng.random((20, 3)), np.arange(20) == 4
    welch, pooled = scores.get("t_test")(X, y), scores.get("t_test_pooled")(X, y)
    assert (welch.scores == 0).all()
    assert (welch.p_values == 1).all()
    expected = stats.ttest_ind(X[y], X[~y])
    np.testing.assert_allclose(pooled.scores[0], np.abs(expected.statistic), rtol=1e-10)
    np.testing.assert_allclose(pooled.p_values[0], expected.pvalue, rtol=1e-10)
