"""Gaussian integrals of links against 25-digit arithmetic and SciPy, where they are hard, and for a user's own link."""

from __future__ import annotations

from itertools import pairwise

import mpmath
import numpy as np
import pytest
from scipy import integrate, special, stats

from textbayes.links import _quadrature, make_link
from textbayes.links.base import BaseLink
from textbayes.links.logit import logistic_mixture, mixture_moments, within_reach

EXACT = {
    "logit": lambda u: 1 / (1 + mpmath.exp(-u)),
    "student_t:df=1": lambda u: mpmath.mpf(1) / 2 + mpmath.atan(u) / mpmath.pi,
    "flip:rate=0.01,base=logit": lambda u: mpmath.mpf(0.01) + (1 - 2 * mpmath.mpf(0.01)) / (1 + mpmath.exp(-u)),
}
# The integrand's bulk is where both factors are large; mpmath needs to be told where to look.
PLACES = [(0.0, 1e-4), (-0.7, 0.3), (2.0, 1.0), (-4.0, 9.0), (-12.0, 4.0), (12.0, 4.0), (-40.0, 900.0), (5.0, 1e4)]


@pytest.mark.parametrize(("mean", "var"), PLACES)
@pytest.mark.parametrize("spec", EXACT)
def test_matches_high_precision(spec, mean, var):
    with mpmath.workdps(25):
        m, v = mpmath.mpf(mean), mpmath.mpf(var)
        sd = mpmath.sqrt(v)
        breaks = sorted({-8, -2, 0, 2, 8, *(m + k * sd for k in (-11, -4, 0, 4, 11))})
        breaks = [b for b in breaks if abs(b - m) <= 11 * sd]
        weighed = [
            mpmath.quad(lambda u, k=k: EXACT[spec](u) * (u - m) ** k * mpmath.exp(-((u - m) ** 2) / (2 * v)), breaks)
            for k in range(3)
        ]
        first, second = weighed[1] / weighed[0], weighed[2] / weighed[0]
        log_z = mpmath.log(weighed[0] / mpmath.sqrt(2 * mpmath.pi * v))
        exact = [float(log_z), float(first / v), float(((second - first**2) / v - 1) / v)]
    got = make_link(spec).moments(np.array([mean]), np.array([var]), np.ones(1))
    for ours, theirs in zip(got, exact, strict=True):
        assert ours[0] == pytest.approx(theirs, rel=1e-9)


@pytest.mark.parametrize("spec", ["student_t:df=4", "skew_t:df=2,skew=0.1", "skew_t:df=inf,skew=3"])
@pytest.mark.parametrize(("mean", "var"), [(0.5, 0.04), (-2.0, 3.0), (8.0, 100.0), (-1.0, 2500.0)])
def test_predictive_matches_adaptive_quadrature(spec, mean, var):
    link, normal = make_link(spec), stats.norm(mean, np.sqrt(var))

    def integrand(u):
        return link.probability(np.array([u]))[0] * normal.pdf(u)

    edges = np.unique(np.concatenate([[-3.0, -0.3, 0.0, 0.3, 3.0], mean + np.sqrt(var) * np.arange(-9, 10, 3)]))
    pieces = [integrate.quad(integrand, *pair, epsabs=1e-13)[0] for pair in pairwise(edges)]
    assert link.predictive(np.array([mean]), np.array([var]))[0] == pytest.approx(sum(pieces), abs=1e-9)


def test_logistic_link_is_a_mixture_of_probits():
    scale, weight = logistic_mixture()
    assert (weight > 0.0).all()
    assert weight.sum() == pytest.approx(1.0, abs=1e-15)
    u = np.linspace(-8.0, 8.0, 65)
    np.testing.assert_allclose(special.ndtr(u[:, None] / scale) @ weight, special.expit(u), rtol=1e-9)
    assert (weight @ scale**2) == pytest.approx(np.pi**2 / 3.0, rel=1e-12)  # the variance of a logistic variable
    assert weight @ stats.kstwobign.cdf(scale / 2.0) == pytest.approx(0.5, abs=1e-9)  # scales are Kolmogorov's, twice


def test_logistic_forms_agree_where_they_meet():
    var = np.array([0.0, 1e-4, 0.5, 7.0, 1e3, 1e4])
    for side in (-1.0, 1.0):
        mean = side * 8.0 * np.sqrt(1.0 + 0.25 * var)
        assert within_reach(0.999 * mean, var).all()
        assert not within_reach(1.001 * mean, var).any()
        for y in (-1.0, 1.0):
            ours = mixture_moments(mean, var, np.full(6, y))
            general = BaseLink.moments(make_link("logit"), mean, var, np.full(6, y))
            for mixed, integrated in zip(ours, general, strict=True):
                np.testing.assert_allclose(mixed, integrated, rtol=2e-9)


def test_a_second_mode_is_not_left_out():
    """An outlier under a Cauchit link: the Gaussian lies at −300, and what reaches the step weighs as much."""
    link, mean, var = make_link("student_t:df=1"), np.array([-300.0]), np.array([1e4])
    u = np.linspace(-1500.0, 1000.0, 2_000_001)
    mass = link.probability(u) * stats.norm.pdf(u, mean[0], 100.0)
    total = integrate.simpson(mass, x=u)
    assert integrate.simpson(mass * (u > -20.0), x=u) > 0.3 * total
    log_z, d1, _ = link.moments(mean, var, np.ones(1))
    assert log_z[0] == pytest.approx(np.log(total), rel=1e-9)
    assert mean[0] + var[0] * d1[0] == pytest.approx(integrate.simpson(mass * u, x=u) / total, rel=1e-8)


def test_many_integrals_equal_one_at_a_time(monkeypatch):
    link, rng = make_link("skew_t:df=3,skew=0.5"), np.random.default_rng(0)
    mean, var, y = rng.normal(0, 10, 500), 10.0 ** rng.uniform(-4, 4, 500), rng.choice([-1.0, 1.0], 500)
    var[::50] = 0.0
    whole = link.moments(mean, var, y)
    monkeypatch.setattr(_quadrature, "_AT_ONCE", 7)
    for one, other in zip(whole, link.moments(mean, var, y), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("spec", ["logit", "probit", "skew_t:df=0.5,skew=0.001", "skew_t:df=inf,skew=1000"])
def test_far_beyond_the_promised_range_results_are_still_numbers(spec):
    mean, var = (a.ravel() for a in np.meshgrid([-1e6, -1e4, 0.0, 1e-300, 1e4, 1e6], [0.0, 1e-300, 1e-20, 1e6, 1e10]))
    for y in (-1.0, 1.0):
        log_z, d1, d2 = make_link(spec).moments(mean, var, np.full_like(mean, y))
        assert np.isfinite([log_z, d1, d2]).all()
        assert (1.0 + var * d2 >= 0.0).all()


class _LogLog(BaseLink):
    """p(+1 | eta) = exp(−exp(−eta)): what a user would write, without a word on integrals."""

    name = "loglog"
    log_concave = True

    def log_prob(self, eta, y):
        e = np.exp(-np.maximum(eta, -600.0))
        return np.where(y > 0.0, -e, np.log(-np.expm1(-np.maximum(e, 1e-300))))

    def score(self, eta, y):
        e = np.exp(-np.maximum(eta, -600.0))
        # e/expm1(e) without overflow: e·exp(−e)/(1 − exp(−e)).
        return np.where(y > 0.0, e, -e * np.exp(-e) / -np.expm1(-np.maximum(e, 1e-300)))

    def curvature(self, eta, y):
        raise NotImplementedError

    def hessian(self, eta, y):
        step = 1e-5
        return (self.score(eta - step, y) - self.score(eta + step, y)) / (2 * step)


@pytest.mark.parametrize(("mean", "var"), [(0.0, 0.5), (2.0, 4.0), (-1.0, 1.0), (3.0, 0.01)])
@pytest.mark.parametrize("y", [1.0, -1.0])
def test_a_new_link_needs_no_integrals_of_its_own(mean, var, y):
    link, sd = _LogLog(), np.sqrt(var)
    u = np.linspace(mean - 12 * sd, mean + 12 * sd, 200_001)
    mass = np.exp(link.log_prob(u, np.full_like(u, y))) * stats.norm.pdf(u, mean, sd)
    total = integrate.simpson(mass, x=u)
    shift = integrate.simpson(mass * (u - mean), x=u) / total
    log_z, d1, d2 = link.moments(np.array([mean]), np.array([var]), np.array([y]))
    assert log_z[0] == pytest.approx(np.log(total), rel=1e-8)
    assert var * d1[0] == pytest.approx(shift, rel=1e-8)
    spread = integrate.simpson(mass * (u - mean - shift) ** 2, x=u) / total
    assert var + var**2 * d2[0] == pytest.approx(spread, rel=1e-7)
