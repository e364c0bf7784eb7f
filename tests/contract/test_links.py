"""What must hold for every link; a new file in ``links/`` is tested by being there, with each of its ``examples``."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

from references.optimality import working_response
from textbayes.core.errors import InputError
from textbayes.links import links, make_link
from textbayes.links.base import BaseLink

GRID = np.concatenate([np.linspace(-12.0, 12.0, 97), [-1e4, -300.0, -40.0, 40.0, 300.0, 1e4]])
# No point at 0: the third derivative of a two-piece link jumps there, and central differences feel it.
SMOOTH = np.linspace(-8.1, 8.0, 41)
SIGNS = [1.0, -1.0]
ALL = [link_class() for link_class in map(links.get, links.names())]
ALL += [type(link)(**params) for link in ALL for params in link.examples]


@pytest.fixture(params=ALL, ids=lambda link: link.spec)
def link(request):
    return request.param


def test_registered_under_its_own_name():
    assert [links.get(name).name for name in links.names()] == links.names()


def test_is_kept_as_a_string_and_copied_with_its_parameters(link):
    assert isinstance(link, BaseLink)
    assert link.params().keys() == set(link.parameters)
    for same in (make_link(json.loads(json.dumps(link.spec))), type(link)(**link.params()), copy.deepcopy(link)):
        assert same == link
        assert hash(same) == hash(link)
        np.testing.assert_array_equal(same.probability(GRID), link.probability(GRID))
    assert make_link(link) is link


def test_examples_differ(link):
    assert sum(other == link for other in ALL) == 1


def test_unknown_parameters_are_refused(link):
    with pytest.raises(InputError, match="no parameter 'colour'"):
        make_link(f"{link.name}:colour=3")


def test_probabilities_of_both_outcomes_add_up_to_one(link):
    total = sum(np.exp(link.log_prob(GRID, np.full_like(GRID, y))) for y in SIGNS)
    np.testing.assert_allclose(total, 1.0, rtol=1e-12)
    np.testing.assert_allclose(link.probability(GRID), np.exp(link.log_prob(GRID, np.ones_like(GRID))), rtol=1e-12)
    assert (np.diff(link.probability(np.sort(GRID))) >= 0.0).all()


@pytest.mark.parametrize("y", SIGNS)
def test_score_is_the_derivative_of_log_prob(link, y):
    sign, step = np.full_like(SMOOTH, y), 1e-5
    difference = (link.log_prob(SMOOTH + step, sign) - link.log_prob(SMOOTH - step, sign)) / (2 * step)
    np.testing.assert_allclose(link.score(SMOOTH, sign), difference, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("y", SIGNS)
def test_hessian_is_minus_the_derivative_of_score(link, y):
    sign, step = np.full_like(SMOOTH, y), 1e-5
    difference = -(link.score(SMOOTH + step, sign) - link.score(SMOOTH - step, sign)) / (2 * step)
    np.testing.assert_allclose(link.hessian(SMOOTH, sign), difference, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("y", SIGNS)
def test_curvature_majorises(link, y):
    far = [-1e4, -300.0, -40.0, 40.0, 300.0, 1e4]
    heres, theres = (np.concatenate([np.linspace(-end, end, n), far]) for end, n in ((10.0, 81), (12.0, 97)))
    here, there = (a.ravel() for a in np.meshgrid(heres, theres))
    sign = np.full_like(here, y)
    start, end = link.log_prob(here, sign), link.log_prob(there, sign)
    lower = start + link.score(here, sign) * (there - here) - 0.5 * link.curvature(here, sign) * (there - here) ** 2
    rounding = 1e-10 + 1e-14 * (np.abs(start) + np.abs(end) + np.abs(lower))
    assert (end >= lower - rounding).all()


@pytest.mark.parametrize("y", SIGNS)
def test_working_response_has_the_link_s_gradient(link, y):
    eta = np.concatenate([np.linspace(-6.0, 6.0, 25), [-1e4, 1e4]])
    sign = np.full_like(eta, y)
    z, omega = working_response(link, eta, sign)
    assert (omega > 0.0).all()
    np.testing.assert_allclose(omega * (z - eta), link.score(eta, sign), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("y", SIGNS)
def test_far_tails_are_finite_and_derivatives_agree_with_their_parts(link, y):
    sign = np.full_like(GRID, y)
    together = link.derivatives(GRID, sign)
    parts = (link.log_prob(GRID, sign), link.score(GRID, sign), link.hessian(GRID, sign))
    for joint, part in zip(together, parts, strict=True):
        assert np.isfinite(joint).all()
        np.testing.assert_allclose(joint, part, rtol=1e-12, atol=1e-300)


def test_says_whether_it_is_log_concave(link):
    lowest = min(link.hessian(GRID, np.full_like(GRID, y)).min() for y in SIGNS)
    assert link.log_concave == (lowest >= 0.0)


def test_log_odds(link):
    np.testing.assert_allclose(link.log_odds(GRID), BaseLink.log_odds(link, GRID), rtol=1e-10, atol=1e-13)
    eta = np.linspace(-5.0, 5.0, 33)
    p = link.probability(eta)
    eta, p = eta[p < 1.0 - 1e-6], p[p < 1.0 - 1e-6]  # beyond, 1 − p has lost its digits
    np.testing.assert_allclose(link.log_odds(eta), np.log(p) - np.log1p(-p), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_likelihood_is_the_sum_over_documents(link, weighted):
    rng = np.random.default_rng(0)
    eta, y = rng.normal(0.0, 4.0, 2000), rng.choice([-1.0, 1.0], 2000)
    weight = rng.uniform(0.0, 3.0, 2000) if weighted else None
    total, score, hessian = link.likelihood(eta, y, weight)
    factor = 1.0 if weight is None else weight
    assert total == pytest.approx((factor * link.log_prob(eta, y)).sum(), rel=1e-12)
    np.testing.assert_allclose(score, factor * link.score(eta, y), rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(hessian, factor * link.hessian(eta, y), rtol=1e-9, atol=1e-300)
