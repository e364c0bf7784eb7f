"""Moment estimates of the negative binomial: the printed formulas, simulation, edges."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes.lexical.exposures import mosteller_wallace, within_categories, word_exposures


def test_the_printed_formulas():
    rng = np.random.default_rng(0)
    lengths = rng.uniform(0.3, 3.0, 25)
    X = rng.poisson(rng.gamma(1.0, 2.0, (25, 8)) * lengths[:, None])
    m = X.sum(axis=0) / lengths.sum()
    v = (lengths[:, None] * (X / lengths[:, None] - m) ** 2).sum(axis=0) / 24
    r = (lengths.sum() - (lengths**2).sum() / lengths.sum()) / 24
    found = mosteller_wallace(sparse.csr_matrix(X, dtype=float), lengths)
    np.testing.assert_allclose(found.rate, m)
    np.testing.assert_allclose(found.variance, v)
    assert found.r == pytest.approx(r)
    np.testing.assert_allclose(found.dispersion, np.maximum(0, (v - m) / (m * r)))


@pytest.mark.parametrize("delta", [0.0, 0.5, 2.0])
def test_recovers_what_was_simulated(delta):
    rng = np.random.default_rng(1)
    lengths = rng.uniform(0.3, 3.0, 400)
    inside = np.arange(400) < 100
    rates = np.where(inside, 9.0, 3.0)[:, None] * np.ones(500)
    means = rng.gamma(rates / delta, delta) if delta else rates
    X = rng.poisson(means * lengths[:, None])
    within = within_categories(word_exposures(X, inside, lengths))
    assert within.mean() == pytest.approx(delta, abs=0.06)  # δ̂ is cut at 0, which lifts the mean a little
    pooled = mosteller_wallace(sparse.csr_matrix(X, dtype=float), lengths).dispersion
    assert pooled.mean() > delta + 0.5  # rates that differ look like bursts to one that does not know the classes


def test_within_all_documents_is_the_pooled_estimate():
    rng = np.random.default_rng(2)
    lengths = rng.uniform(0.3, 3.0, 30)
    X = rng.poisson(rng.gamma(1.0, 2.0, (30, 6)) * lengths[:, None])
    within = within_categories(word_exposures(X, np.ones(30), lengths))
    np.testing.assert_allclose(within[0], mosteller_wallace(sparse.csr_matrix(X, dtype=float), lengths).dispersion)


def test_words_that_do_not_occur_and_lone_or_empty_documents():
    X = sparse.csr_matrix(np.array([[2.0, 0.0], [0.0, 0.0]]))
    assert mosteller_wallace(X, np.array([1.0, 1.0])).dispersion[1] == 0
    alone = mosteller_wallace(X, np.array([1.0, 0.0]))
    assert alone.rate.tolist() == [2.0, 0.0]
    assert alone.dispersion.tolist() == [0.0, 0.0]
    one_each = within_categories(word_exposures(np.array([[2, 0], [5, 0]]), np.array([1, 0]), [1.0, 1.0]))
    assert one_each.tolist() == [[0.0, 0.0]]
