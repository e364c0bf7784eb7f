"""What must hold for every link; a new file in ``links/`` is tested by being there."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes.links import links, make_link

GRID = np.concatenate([np.linspace(-12.0, 12.0, 97), [-1e4, -300.0, -40.0, 40.0, 300.0, 1e4]])
SIGNS = [1.0, -1.0]


@pytest.fixture(params=links.names())
def link(request):
    return make_link(request.param)


def test_registered_under_its_own_name():
    assert [links.get(name).name for name in links.names()] == links.names()


def test_probabilities_of_both_outcomes_add_up_to_one(link):
    total = sum(np.exp(link.log_prob(GRID, np.full_like(GRID, y))) for y in SIGNS)
    np.testing.assert_allclose(total, 1.0, rtol=1e-12)
    np.testing.assert_allclose(link.probability(GRID), np.exp(link.log_prob(GRID, np.ones_like(GRID))), rtol=1e-12)


@pytest.mark.parametrize("y", SIGNS)
def test_score_is_the_derivative_of_log_prob(link, y):
    eta = np.linspace(-8.0, 8.0, 41)
    sign, step = np.full_like(eta, y), 1e-5
    difference = (link.log_prob(eta + step, sign) - link.log_prob(eta - step, sign)) / (2 * step)
    np.testing.assert_allclose(link.score(eta, sign), difference, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("y", SIGNS)
def test_hessian_is_minus_the_derivative_of_score(link, y):
    eta = np.linspace(-8.0, 8.0, 41)
    sign, step = np.full_like(eta, y), 1e-5
    difference = -(link.score(eta + step, sign) - link.score(eta - step, sign)) / (2 * step)
    np.testing.assert_allclose(link.hessian(eta, sign), difference, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("y", SIGNS)
def test_curvature_majorises(link, y):
    here, there = (a.ravel() for a in np.meshgrid(np.linspace(-10, 10, 41), np.linspace(-12, 12, 49)))
    sign = np.full_like(here, y)
    lower = (
        link.log_prob(here, sign)
        + link.score(here, sign) * (there - here)
        - 0.5 * link.curvature(here, sign) * (there - here) ** 2
    )
    assert (link.log_prob(there, sign) >= lower - 1e-10).all()


@pytest.mark.parametrize("y", SIGNS)
def test_working_response_has_the_link_s_gradient(link, y):
    eta = np.linspace(-6.0, 6.0, 25)
    sign = np.full_like(eta, y)
    z, omega = link.working(eta, sign)
    np.testing.assert_allclose(omega * (z - eta), link.score(eta, sign), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("y", SIGNS)
def test_far_tails_are_finite_and_derivatives_agree_with_their_parts(link, y):
    sign = np.full_like(GRID, y)
    together = link.derivatives(GRID, sign)
    parts = (link.log_prob(GRID, sign), link.score(GRID, sign), link.hessian(GRID, sign))
    for joint, part in zip(together, parts, strict=True):
        assert np.isfinite(joint).all()
        np.testing.assert_allclose(joint, part, rtol=1e-12, atol=1e-300)
    if link.log_concave:
        assert (together.hessian >= 0.0).all()


def test_log_odds(link):
    eta = np.linspace(-5.0, 5.0, 33)
    p = link.probability(eta)
    np.testing.assert_allclose(link.log_odds(eta), np.log(p) - np.log1p(-p), rtol=1e-6, atol=1e-9)
