"""What must hold for every prior; a new file in ``priors/`` is tested by being there."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate

from references.optimality import slope_of
from textbayes.core.errors import InputError
from textbayes.priors import BasePrior, make_prior, priors

W = np.array([-3.0, -0.7, -1e-6, 1e-6, 0.2, 1.1, 4.0])


@pytest.fixture(params=priors.names())
def name(request):
    return request.param


def test_registered_under_its_own_name(name):
    assert priors.get(name).name == name
    assert isinstance(make_prior(name, 1.0), BasePrior)


def test_gradient_is_the_derivative_of_neg_log(name):
    prior = make_prior(name, 0.8, 0.3)
    step = 1e-7
    difference = (prior.neg_log(W + step) - prior.neg_log(W - step)) / (2 * step)
    np.testing.assert_allclose(slope_of(prior, W), difference, rtol=1e-5, atol=1e-6)


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
    for part in ("neg_log", "variance"):
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


def test_log_concave_is_what_it_says(name):
    prior = make_prior(name, 0.8, 0.3)
    values = prior.neg_log(np.linspace(-6.0, 6.0, 402))  # the mean is not among them
    assert bool((np.diff(values, 2) >= -1e-9).all()) == prior.log_concave


def test_smooth_and_pole_are_what_they_say(name):
    """The slope next to the mean: none without a kink, beyond all bounds at a pole."""
    prior = make_prior(name, 0.8, 0.0)
    slope = slope_of(prior, np.array([1e-120]))[0]
    assert (slope < 1e-100) == prior.smooth
    assert (slope > 1e100) == prior.pole
    l1 = prior.local(np.array([0.0])).l1[0]
    assert l1 == 0.0 if prior.smooth else l1 >= slope


def test_exact_local_is_what_it_says(name):
    prior = make_prior(name, 0.8, 0.3)
    center, l1, l2 = prior.local(W)
    if prior.exact_local:
        for part, elsewhere in zip((center, l1, l2), prior.local(W + 1.0), strict=True):
            np.testing.assert_array_equal(part, elsewhere)
        np.testing.assert_allclose(l1 * np.abs(W - center) + 0.5 * l2 * (W - center) ** 2, prior.penalty(W))
    else:
        assert any((here != there).any() for here, there in zip((l1, l2), prior.local(W + 1.0)[1:], strict=True))


def test_penalty_is_neg_log_without_its_constant(name):
    prior = make_prior(name, 0.8, 0.3)
    np.testing.assert_allclose(np.diff(prior.penalty(W)), np.diff(prior.neg_log(W)), rtol=1e-12, atol=1e-15)
    assert prior.penalty(np.array([0.3]))[0] == 0.0


def test_variance_is_offset_over_gradient(name):
    """E[1/τ | w] = −(d log p/dw)/(w − mean) for every normal scale mixture."""
    prior = make_prior(name, 0.8, 0.3)
    np.testing.assert_allclose(prior.variance(W), (W - 0.3) / slope_of(prior, W), rtol=1e-12)
    at_mean = prior.variance(np.array([0.3]))[0]
    assert (at_mean > 0.0) == prior.smooth
    assert prior.variance(np.array([0.3 + 1e-7]))[0] == pytest.approx(at_mean, abs=1e-6)
    assert make_prior(name, np.inf, 0.3).variance(np.array([0.3, 1.0])).tolist() == [np.inf, np.inf]


def test_words_can_be_taken_one_by_one(name):
    prior = make_prior(name, np.array([0.5, 2.0, 1.0]), np.array([0.0, -1.0, 0.4])).for_label(0, 3)
    some = np.array([2, 0])
    np.testing.assert_array_equal(prior.take(some).neg_log(W[some]), prior.neg_log(W[:3])[some])


def test_sign_is_one_value_or_one_per_word(name):
    prior = make_prior(name, 1.0, 0.0, np.array([1.0, 0.0, -1.0]))
    assert prior.signed
    lower, upper = prior.bounds((3,))
    np.testing.assert_array_equal(lower, [0.0, -np.inf, -np.inf])
    np.testing.assert_array_equal(upper, [np.inf, np.inf, 0.0])
    assert not prior.rescaled(2.0).signed  # an intercept has no sign


@pytest.mark.parametrize(
    ("mean", "sign", "match"), [(0.0, 2, "1 .* -1 .* 0"), (0.0, np.nan, "1 .* -1 .* 0"), (-1.0, 1, "forbids")]
)
def test_bad_sign_is_refused(name, mean, sign, match):
    with pytest.raises(InputError, match=match):
        make_prior(name, 1.0, mean, sign)
