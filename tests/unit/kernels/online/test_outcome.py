"""The scalars of an online update against arbitrary precision and against the links."""

from __future__ import annotations

import itertools

import mpmath
import numpy as np
import pytest

from textbayes.kernels.online.document import outcome, refined_outcome
from textbayes.links.flip import Flip
from textbayes.models.online import OnlineLikelihood

MEANS = [0.0, 1e-8, -0.3, 0.7, -4.0, 6.0, -14.9, -15.1, -40.0, 300.0]
VARIANCES = [0.0, 1e-6, 0.4, 9.0]


def exact(mean, var, y, noise_variance, rate):
    """ln Z and its derivatives by differentiating the definition with 60 digits."""
    with mpmath.workdps(60):
        sigma = mpmath.sqrt(mpmath.mpf(noise_variance) + mpmath.mpf(var))

        def log_z(m):  # Φ by erfc: mpmath's ncdf loses the tail to cancellation
            p = mpmath.erfc(-y * m / sigma / mpmath.sqrt(2)) / 2
            return mpmath.log(rate + (1 - 2 * mpmath.mpf(rate)) * p)

        return [float(mpmath.diff(log_z, mpmath.mpf(mean), n)) for n in range(3)]


@pytest.mark.parametrize(("noise_variance", "rate"), [(0.25, 0.0), (2.7, 0.0), (0.25, 0.1), (0.25, 1e-6), (1e-12, 0.1)])
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_derivatives_of_the_definition(noise_variance, rate, y):
    for mean, var in itertools.product(MEANS, VARIANCES):
        if noise_variance < 1e-6 and var < 1e-5:
            continue  # a step so steep that differences of any width miss it
        sigma = np.sqrt(noise_variance + var)
        wanted = exact(mean, var, y, noise_variance, rate)
        found = outcome(mean, var, y, noise_variance, rate)
        np.testing.assert_allclose(found[0], wanted[0], rtol=1e-11, atol=1e-15)
        np.testing.assert_allclose(found[1] * sigma, wanted[1] * sigma, rtol=1e-10, atol=1e-14)
        np.testing.assert_allclose(found[2] * sigma**2, wanted[2] * sigma**2, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("link", ["probit", Flip("probit", rate=0.1), Flip("probit", rate=0.0)])
@pytest.mark.parametrize("noise", [0.0, 0.5, 1.6474])
def test_equals_the_likelihood_in_numpy(link, noise):
    likelihood = OnlineLikelihood(link, noise)
    rng = np.random.default_rng(0)
    mean, var = rng.normal(size=400) * 10.0 ** rng.uniform(-2, 2, 400), 10.0 ** rng.uniform(-4, 3, 400)
    y = rng.choice([-1.0, 1.0], 400)
    ours = np.array([outcome(*row, *likelihood.closed_form) for row in zip(mean, var, y, strict=True)])
    log_z, d1, d2 = likelihood.moments(mean, var, y)
    np.testing.assert_allclose(ours[:, 0], log_z, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(ours[:, 1], d1, rtol=1e-9, atol=1e-300)
    # Where nearly all variance goes, rounding of what is left is all that differs.
    np.testing.assert_allclose(ours[:, 2] * var, d2 * var, rtol=1e-9, atol=2e-10)


@pytest.mark.parametrize("rate", [0.0, 0.1])
@pytest.mark.parametrize("noise_variance", [0.0, 0.25])
def test_extreme_confidence_leaves_a_positive_variance(rate, noise_variance):
    for mean, var, y in itertools.product([0.0, 1e3, -1e3, 1e12, -1e12], [1e-14, 1.0, 1e12], [-1.0, 1.0]):
        log_z, d1, d2 = outcome(mean, var, y, noise_variance, rate)
        assert np.isfinite([log_z, d1, d2]).all()
        assert log_z <= 0.0
        assert y * d1 >= 0.0
        assert 1.0 + d2 * var > 0.0


def test_a_document_without_words_at_a_hard_threshold_says_nothing():
    assert outcome(0.0, 0.0, 1.0, 0.0, 0.1) == (-np.log(2.0), 0.0, 0.0)


def test_learning_a_document_again_changes_nothing():
    """Where the site is the document's own, taking it out and learning it anew gives it back."""
    for mean, var, y in [(0.3, 2.0, 1.0), (-1.0, 0.5, 1.0), (2.0, 3.0, -1.0)]:
        _, first, second, precision, shift = refined_outcome(mean, var, y, 0.25, 0.05, 0.0, 0.0)
        assert (first, second) == pytest.approx(outcome(mean, var, y, 0.25, 0.05)[1:])
        after = mean + var * first, var + var * var * second
        log_z, *change = refined_outcome(*after, y, 0.25, 0.05, precision, shift)
        np.testing.assert_allclose(change, [0.0, 0.0, precision, shift], atol=1e-10)
        assert log_z == pytest.approx(outcome(mean, var, y, 0.25, 0.05)[0])


def test_a_site_that_cannot_be_taken_out_is_left_alone():
    log_z, *rest = refined_outcome(0.3, 2.0, 1.0, 0.25, 0.0, 0.5, 0.7)
    assert rest == [0.0, 0.0, 0.5, 0.7]
    assert log_z < 0.0
