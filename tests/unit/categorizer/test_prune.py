"""Small weights left out, with hardly a change of any score."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from textbayes.categorizer.automatic import prune


def test_scores_hardly_change_and_most_weights_go():
    rng = np.random.default_rng(0)
    X = sparse.random(400, 2_000, 0.05, random_state=1, format="csr")
    coef = rng.normal(0.0, 0.02, (3, 2_000))
    coef[:, :40] += rng.normal(0.0, 5.0, (3, 40))
    intercept = np.array([0.5, -1.0, 0.0])
    kept = coef.copy()
    moved = prune(X, kept, intercept)
    assert np.count_nonzero(kept) < 0.5 * coef.size
    before, after = X @ coef.T + intercept, X @ kept.T + moved
    assert np.sqrt(np.mean((after - before) ** 2)) <= 0.02 * (X @ coef.T).std()
    np.testing.assert_array_equal(kept[kept != 0.0], coef[kept != 0.0])
    assert abs(float((after - before).mean())) < 1e-3  # intercepts take over what small weights add on average


def test_weights_that_all_matter_stay():
    X = sparse.csr_matrix(np.eye(30))
    coef = np.random.default_rng(1).choice([-1.0, 1.0], (1, 30)) * 2.0
    kept = coef.copy()
    moved = prune(X, kept, np.zeros(1))
    np.testing.assert_array_equal(kept, coef)
    assert moved[0] == 0.0


def test_a_word_that_no_text_has_stays():
    X = sparse.csr_matrix(np.hstack([np.eye(30), np.zeros((30, 1))]))
    coef = np.full((1, 31), 2.0)
    coef[0, :5] = 1e-4
    prune(X, coef, np.zeros(1))
    assert not coef[0, :5].any()
    assert coef[0, 30] == 2.0


def test_more_words_than_a_block_are_looked_at_together(monkeypatch):
    rng = np.random.default_rng(2)
    X, coef = sparse.random(200, 500, 0.1, random_state=3, format="csr"), rng.normal(0.0, 0.3, (2, 500)) ** 3
    whole, parts = coef.copy(), coef.copy()
    expected = prune(X, whole, np.zeros(2))
    monkeypatch.setattr("textbayes.categorizer.automatic._BLOCK", 64)
    np.testing.assert_allclose(prune(X, parts, np.zeros(2)), expected, rtol=1e-12)
    np.testing.assert_array_equal(parts, whole)
    assert 0 < np.count_nonzero(whole) < whole.size
