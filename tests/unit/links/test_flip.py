"""Flip against 60-digit arithmetic, its limits, and what it does to an outlier."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from textbayes.core.errors import InputError
from textbayes.links import make_link
from textbayes.links.flip import Flip
from textbayes.links.logit import Logit
from textbayes.links.student_t import StudentT

MARGINS = [-1e4, -700.0, -40.0, -6.0, -0.5, 0.0, 0.7, 3.0, 30.0, 500.0]
GRID = np.concatenate([np.linspace(-9.0, 9.0, 73), [-1e4, 1e4]])


@pytest.mark.parametrize("rate", [1e-12, 1e-4, 0.1, 0.49])
@pytest.mark.parametrize("margin", MARGINS)
def test_matches_high_precision(margin, rate):
    with mpmath.workdps(60):
        m, k = mpmath.mpf(margin), mpmath.mpf(rate)
        base = 1 / (1 + mpmath.exp(-m))
        other = 1 / (1 + mpmath.exp(m))
        p = k + (1 - 2 * k) * base
        first = (1 - 2 * k) * base * other
        second = first * (other - base)
        # log p from 1 − p: 60 digits are not enough for p itself next to 1.
        exact = mpmath.log1p(-(k + (1 - 2 * k) * other)), first / p, (first / p) ** 2 - second / p
    for y in (1.0, -1.0):
        got = Flip("logit", rate).derivatives(np.array([y * margin]), np.array([y]))
        np.testing.assert_allclose(got.log_prob[0], float(exact[0]), rtol=1e-12)
        np.testing.assert_allclose(got.score[0], y * float(exact[1]), rtol=1e-11, atol=1e-300)
        np.testing.assert_allclose(got.hessian[0], float(exact[2]), rtol=1e-11, atol=1e-300)


@pytest.mark.parametrize("base", ["logit", "probit", "student_t:df=2", "skew_t:df=8,skew=0.5"])
def test_without_flips_is_the_base(base):
    base = make_link(base)
    flip = Flip(base, rate=0.0)
    assert flip.log_concave == base.log_concave
    for y in (1.0, -1.0):
        sign = np.full_like(GRID, y)
        for ours, theirs in zip(flip.derivatives(GRID, sign), base.derivatives(GRID, sign), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-300)


def test_flipping_twice_is_flipping_once_with_the_odd_rate():
    twice, once = Flip(Flip("probit", 0.1), 0.2), Flip("probit", 0.1 * 0.8 + 0.2 * 0.9)
    for y in (1.0, -1.0):
        sign = np.full_like(GRID, y)
        for ours, theirs in zip(twice.derivatives(GRID, sign), once.derivatives(GRID, sign), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-15)


def test_no_outcome_is_less_likely_than_a_flip():
    proba = Flip(Logit(), rate=0.03).probability(GRID)
    assert proba.min() == pytest.approx(0.03)
    assert proba.max() == pytest.approx(0.97)


def test_an_outlier_ceases_to_pull():
    far, y = np.array([-3.0, -30.0, -300.0]), np.ones(3)
    pull = Flip("logit", rate=0.05).score(far, y)
    assert pull[0] > 0.1
    np.testing.assert_allclose(pull[1:], 0.0, atol=1e-10)
    assert (Flip(StudentT(1.0), rate=0.05).curvature(far, y) > 0.0).all()


@pytest.mark.parametrize("rate", [-0.1, 0.5, 1.0, float("nan")])
def test_rates_that_are_none_are_refused(rate):
    with pytest.raises(InputError, match=r"below 0\.5"):
        Flip("logit", rate)
