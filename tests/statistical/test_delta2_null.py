"""Δ² under the null, by simulation: uniform p-values, intervals that cover, one p-value for several classes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, stats

from textbayes.lexical import delta2_test, keyness, smallest_p_value
from textbayes.lexical.delta2 import METHODS, word_dispersion, word_pairs
from textbayes.lexical.exposures import word_exposures

N_WORDS = 1500


def null_words(seed, share, rate, delta, n_docs=200, n_words=N_WORDS):
    rng = np.random.default_rng(seed)
    lengths = np.exp(rng.uniform(np.log(0.3), np.log(3.0), n_docs))
    rates = rng.gamma(rate / delta, delta, (n_words, n_docs)) if delta else np.full((n_words, n_docs), rate)
    X = sparse.csr_matrix(rng.poisson(rates * lengths).T)
    return X, np.arange(n_docs) < round(share * n_docs), lengths


@pytest.mark.parametrize("share", [0.5, 1 / 6])
@pytest.mark.parametrize(("rate", "delta"), [(0.1, 0.0), (2.0, 0.0), (1.0, 0.5), (20.0, 0.5)])
def test_exact_p_values_are_uniform(share, rate, delta):
    """Randomised within ties, so that the distribution is continuous; KS at 1 %."""
    X, y, lengths = null_words(1, share, rate, delta)
    exposures = word_exposures(X, y, lengths)
    dispersion = word_dispersion(exposures, "negative_binomial" if delta else "poisson", None)
    used = exposures.totals > 0
    pairs = word_pairs(
        exposures,
        np.zeros(used.sum(), dtype=int),
        exposures.sums.toarray()[0, used],
        exposures.totals[used],
        dispersion[used],
    )
    tail = METHODS["exact"](pairs)
    p = tail.greater + np.random.default_rng(2).random(used.sum()) * tail.equal
    assert stats.kstest(p, "uniform").pvalue > 0.01


def test_poisson_test_of_bursty_words_is_not_to_be_trusted():
    X, y, lengths = null_words(3, 0.5, 2.0, 1.0)
    wrong = delta2_test(X, y, lengths=lengths, method="exact").p_values
    right = delta2_test(X, y, lengths=lengths, model="negative_binomial", method="exact").p_values
    assert np.mean(wrong <= 0.05) > 0.15
    assert abs(np.mean(right <= 0.05) - 0.05) < 4 * np.sqrt(0.05 * 0.95 / N_WORDS)


@pytest.mark.parametrize(("model", "delta"), [("poisson", 0.0), ("negative_binomial", 0.8)])
@pytest.mark.parametrize("ratio", [1.0, 4.0])
def test_intervals_of_the_log_ratio_cover(model, delta, ratio):
    rng = np.random.default_rng(4)
    n_docs, n_words, rate = 150, 1000, 2.0
    lengths = np.exp(rng.uniform(np.log(0.3), np.log(3.0), n_docs))
    y = np.arange(n_docs) < 40
    rates = np.broadcast_to(np.where(y, ratio, 1.0) * rate, (n_words, n_docs))
    means = rng.gamma(rates / delta, delta) if delta else rates
    found = keyness(rng.poisson(means * lengths).T, y, lengths=lengths, model=model, level=0.9)
    covered = np.mean((found.log_ratio.low <= np.log2(ratio)) & (np.log2(ratio) <= found.log_ratio.high))
    assert covered == pytest.approx(0.9, abs=4 * np.sqrt(0.09 / n_words))


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_smallest_p_value_of_several_classes_keeps_its_level(n_classes):
    X, _, lengths = null_words(5, 0.5, 3.0, 0.0, n_words=4000)
    Y = (np.arange(X.shape[0]) % n_classes)[:, None] == np.arange(n_classes)
    p_values = delta2_test(X, Y, lengths=lengths, method="exact").p_values
    p = smallest_p_value(p_values, Y)
    error = 4 * np.sqrt(0.05 * 0.95 / 4000)
    assert np.mean(p <= 0.05) == pytest.approx(0.05, abs=error + 0.01)  # Šidák is a bound for dependent tests
    if n_classes > 2:
        assert np.mean(p_values.min(axis=0) <= 0.05) > 0.05 + 2 * error  # what the paper keeps
