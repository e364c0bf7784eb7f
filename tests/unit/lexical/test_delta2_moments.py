"""Expansions of Δ²: the paper's figures, and moments against sums over all counts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from textbayes.lexical.delta2 import cumulants, printed_third_order, second_order, third_order


def moments_of(polynomial, mass_in, mass_out):
    chance = np.outer(mass_in, mass_out)
    inside, outside = np.arange(len(mass_in))[:, None], np.arange(len(mass_out))
    value = polynomial(inside, outside)
    mean = (chance * value).sum()
    return mean, (chance * value**2).sum() - mean**2


@pytest.mark.equation("contagion", "4 second order")
@pytest.mark.parametrize("m", [0.7, 2.0, 10.0, 40.0])
def test_second_order_is_the_papers(m):
    k = [np.array(m)] * 6
    found = second_order(np.array(0.5), k, k)
    assert found.mean == pytest.approx(1.0)
    assert found.variance == pytest.approx(2.0 + 1.0 / (2.0 * m))


@pytest.mark.equation("contagion", "4 third order")
@pytest.mark.parametrize("m", [0.7, 2.0, 10.0, 40.0])
def test_third_order_has_the_papers_mean_and_another_variance(m):
    k = [np.array(m)] * 6
    found, printed = third_order(np.array(0.5), k, k), printed_third_order(m)
    assert found.mean == pytest.approx(printed.mean)
    assert found.variance == pytest.approx(2.0 - 3.0 / m + 2.5 / m**2 + 1.0 / (8.0 * m**3))
    assert printed.variance == pytest.approx(2.0 + 2.75 / m + 3.125 / m**2 + 1.0 / (8.0 * m**3))


@pytest.mark.parametrize("delta", [0.0, 0.4, 1.3])
@pytest.mark.parametrize(("n_in", "n_out"), [(3, 3), (1, 5)])
def test_moments_of_the_polynomials_by_summation(delta, n_in, n_out):
    """Documents of equal length, so that the sums are Poisson or negative binomial themselves."""
    rate, omega = 1.2, 0.8
    k = np.arange(500)

    def mass(n_docs):
        if delta == 0.0:
            return stats.poisson.pmf(k, n_docs * omega * rate)
        return stats.nbinom.pmf(k, n_docs * rate / delta, 1.0 / (1.0 + omega * delta))

    share, total = n_in / (n_in + n_out), (n_in + n_out) * omega * rate
    powers_in, powers_out = (n * omega ** np.arange(1.0, 7.0) for n in (n_in, n_out))
    inside, outside = (cumulants(np.array(rate), np.array(delta), powers) for powers in (powers_in, powers_out))
    scale = share * (1 - share) * total

    def second(a, b):
        return ((1 - share) * a - share * b) ** 2 / scale

    def third(a, b):
        return second(a, b) * (1 - (a + b - total) / total)

    for polynomial, expansion in ((second, second_order), (third, third_order)):
        expected = moments_of(polynomial, mass(n_in), mass(n_out))
        found = expansion(np.array(share), inside, outside)
        np.testing.assert_allclose([found.mean, found.variance], expected, rtol=1e-8)


def test_cumulants_are_those_of_scipys_negative_binomial():
    rate, delta, omega = 2.0, 0.6, 1.5
    found = cumulants(np.array(rate), np.array(delta), omega ** np.arange(1.0, 7.0))
    mean, variance, skewness, kurtosis = stats.nbinom.stats(rate / delta, 1.0 / (1.0 + omega * delta), moments="mvsk")
    np.testing.assert_allclose(found[:4], [mean, variance, skewness * variance**1.5, kurtosis * variance**2])


def test_printed_variance_is_further_from_that_of_the_statistic():
    m = 10.0
    k = np.arange(120)
    total = k[:, None] + k
    mass = stats.poisson.pmf(k, m)
    _, exact = moments_of(lambda a, b: (a - b) ** 2 / np.maximum(total, 1), mass, mass)
    derived = third_order(np.array(0.5), [np.array(m)] * 6, [np.array(m)] * 6).variance
    assert abs(derived - exact) < abs(printed_third_order(m).variance - exact)
