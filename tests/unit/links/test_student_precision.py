"""The Student-t family against 60-digit arithmetic and against integrals of the printed density."""

from __future__ import annotations

from functools import cache

import mpmath
import numpy as np
import pytest
from scipy import integrate, stats

from textbayes.links.probit import Probit
from textbayes.links.skew_t import SkewT
from textbayes.links.student_t import StudentT

DF = [1.0, 2.0, 4.0, 8.0, 30.0, 100.0, np.inf]
SKEW = [0.1, 0.5, 1.0, 2.0, 10.0]
POINTS = [0.0, 1e-6, 0.02, 0.3, 1.1, 2.5, 7.0, 40.0, 1000.0, 1e4]
ETA = np.array([-eta for eta in POINTS[:0:-1]] + POINTS)
HALF = mpmath.mpf("0.5")


@cache
def _student(df, t):
    """(f, f', upper tail) of the Student-t at t ≥ 0."""
    if mpmath.isinf(df):
        density = mpmath.npdf(t)
        return density, -t * density, mpmath.erfc(t / mpmath.sqrt(2)) / 2
    density = (1 + t * t / df) ** (-(df + 1) / 2) / (mpmath.sqrt(df) * mpmath.beta(df / 2, HALF))
    tail = mpmath.betainc(df / 2, HALF, 0, df / (df + t * t), regularized=True) / 2
    return density, -density * (df + 1) * t / (df + t * t), tail


def _exact(df, skew, eta, y):
    """log p, its derivative and minus the second one, from the two-piece density and its integral."""
    df, skew, eta = mpmath.mpf(df), mpmath.mpf(skew), mpmath.mpf(float(eta))
    norm = 2 / (skew + 1 / skew)
    stretch = 1 / skew if eta >= 0 else skew
    density, slope, tail = _student(df, abs(eta) * stretch)
    density, slope, beyond = norm * density, -mpmath.sign(eta) * norm * stretch * abs(slope), norm * tail / stretch
    p = beyond if (eta < 0) == (y > 0) else 1 - beyond
    log_p = mpmath.log(beyond) if p is beyond else mpmath.log1p(-beyond)
    return log_p, y * density / p, (density / p) ** 2 - y * slope / p


@pytest.fixture(autouse=True)
def _digits():
    with mpmath.workdps(60):
        yield


@pytest.mark.parametrize("y", [1.0, -1.0])
@pytest.mark.parametrize("skew", SKEW)
@pytest.mark.parametrize("df", DF)
def test_matches_high_precision(df, skew, y):
    exact = np.array([[float(value) for value in _exact(df, skew, eta, y)] for eta in ETA]).T
    got = SkewT(df, skew).derivatives(ETA, np.full_like(ETA, y))
    for ours, theirs in zip(got, exact, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-300)


@pytest.mark.parametrize("df", [0.5, 3.7, 1e3, 1e6, 1e10])
def test_other_degrees_of_freedom(df):
    points = ETA[np.abs(ETA) <= 40.0] if df > 1e4 else ETA  # mpmath's own integral does not converge further out
    exact = np.array([[float(value) for value in _exact(df, 1.0, eta, 1.0)] for eta in points]).T
    got = StudentT(df).derivatives(points, np.ones_like(points))
    for ours, theirs in zip(got, exact, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-300)


@pytest.mark.parametrize("skew", [0.001, 0.01, 100.0, 1000.0])
def test_extreme_skewness_costs_digits_near_the_mode_only(skew):
    y = np.ones_like(ETA)
    exact = np.array([[float(value) for value in _exact(4.0, skew, eta, 1.0)] for eta in ETA]).T
    for ours, theirs in zip(SkewT(4.0, skew).derivatives(ETA, y), exact, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-14 * max(skew, 1 / skew) ** 2 + 1e-11)


@pytest.mark.parametrize("skew", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("df", [1.0, 8.0, np.inf])
def test_is_the_integral_of_the_density_in_the_paper(df, skew):
    """Eyheramendy & Madigan, eq. 1, with the Student-t for f."""
    f = stats.norm.pdf if np.isinf(df) else stats.t(df).pdf

    def density(x):
        return 2.0 / (skew + 1.0 / skew) * (f(x / skew) if x >= 0.0 else f(x * skew))

    below = integrate.quad(density, -np.inf, 0.0, epsabs=1e-12)[0]
    assert SkewT(df, skew).probability(np.zeros(1))[0] == pytest.approx(below, abs=1e-10)
    for eta in (-2.0, -0.4, 0.3, 1.0, 3.0):
        mass = below + integrate.quad(density, 0.0, eta, epsabs=1e-12)[0]
        assert SkewT(df, skew).probability(np.array([eta]))[0] == pytest.approx(mass, abs=1e-10)


@pytest.mark.parametrize("df", DF)
def test_symmetric_skew_t_is_student_t(df):
    for y in (1.0, -1.0):
        sign = np.full_like(ETA, y)
        first, second = StudentT(df), SkewT(df, 1.0)
        for ours, theirs in zip(first.derivatives(ETA, sign), second.derivatives(ETA, sign), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(first.curvature(ETA, sign), second.curvature(ETA, sign))


@pytest.mark.parametrize("skew", SKEW)
@pytest.mark.parametrize("df", DF)
def test_the_reciprocal_skewness_is_the_mirror_image(df, skew):
    y = np.where(np.arange(len(ETA)) % 2, 1.0, -1.0)
    link, mirror = SkewT(df, skew), SkewT(df, 1.0 / skew)
    log_prob, score, hessian = link.derivatives(ETA, y)
    other = mirror.derivatives(-ETA, -y)
    np.testing.assert_allclose(other.log_prob, log_prob, rtol=1e-11, atol=1e-300)
    np.testing.assert_allclose(-other.score, score, rtol=1e-11, atol=1e-300)
    np.testing.assert_allclose(other.hessian, hessian, rtol=1e-11, atol=1e-300)
    np.testing.assert_allclose(mirror.curvature(-ETA, -y), link.curvature(ETA, y), rtol=1e-9)


@pytest.mark.parametrize("skew", SKEW)
@pytest.mark.parametrize("df", DF)
def test_share_of_the_density_below_its_mode(df, skew):
    np.testing.assert_allclose(SkewT(df, skew).probability(np.zeros(1)), 1.0 / (1.0 + skew**2), rtol=1e-13)


def test_normal_limit_is_the_probit():
    near = np.linspace(-6.0, 6.0, 49)
    for y in (1.0, -1.0):
        for link, eta, rtol in ((SkewT(np.inf, 1.0), ETA, 1e-13), (StudentT(1e12), near, 1e-8)):
            sign = np.full_like(eta, y)
            expected = Probit().derivatives(eta, sign)
            for ours, theirs in zip(link.derivatives(eta, sign), expected, strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=1e-300)
        np.testing.assert_array_equal(StudentT(np.inf).curvature(ETA, np.full_like(ETA, y)), 1.0)


def test_closed_forms():
    """Cauchy and two degrees of freedom have cdfs in elementary functions."""
    np.testing.assert_allclose(StudentT(1).probability(ETA), 0.5 + np.arctan(ETA) / np.pi, rtol=1e-11)
    # The cdf ½ + x/(2√(2 + x²)), with the factor that cancels in the left tail taken out.
    root = np.sqrt(2.0 + ETA**2)
    np.testing.assert_allclose(StudentT(2).probability(-np.abs(ETA)), 1.0 / (root * (root + np.abs(ETA))), rtol=1e-13)
