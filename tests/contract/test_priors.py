"""What must hold for every prior; a new file in ``priors/`` is tested by being there."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate

from textbayes.core.errors import InputError
from textbayes.priors import make_prior, priors

W = np.array([-3.0, -0.7, -1e-6, 1e-6, 0.2, 1.1, 4.0])


@pytest.fixture(params=priors.names())
def name(request):
    return request.param


def test_registered_under_its_own_name(name):
    assert priors.get(name).name == name


def test_gradient_is_the_derivative_of_neg_log(name):
    prior = make_prior(name, 0.8, 0.3)
    step = 1e-7
    difference = (prior.neg_log(W + step) - prior.neg_log(W - step)) / (2 * step)
    np.testing.assert_allclose(prior.neg_grad(W), difference, rtol=1e-5, atol=1e-6)


def test_proper_priors_integrate_to_one(name):
    prior = make_prior(name, 0.8, 0.3)
    if not prior.proper:
        pytest.skip(f"{name} is improper by design")
    halves = [
        integrate.quad(lambda w: float(np.exp(-prior.neg_log(np.array([w]))[0])), *side)[0]
        for side in ((-np.inf, 0.3), (0.3, np.inf))
    ]
    assert sum(halves) == pytest.approx(1.0, abs=1e-8)


def test_local_penalty_majorises_and_touches(name):
    prior = make_prior(name, 0.8, 0.3)
    here = W
    center, l1, l2 = prior.local(here)
    penalty = lambda w: l1 * np.abs(w - center) + 0.5 * l2 * (w - center) ** 2  # noqa: E731
    for there in np.linspace(-4, 4, 17):
        rise = penalty(np.full_like(here, there)) - penalty(here)
        assert (rise >= prior.neg_log(np.full_like(here, there)) - prior.neg_log(here) - 1e-10).all()


def test_per_word_values_equal_scalars_one_by_one(name):
    scale, mean = np.array([0.5, 2.0, 1.0]), np.array([0.0, -1.0, 0.4])
    w = np.array([0.3, 0.3, -2.0])
    together = make_prior(name, scale, mean)
    for part in ("neg_log", "neg_grad"):
        alone = [getattr(make_prior(name, scale[j], mean[j]), part)(w[j : j + 1])[0] for j in range(3)]
        np.testing.assert_allclose(getattr(together, part)(w), alone)


def test_rows_give_each_label_its_own(name):
    prior = make_prior(name, np.array([[1.0], [2.0]]), np.zeros((2, 3)))
    np.testing.assert_array_equal(prior.for_label(1, 3).scale, [2.0, 2.0, 2.0])


def test_infinite_scale_is_no_penalty(name):
    _, l1, l2 = make_prior(name, np.inf).local(np.array([1.5]))
    assert l1[0] == 0.0
    assert l2[0] == 0.0


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan])
def test_bad_scale_is_refused(name, scale):
    with pytest.raises(InputError, match="positive"):
        make_prior(name, scale)


def test_wrong_shape_is_refused(name):
    with pytest.raises(InputError, match=r"one value per word \(5,\)"):
        make_prior(name, np.ones(4)).for_label(0, 5)


def test_bad_mean_is_refused(name):
    with pytest.raises(InputError, match="finite"):
        make_prior(name, 1.0, np.inf)
