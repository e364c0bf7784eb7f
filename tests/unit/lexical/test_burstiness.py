"""Burstiness of words: the score by differentiation, exact p-values by enumeration, size and power by simulation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse, stats

from textbayes.core.errors import InputError
from textbayes.lexical import burstiness
from textbayes.lexical.burstiness import (
    _cdf,
    _dispersion,
    bootstrap_fit,
    overdispersion,
    overdispersion_p_value,
    sample_counts,
    two_sample_ks,
)
from textbayes.report.plots import common_dispersion, variance_svg


def words(seed, delta, n_docs=80, n_words=60, rate=3.0):
    rng = np.random.default_rng(seed)
    lengths = rng.uniform(0.3, 3.0, n_docs)
    X = np.column_stack([sample_counts(lengths, rate, delta, 1, rng)[0] for _ in range(n_words)])
    return X, lengths


def test_z_is_the_score_of_the_negative_binomial_at_zero():
    X, lengths = words(0, 0.3, n_words=1)
    x = X[:, 0]
    rate, step = x.sum() / lengths.sum(), 1e-5

    def log_likelihood(delta):
        return stats.nbinom.logpmf(x, rate / delta, 1 / (1 + lengths * delta)).sum()

    at_zero = stats.poisson.logpmf(x, lengths * rate).sum()
    slope = (4 * log_likelihood(step) - log_likelihood(2 * step) - 3 * at_zero) / (2 * step)
    information = ((lengths * rate) ** 2).sum() / (2 * rate**2)
    assert overdispersion(x, lengths) == pytest.approx(slope / np.sqrt(information), rel=1e-3)


def test_exact_p_value_by_enumeration():
    """Five occurrences in three documents: all multinomial tables."""
    lengths, x = np.array([1.0, 2.0, 0.5]), np.array([4.0, 0.0, 1.0])
    means = lengths * 5 / lengths.sum()
    observed = ((x - means) ** 2).sum()
    expected = sum(
        stats.multinomial.pmf(table, 5, lengths / lengths.sum())
        for table in itertools.product(range(6), repeat=3)
        if sum(table) == 5 and ((np.array(table) - means) ** 2).sum() >= observed - 1e-9
    )
    n_draws = 40_000
    found = overdispersion_p_value(x, lengths, n_draws, np.random.default_rng(0))
    assert found == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / n_draws))


@pytest.mark.parametrize("delta", [0.0, 1e-9, 0.4, 3.0])
def test_distribution_functions_are_scipys(delta):
    lengths, rate = np.array([0.2, 1.0, 30.0]), 2.5
    k = np.array([[-1.0, 0.0, 80.0], [0.0, 3.0, 2.0]])
    found = _cdf(k, lengths, np.full(2, rate), np.full(2, delta))
    if delta < 1e-6:
        np.testing.assert_allclose(found, stats.poisson.cdf(k, lengths * rate), rtol=1e-6, atol=1e-300)
    else:
        np.testing.assert_allclose(found, stats.nbinom.cdf(k, rate / delta, 1 / (1 + lengths * delta)), rtol=1e-10)


def test_row_wise_dispersion_is_that_of_the_columns():
    X, lengths = words(1, 0.5)
    np.testing.assert_allclose(_dispersion(X.T, lengths), burstiness(X, lengths, n_draws=1).dispersion, atol=1e-12)


def test_size_where_the_model_is_right():
    n_words, slack = 150, 3 * np.sqrt(0.05 * 0.95 / 150)
    for delta in (0.0, 0.8):
        X, lengths = words(2, delta, n_docs=60, n_words=n_words)
        rng = np.random.default_rng(3)
        fitted = _dispersion(X.T, lengths) if delta else np.zeros(n_words)
        p = [bootstrap_fit(x, lengths, d, 39, rng) for x, d in zip(X.T, fitted, strict=True)]
        assert np.mean(np.array(p) <= 0.05) <= 0.05 + slack
    poisson, lengths = words(4, 0.0, n_docs=60, n_words=n_words)
    p = [overdispersion_p_value(x, lengths, 99, rng) for x in poisson.T]
    assert abs(np.mean(np.array(p) <= 0.05) - 0.05) <= slack
    p = [two_sample_ks(x, lengths, x.sum() / lengths.sum(), 0.0, rng) for x in poisson.T]
    assert np.mean(np.array(p) <= 0.05) <= 0.05  # the paper's check errs on the side of the model


def test_bursty_words_are_found_and_fitted_by_the_negative_binomial():
    X, lengths = words(5, 2.0, n_words=30)
    found = burstiness(X, lengths, n_draws=39)
    assert np.mean(found.p_value <= 0.05) > 0.9
    assert np.mean(found.fit_poisson <= 0.05) > 0.9
    assert np.mean(found.fit_negative_binomial <= 0.05) < 0.2
    assert found.ks_poisson.mean() < found.ks_negative_binomial.mean()


def test_columns_of_the_table():
    X, lengths = words(6, 1.0, n_words=5)
    X[:, 2] = 0
    found = burstiness(sparse.csr_matrix(X), lengths, n_draws=19)
    np.testing.assert_allclose(found.occurrences, X.sum(axis=0))
    np.testing.assert_allclose(found.documents, (X > 0).sum(axis=0))
    np.testing.assert_allclose(found.rate, X.sum(axis=0) / lengths.sum())
    bursty = found.dispersion > 0
    np.testing.assert_allclose(found.fitted_variance[bursty], found.variance[bursty])
    np.testing.assert_allclose(found.poisson_variance, found.rate)
    assert found.p_value[2] == found.fit_poisson[2] == found.fit_negative_binomial[2] == 1
    assert found.z[2] == 0


def test_words_are_judged_on_their_own():
    X, lengths = words(7, 1.0, n_words=6)
    whole, part = burstiness(X, lengths, n_draws=19), burstiness(X, lengths, words=[4, 1], n_draws=19)
    assert part.words.tolist() == [4, 1]
    for one, other in zip(part[1:], whole[1:], strict=True):
        np.testing.assert_array_equal(one, other[[4, 1]])


def test_empty_documents_are_left_out():
    X, lengths = words(8, 1.0, n_words=3)
    padded = burstiness(np.vstack((X, np.zeros((4, 3)))), np.append(lengths, np.zeros(4)), n_draws=19)
    for one, other in zip(padded, burstiness(X, lengths, n_draws=19), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_drawing_shows_both_fits_and_names_the_burstiest():
    X, lengths = words(9, 1.5, n_words=12)
    found = burstiness(X, lengths, n_draws=1)
    svg = variance_svg(found, [f"word{j}" for j in range(12)])
    assert "Poisson" in svg
    assert "negative binomial, δ = " in svg
    worst = int(np.argmax(found.variance / found.rate))
    assert f">word{worst}<" in svg
    assert svg == variance_svg(found, [f"word{j}" for j in range(12)])
    assert common_dispersion(found) == pytest.approx(1.5, abs=0.4)
    assert "δ = 0" in variance_svg(burstiness(np.array([[2], [1], [2]]), np.ones(3), n_draws=1))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: burstiness(np.ones((2, 3)), n_draws=0), "n_draws=0 must be at least 1"),
        (
            lambda: burstiness(np.ones((2, 3)), words=[3]),
            r"words=\[3\] is not usable; pass columns of X, numbers",
        ),
        (lambda: burstiness(np.ones((2, 3)), words=[0.5]), "is not usable"),
        (lambda: burstiness(np.ones((2, 3)), [1.0]), "one length for each of the 2 documents"),
        (lambda: burstiness(np.full((2, 3), 0.5)), "test on counts of words"),
        (lambda: burstiness(np.ones(3)), "X has 1 dimension"),
        (lambda: variance_svg(burstiness(np.zeros((2, 1)), [1.0, 1.0])), "nothing to draw"),
        (lambda: variance_svg(burstiness(np.eye(2)), ["a"]), "names holds 1 words for 2"),
    ],
)
def test_refuses_in_a_sentence(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_one_document_says_nothing_of_bursts():
    found = burstiness(np.array([[3, 0, 1]]), np.array([0.5]))
    assert found.rate.tolist() == [6.0, 0.0, 2.0]
    assert (found.p_value == 1.0).all()
    assert (found.fit_poisson == 1.0).all()
