"""Each prior against what is known of its family: limits, other libraries, and the mixture that defines it."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp
from scipy import integrate, stats

from references.optimality import slope_of
from textbayes.core.errors import InputError
from textbayes.priors.elastic_net import ElasticNet
from textbayes.priors.gaussian import Gaussian
from textbayes.priors.horseshoe import Horseshoe
from textbayes.priors.jeffreys import Jeffreys
from textbayes.priors.laplace import Laplace
from textbayes.priors.student_t import StudentT

W = np.array([-30.0, -2.0, -0.3, 0.01, 0.7, 5.0])


@pytest.mark.parametrize(("ratio", "limit"), [(0.0, Gaussian), (1.0, Laplace)])
def test_elastic_net_ends_in_gaussian_and_laplace(ratio, limit):
    ours, theirs = ElasticNet(0.7, 0.2, l1_ratio=ratio), limit(0.7, 0.2)
    for part in ("neg_log", "variance", "penalty"):
        np.testing.assert_allclose(getattr(ours, part)(W), getattr(theirs, part)(W), rtol=1e-13)


def test_elastic_net_ratio_per_word_and_label():
    prior = ElasticNet(1.0, 0.0, l1_ratio=[[0.0, 1.0], [0.5, 0.25]]).for_label(1, 2)
    np.testing.assert_array_equal(prior.local(np.zeros(2)).l1, [0.5, 0.25])
    np.testing.assert_array_equal(prior.take(np.array([1])).l1_ratio, [0.25])


def test_student_t_equals_scipy():
    np.testing.assert_allclose(
        StudentT(1.5, 0.3, degrees=2.5).neg_log(W), -stats.t(2.5, 0.3, 1.5).logpdf(W), rtol=1e-12
    )


def test_student_t_of_many_degrees_is_gaussian():
    np.testing.assert_allclose(slope_of(StudentT(2.0, degrees=1e9), W), slope_of(Gaussian(2.0), W), rtol=1e-6)


@pytest.mark.parametrize("w", [0.02, 0.9, 7.0])
def test_horseshoe_is_its_mixture(w):
    """p(w) = ∫ N(w; 0, (scale·λ)²) 2/(π(1 + λ²)) dλ."""
    scale = 0.6
    density = lambda x: stats.norm.pdf(w, scale=scale * x) * stats.halfcauchy.pdf(x)  # noqa: E731
    direct = sum(integrate.quad(density, *part, epsabs=1e-13)[0] for part in ((0.0, w), (w, 20 * w), (20 * w, np.inf)))
    assert np.exp(-Horseshoe(scale).neg_log(np.array([w]))[0]) == pytest.approx(direct, rel=1e-9)


@pytest.mark.parametrize("w", ["1e-100", "1e-3", "1", "9.99", "10.01", "1e3", "1e6"])
def test_horseshoe_is_precise_from_the_pole_to_the_tails(w):
    with mp.workdps(60):
        t = mp.mpf(w) ** 2 / 2
        f = mp.hyperu(1, 1, t)  # eᵗ E₁(t)
        expected = [-mp.log(f / mp.sqrt(2 * mp.pi**3)), (1 / (t * f) - 1) * mp.mpf(w)]
    ours = [part(np.array([float(w)]))[0] for part in (Horseshoe().neg_log, lambda w: slope_of(Horseshoe(), w))]
    np.testing.assert_allclose(ours, [float(value) for value in expected], rtol=1e-13)


@pytest.mark.parametrize(
    ("prior", "density"),
    [
        (Laplace(0.5), lambda tau: stats.expon.pdf(tau, scale=2 * 0.5**2)),  # rate γ/2 with √γ = 1/scale
        (Jeffreys(), lambda tau: 1.0 / tau),
        (StudentT(1.0, degrees=3.0), lambda tau: stats.invgamma.pdf(tau, 1.5, scale=1.5)),
        (Horseshoe(0.4), lambda tau: stats.halfcauchy.pdf(np.sqrt(tau) / 0.4) / np.sqrt(tau)),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
@pytest.mark.parametrize("w", [0.2, 1.5])
def test_variance_is_the_expectation_over_the_mixture(prior, density, w):
    """1 / E[1/τ | w], with p(τ | w) ∝ N(w; 0, τ) p(τ) integrated over log τ."""
    joint = lambda x, power: stats.norm.pdf(w, scale=np.exp(x / 2)) * density(np.exp(x)) * np.exp(x * (1 - power))  # noqa: E731
    mass, inverse = (integrate.quad(joint, -40, 40, args=(power,), limit=300, points=[0.0])[0] for power in (0, 1))
    assert prior.variance(np.array([w]))[0] == pytest.approx(mass / inverse, rel=1e-7)


def test_jeffreys_knows_no_scale_but_infinity():
    np.testing.assert_array_equal(slope_of(Jeffreys(0.1), W), slope_of(Jeffreys(50.0), W))
    np.testing.assert_array_equal(slope_of(Jeffreys(np.inf), W), 0.0)


@pytest.mark.parametrize("ratio", [-0.1, 1.1, np.nan])
def test_bad_ratio_is_refused(ratio):
    with pytest.raises(InputError, match="between 0"):
        ElasticNet(l1_ratio=ratio)


@pytest.mark.parametrize("degrees", [0.0, -2.0, np.nan, np.inf])
def test_bad_degrees_are_refused(degrees):
    with pytest.raises(InputError, match="positive and finite"):
        StudentT(degrees=degrees)
