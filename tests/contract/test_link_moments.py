"""Gaussian integrals of every link, with each of its ``examples``, against brute force and identities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from textbayes.core.errors import InputError
from textbayes.links import links
from textbayes.links.base import BaseLink

ALL = [link_class() for link_class in map(links.get, links.names())]
ALL += [type(link)(**params) for link in ALL for params in link.examples]
SIGNS = [1.0, -1.0]
# Narrow and wide Gaussians at the step, beside it and far on either side of it.
PLACES = np.array(
    [
        *((0, 1e-6), (0.3, 0.01), (-2, 1), (3, 1), (1.5, 40), (-30, 4), (9, 0.2), (30, 400), (-7, 1e3), (400, 900)),
        *((0, 1e4), (-400, 1e4), (1000, 1e4), (-1000, 1e4), (1000, 1), (-1000, 1)),
    ],
    dtype=float,
)
RUNGS = np.concatenate([[0.0], np.geomspace(1e-4, 1e8, 500)])
RUNGS = np.concatenate([-RUNGS[:0:-1], RUNGS])
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)


class Exact(NamedTuple):
    log_z: float
    d1: float
    d2: float
    d2_rounding: float
    mean_shift: float  # of u, once y is known
    var: float


@pytest.fixture(params=ALL, ids=lambda link: link.spec)
def link(request):
    return request.param


def _log_integrand(link, u, mean, var, y):
    return link.log_prob(u, np.full_like(u, y)) - (u - mean) ** 2 / (2.0 * var)


def brute_force(link, mean, var, y):
    """The integrals by thousands of panels, as fine around 0, around the mean and around the peak."""
    breaks = np.unique(np.concatenate([RUNGS, 1e-3 * RUNGS, mean + np.sqrt(var) * RUNGS]))
    for _ in range(4):  # and around the peak, found more and more closely
        height = _log_integrand(link, breaks, mean, var, y)
        peak = height.argmax()
        gap = breaks[min(peak + 1, len(breaks) - 1)] - breaks[max(peak - 1, 0)]
        breaks = np.unique(np.concatenate([breaks, breaks[peak] + gap * np.linspace(-1.0, 1.0, 41)]))
    height = _log_integrand(link, breaks, mean, var, y)
    within = np.flatnonzero(height > height.max() - 60.0)
    breaks = breaks[max(within[0] - 1, 0) : within[-1] + 2]
    half = np.diff(breaks)[:, None] / 2.0
    u = breaks[:-1, None] + half * (1.0 + NODES)
    log_mass = _log_integrand(link, u, mean, var, y) + np.log(half * WEIGHTS)
    top = log_mass.max()
    mass = np.exp(log_mass - top)
    log_z = top + np.log(mass.sum()) - 0.5 * np.log(2.0 * np.pi * var)
    mass /= mass.sum()
    score, hessian = link.score(u, np.full_like(u, y)), link.hessian(u, np.full_like(u, y))
    mean_u, d1 = (mass * (u - mean)).sum(), (mass * score).sum()
    var_u = (mass * (u - mean - mean_u) ** 2).sum()
    # Two expressions of the second derivative: each is good to rounding of what it subtracts.
    expressions = [
        ((var_u / var - 1.0) / var, (var_u / var + 1.0) / var),
        ((mass * ((score - d1) ** 2 - hessian)).sum(), (mass * ((score - d1) ** 2 + np.abs(hessian))).sum()),
    ]
    d2, subtracted = min(expressions, key=lambda pair: pair[1])
    return Exact(log_z, d1, d2, 1e-12 * subtracted, mean_u, var_u)


@pytest.mark.parametrize("y", SIGNS)
def test_integral_and_derivatives_equal_brute_force(link, y):
    mean, var = PLACES.T
    log_z, d1, d2 = link.moments(mean, var, np.full_like(mean, y))
    for i, (m, v) in enumerate(PLACES):
        exact = brute_force(link, m, v, y)
        assert log_z[i] == pytest.approx(exact.log_z, rel=1e-8, abs=1e-8)
        assert d1[i] == pytest.approx(exact.d1, rel=1e-8, abs=1e-13 / np.sqrt(1.0 + v))
        assert d2[i] == pytest.approx(exact.d2, rel=1e-8, abs=max(exact.d2_rounding, 1e-13 / (1.0 + v)))
        # What the derivatives are for: the mean and the variance of u once y is known.
        assert v * d1[i] == pytest.approx(exact.mean_shift, rel=1e-8, abs=1e-12 * np.sqrt(v))
        assert v + v * v * d2[i] == pytest.approx(exact.var, rel=1e-8)


@pytest.mark.parametrize("y", SIGNS)
def test_without_variance_it_is_the_link_itself(link, y):
    eta = np.array([-1000.0, -3.0, 0.0, 0.5, 20.0])
    sign = np.full_like(eta, y)
    log_z, d1, d2 = link.moments(eta, np.zeros_like(eta), sign)
    np.testing.assert_allclose(log_z, link.log_prob(eta, sign), rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(d1, link.score(eta, sign), rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(d2, -link.hessian(eta, sign), rtol=1e-8, atol=1e-300)


def test_closed_forms_equal_the_general_integral(link):
    rng = np.random.default_rng(0)
    mean, var = rng.normal(size=400) * 10.0 ** rng.uniform(-1, 2.5, 400), 10.0 ** rng.uniform(-6, 4, 400)
    y = rng.choice(SIGNS, 400)
    log_z, d1, d2 = link.moments(mean, var, y)
    general = BaseLink.moments(link, mean, var, y)
    np.testing.assert_allclose(log_z, general.log_z, rtol=1e-8, atol=1e-10)
    assert (np.abs(d1 - general.d1) <= 1e-8 * np.abs(general.d1) + 1e-12 / np.sqrt(var)).all()
    assert (np.abs(d2 - general.d2) <= 1e-8 * np.abs(general.d2) + 1e-12 / var).all()


def test_derivatives_are_those_of_the_integral(link):
    mean, var, step = np.linspace(-6.0, 6.0, 13), np.geomspace(0.05, 60.0, 13)[::-1], 1e-4
    for y in SIGNS:
        at = link.moments(mean, var, np.full_like(mean, y))
        up, down = (link.moments(mean + shift, var, np.full_like(mean, y)) for shift in (step, -step))
        np.testing.assert_allclose((up.log_z - down.log_z) / (2 * step), at.d1, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose((up.d1 - down.d1) / (2 * step), at.d2, rtol=1e-6, atol=1e-8)
        # The heat equation ∂Z/∂var = ½ ∂²Z/∂mean².
        up, down = (link.moments(mean, var * (1.0 + shift), np.full_like(mean, y)) for shift in (step, -step))
        change = (up.log_z - down.log_z) / (2 * step * var)
        np.testing.assert_allclose(change, 0.5 * (at.d2 + at.d1**2), rtol=1e-6, atol=1e-8)


def test_outcomes_add_up_and_probabilities_rise_with_the_mean(link):
    mean, var = np.meshgrid(np.linspace(-50.0, 50.0, 41), [0.0, 1e-3, 1.0, 30.0, 1e4])
    total = sum(np.exp(link.moments(mean, var, np.full_like(mean, y)).log_z) for y in SIGNS)
    np.testing.assert_allclose(total, 1.0, rtol=1e-9)
    proba = link.predictive(mean, var)
    assert proba.shape == mean.shape
    np.testing.assert_allclose(proba, np.exp(link.moments(mean, var, np.ones_like(mean)).log_z), rtol=1e-12)
    assert (np.diff(proba, axis=1) > -1e-12).all()


def test_a_wide_gaussian_leaves_its_own_probability_of_being_positive(link):
    mean = np.array([-1e4, 0.0, 2e4])
    proba = link.predictive(mean, np.full(3, 1e8))
    flips = np.array([link.probability(np.array([side * 1e7]))[0] for side in (-1.0, 1.0)])
    positive = np.array([0.15865525393145707, 0.5, 0.9772498680518208])  # Φ(−1), Φ(0), Φ(2)
    # A step 2,000 wide (skew, and tails without a variance) is not yet narrow beside a standard deviation of 10,000.
    np.testing.assert_allclose(proba, flips[0] + (flips[1] - flips[0]) * positive, atol=0.02)


def test_an_outcome_never_leaves_a_negative_variance(link):
    rng = np.random.default_rng(1)
    mean, var = rng.normal(0.0, 200.0, 300), 10.0 ** rng.uniform(-8, 6, 300)
    for y in SIGNS:
        log_z, d1, d2 = link.moments(mean, var, np.full(300, y))
        assert (log_z <= 1e-12).all()
        assert (y * d1 >= 0.0).all()
        assert (1.0 + var * d2 > 0.0).all()
        assert not link.log_concave or (d2 <= 1e-12 / var).all()


def test_elementwise_with_broadcasting(link):
    mean, var = np.linspace(-40.0, 40.0, 6)[:, None], np.array([[1e-3, 2.0, 500.0]])
    y = np.where(np.arange(18).reshape(6, 3) % 2, 1.0, -1.0)
    together = link.moments(mean, var, y)
    for i, j in np.ndindex(6, 3):
        alone = link.moments(mean[i], var[0, j : j + 1], y[i, j : j + 1])
        for whole, one in zip(together, alone, strict=True):
            assert whole.shape == (6, 3)
            assert whole[i, j] == pytest.approx(one[0], rel=1e-8, abs=1e-14)
    assert all(part.shape == (0,) for part in link.moments(np.empty(0), np.empty(0), np.empty(0)))
    for mean in (np.array(2.0), np.array(-300.0)):  # single numbers, also far out
        single, row = (link.moments(mean.reshape(shape), 0.5, np.ones(shape)) for shape in ((), (1,)))
        assert [np.shape(part) for part in single] == [()] * 3
        np.testing.assert_allclose(single, np.ravel(row), rtol=1e-12)


@pytest.mark.parametrize(("mean", "var"), [(0.0, -1e-3), (0.0, np.nan), (0.0, np.inf), (np.nan, 1.0), (np.inf, 1.0)])
def test_what_is_no_gaussian_is_refused(link, mean, var):
    with pytest.raises(InputError, match="finite variance of at least 0"):
        link.moments(np.array([1.0, mean]), np.array([1.0, var]), np.ones(2))
