"""Tails of binomial and beta-binomial counts: against scipy and sums over everything, at all sizes and far out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

from textbayes.kernels.counts.delta2_tails import log_mass, log_rising, tails


def one(k, n, share, size=np.inf):
    """The table of factorials may be long, short or empty."""
    parts = [np.array([float(part)]) for part in (k, n, share, size)]
    found = [tails(*parts, gammaln(np.arange(1.0, length))) for length in (1, 20, 2000)]
    np.testing.assert_allclose(found[1:], found[:-1], rtol=1e-6)
    return found[0][0][0], found[0][1][0]


def summed(k, n, share, size):
    values = np.arange(n + 1)
    law = stats.binom(n, share) if size == np.inf else stats.betabinom(n, share * size, (1 - share) * size)
    far, here = np.abs(values - n * share), abs(k - n * share)
    tie = np.isclose(far, here, rtol=0, atol=1e-9 * n)
    mass = law.pmf(values)
    return mass[(far > here) & ~tie].sum(), mass[tie].sum()


@pytest.mark.parametrize("size", [0.3, 1.9, 7.0, 40.0, 1e4, np.inf])
@pytest.mark.parametrize("share", [0.5, 0.25, 1 / 6, 0.013, 0.9])
def test_every_count_of_small_totals(share, size):
    for n in (1, 2, 5, 12, 40):
        for k in range(n + 1):
            np.testing.assert_allclose(one(k, n, share, size), summed(k, n, share, size), rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("size", [3.0, 500.0, np.inf])
def test_greater_and_equal_add_up(size):
    """The chance of every distance from the mean, once each, is 1."""
    n, share = 30, 0.2
    chances = {round(abs(k - n * share), 6): one(k, n, share, size)[1] for k in range(n + 1)}
    assert sum(chances.values()) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize(("k", "n", "share"), [(500_600, 1_000_000, 0.5), (100, 2_000_000, 1e-5), (0, 3000, 0.01)])
def test_large_totals_against_scipys_binomial(k, n, share):
    law = stats.binom(n, share)
    mirror = 2 * n * share - k
    low, high = sorted((k, mirror))
    expected = law.cdf(np.floor(low + 1e-6)) + law.sf(np.ceil(high - 1e-6) - 1)
    assert sum(one(k, n, share)) == pytest.approx(expected, rel=1e-7)


def test_far_tails_do_not_vanish():
    greater, equal = one(500, 1000, 0.1)
    assert greater + equal == pytest.approx(stats.binom.sf(499, 1000, 0.1), rel=1e-9)
    assert 0 < equal < 1e-200


@pytest.mark.parametrize("a", [0.01, 3.0, 15.9, 16.1, 200.0])
def test_log_rising_is_the_ratio_of_gammas(a):
    for k in (1, 2, 30):
        product = np.log1p(np.arange(k) / a).sum()
        assert log_rising(a, float(k)) == pytest.approx(
            product, rel=1e-11, abs=1e-13
        )  # ln Γ(16) ≈ 28 is rounded to 4e-15


def test_huge_sizes_pass_into_the_binomial_without_cancellation():
    for size in (1e9, 1e12, 1e15, 1e300):
        assert log_mass(40.0, 100.0, 0.3, size, np.zeros(0)) == pytest.approx(
            stats.binom.logpmf(40, 100, 0.3), abs=1e4 / size + 1e-11
        )
