"""Tail probabilities against 40-digit arithmetic."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy import stats

from textbayes.lexical.p_values import chi2_p_value, t_p_value


def exact_t(t: float, df: float) -> float:
    with mpmath.workdps(40):
        x = mpmath.mpf(df) / (mpmath.mpf(df) + mpmath.mpf(t) ** 2)
        return float(mpmath.betainc(mpmath.mpf(df) / 2, mpmath.mpf(1) / 2, 0, x, regularized=True))


@pytest.mark.parametrize("df", [1.0, 2.5, 30.0, 99.0, 100.0, 101.7, 250.0, 1000.0, 23147.0, 8e5])
def test_t_matches_high_precision_into_the_far_tail(df):
    # Both sides of the change of method at t² = df/10 are among the points.
    edge = np.sqrt(0.1 * df)
    t = np.array([1e-3, 0.3, 1.0, 2.0, 3.1, 5.0, 0.9999 * edge, 1.0001 * edge, 12.0, 30.0])
    t = t[t < 35.0]  # beyond, p is below 1e-260 for large df and mpmath takes minutes
    expected = np.array([exact_t(value, df) for value in t])
    np.testing.assert_allclose(t_p_value(t, df), expected, rtol=2e-12)
    np.testing.assert_allclose(t_p_value(-t, np.full(t.shape, df)), expected, rtol=2e-12)


def test_t_is_blockwise_but_elementwise():
    rng = np.random.default_rng(0)
    t, df = rng.standard_normal((3, 20_000)) * 4, rng.uniform(1.0, 3000.0, (3, 1))
    np.testing.assert_allclose(t_p_value(t, df), 2 * stats.t.sf(np.abs(t), df), rtol=1e-10)


def test_t_limits():
    np.testing.assert_array_equal(t_p_value(np.array([np.inf, np.inf, 0.0]), np.array([1.0, 5000.0, 3.0])), [0, 0, 1])
    np.testing.assert_array_equal(t_p_value(np.array([0.0, 3.0, np.inf]), 0.0), 1.0)
    np.testing.assert_array_equal(t_p_value(np.array([2.0]), -1.0), 1.0)


def test_chi2_matches_scipy_and_does_not_vanish_early():
    statistic = np.array([0.0, 1e-12, 0.5, 3.84, 12.13, 200.0, 1300.0])
    np.testing.assert_allclose(chi2_p_value(statistic), stats.chi2.sf(statistic, 1), rtol=1e-11)
    assert chi2_p_value(np.array([1300.0]))[0] > 0
