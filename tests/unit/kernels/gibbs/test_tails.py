"""Draws of the Gibbs kernels against arbitrary precision and against scipy's distributions."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy import special, stats

from textbayes.kernels.gibbs import (
    excess,
    excess_within,
    exponential_within,
    half_cauchy_precisions,
    laplace_variances,
    normal_quantile,
    scaled_tail,
    truncated_excess,
    two_piece_slack,
)

N = 20_000
P_VALUE = 1e-3  # with fixed seeds: a test that passes once always passes


def uniforms(seed, n=N):
    return np.random.default_rng(seed).random(n)


@pytest.mark.parametrize("x", [-37.0, -5.0, -0.3, 0.0, 1e-9, 2.0, 7.5, 11.99, 12.0, 12.01, 30.0, 1e4, 1e100])
def test_scaled_tail_is_the_ratio_of_tail_and_density(x):
    with mpmath.workdps(60):
        wanted = mpmath.erfc(mpmath.mpf(x) / mpmath.sqrt(2)) / 2 if x < 1e3 else None
        ratio = 1 / mpmath.mpf(x) * (1 - 1 / mpmath.mpf(x) ** 2) if wanted is None else wanted / mpmath.npdf(x)
    assert scaled_tail(x) == pytest.approx(float(ratio), rel=1e-12)


def test_quantiles_invert_the_normal_distribution():
    p = np.concatenate(
        [10.0 ** -np.arange(1.0, 300.0, 7.0), np.linspace(0.01, 0.99, 99), 1 - 10.0 ** -np.arange(3, 15)]
    )
    found = np.array([normal_quantile(one) for one in p])
    np.testing.assert_allclose(found, special.ndtri(p), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("cut", [-40.0, -8.0, -1.0, 0.0, 3.0, 11.9, 12.1, 31.0, 500.0, 1e6])
@pytest.mark.parametrize("u", [1e-15, 1e-6, 0.2, 0.7, 0.999])
def test_excess_leaves_the_share_u_of_the_tail(cut, u):
    """Q(cut + t)/Q(cut) = u to 60 digits, up to the rounding of t."""
    t = excess(cut, u)
    with mpmath.workdps(60):
        a, b = (mpmath.erfc(x / mpmath.sqrt(2)) for x in (mpmath.mpf(cut), mpmath.mpf(cut) + mpmath.mpf(t)))
        hazard = mpmath.npdf(mpmath.mpf(cut) + mpmath.mpf(t)) / (b / 2) if cut + t < 1e3 else mpmath.mpf(cut)
        error = mpmath.log(b / a) - mpmath.log(u) if cut < 1e3 else None
    if error is None:  # so far out the excess is exponential
        assert t == pytest.approx(-np.log(u) / cut, rel=1e-9)
    else:
        typical = 1.0 / max(cut, 1.0)  # how large an excess is, which its error must be small against
        assert abs(float(error / hazard)) < 1e-12 * typical * max(1.0, abs(cut)) ** 1.0


@pytest.mark.parametrize("eta", [-45.0, -31.0, -6.0, -0.5, 0.0, 0.5, 6.0, 45.0])
@pytest.mark.parametrize("spread", [0.2, 1.0, 7.0])
def test_truncated_normals_have_their_distribution(eta, spread):
    out = np.empty(N)
    truncated_excess(np.full(N, eta), np.full(N, spread), uniforms(1), out)
    cut = -eta / spread
    assert (out >= 0.0).all()

    def cdf(t):
        return -np.expm1(special.log_ndtr(-(cut + t / spread)) - special.log_ndtr(-cut))

    assert stats.kstest(out, cdf).pvalue > P_VALUE


@pytest.mark.parametrize("cut", [-40.0, -9.0, -2.0, -0.1, 0.0, 1.5, 13.0, 40.0])
@pytest.mark.parametrize("width", [1e-7, 0.01, 0.5, 3.0, 60.0])
def test_normals_between_two_cuts_have_their_distribution(cut, width):
    out = np.array([excess_within(cut, width, u) for u in uniforms(2, 4000)])
    assert (out >= 0.0).all()
    assert (out <= width).all()
    with mpmath.workdps(60):

        def tail(x):
            return mpmath.erfc(x / mpmath.sqrt(2)) / 2

        def mass(a, b):  # by the tail that is small: of 1 − Q(40), 60 digits tell nothing
            if a >= 0:
                return tail(a) - tail(b)
            return tail(-b) - tail(-a) if b <= 0 else 1 - tail(-a) - tail(b)

        start = mpmath.mpf(cut)
        grid = np.quantile(out, np.linspace(0.02, 0.98, 49))
        wanted = [float(mass(start, start + t) / mass(start, start + width)) for t in grid]
    # The quantiles of 4,000 uniform numbers are within 0.03 of their places with probability 0.997.
    np.testing.assert_allclose(wanted, np.linspace(0.02, 0.98, 49), atol=0.03)


@pytest.mark.parametrize(("rate", "width"), [(0.0, 2.0), (3.0, 0.5), (1e-9, 5.0), (-2.0, 1.0), (50.0, np.inf)])
def test_exponentials_on_an_interval(rate, width):
    out = np.array([exponential_within(rate, width, u) for u in uniforms(3)])
    law = stats.uniform(0.0, width) if abs(rate * width) < 1e-6 else None
    cdf = law.cdf if law else (lambda t: np.expm1(-rate * t) / np.expm1(-rate * width))
    assert stats.kstest(out, cdf).pvalue > P_VALUE


@pytest.mark.parametrize("offset", [1e-200, 1e-12, 1e-3, 0.4, -3.0, 1e3])
@pytest.mark.parametrize("rate", [0.447, 5.0])
def test_laplace_variances_are_inverse_gaussian(offset, rate):
    rng, out = np.random.default_rng(4), np.empty(N)
    laplace_variances(np.full(N, offset), np.full(N, rate), rng.standard_normal(N), rng.random(N), out)
    assert np.isfinite(out).all()
    assert (out > 0.0).all()
    mean, shape = rate / abs(offset), rate**2
    # 1/τ is Lévy (λ over a chi-square) where its mean is infinite for all that floats can say.
    law = stats.invgauss(mean / shape, scale=shape) if mean < 1e6 else stats.levy(scale=shape)
    assert stats.kstest(1.0 / out, law.cdf).pvalue > P_VALUE


def test_laplace_variances_at_the_mean_and_without_a_rate():
    out = np.empty(2)
    laplace_variances(np.zeros(2), np.array([2.0, 0.0]), np.array([1.0, 1.0]), np.array([0.5, 0.5]), out)
    np.testing.assert_array_equal(out, [0.25, np.inf])  # y/λ = 1/4; no penalty, no variance


def test_a_laplace_weight_is_a_normal_whose_variance_is_drawn():
    """Both conditionals together leave the Laplace density as it is."""
    rng = np.random.default_rng(5)
    w = rng.laplace(0.0, 2.0, N)
    tau = np.empty(N)
    laplace_variances(w, np.full(N, 0.5), rng.standard_normal(N), rng.random(N), tau)
    assert stats.kstest(tau, stats.expon(scale=8.0).cdf).pvalue > P_VALUE  # rate λ/2 = 1/8
    assert stats.kstest(np.sqrt(tau) * rng.standard_normal(N), stats.laplace(scale=2.0).cdf).pvalue > P_VALUE


def test_half_cauchy_precisions_leave_the_joint_distribution_as_it_is():
    """λ half-Cauchy and u ~ N(0, λ²): 1/λ² drawn anew given u has the distribution it had, and so has u."""
    rng, out = np.random.default_rng(6), np.empty(N)
    spread = np.abs(rng.standard_cauchy(N))
    u = spread * rng.standard_normal(N)
    precision = spread**-2.0
    for _ in range(20):
        half_cauchy_precisions(u**2, precision, rng.random(N), rng.random(N), out)
        precision = out.copy()
        u = rng.standard_normal(N) / np.sqrt(precision)
    assert stats.kstest(1.0 / np.sqrt(precision), stats.halfcauchy.cdf).pvalue > P_VALUE
    assert np.isfinite(u).all()


def test_extreme_offsets_of_the_horseshoe_stay_numbers():
    out = np.empty(3)
    half_cauchy_precisions(np.array([0.0, 1e-300, 1e300]), np.array([1.0, 1e150, 1e-150]), np.full(3, 0.5),
                           np.full(3, 0.5), out)  # fmt: skip
    assert (out > 0.0).all()
    assert np.isfinite(out).all()


@pytest.mark.parametrize("margin", [-2.0, 0.3, 40.0])
@pytest.mark.parametrize("skew", [0.4, 1.0, 2.5])
def test_two_piece_errors_are_told_with_their_side(margin, skew):
    """e = margin − slack is below the margin; per unit of its side it is e/skew on the right, e·skew on the left."""
    rng, n = np.random.default_rng(8), 4000
    omega, slack, standard = rng.gamma(2.0, 0.5, n), np.empty(n), np.empty(n)
    two_piece_slack(np.full(n, margin), np.full(n, skew), omega, *rng.random((2, n)), slack, standard)
    error = margin - slack
    assert (slack >= 0.0).all()
    side = np.where(error > 0.0, error / skew, error * skew)
    np.testing.assert_allclose(np.abs(standard), np.abs(side), atol=1e-9)
    if margin == 40.0:  # as good as unbounded: mass skew²/(1 + skew²) on the right, half-normal on either side
        share = (error > 0.0).mean()
        wanted = skew**2 / (1.0 + skew**2)
        assert abs(share - wanted) < 4.5 * np.sqrt(wanted * (1.0 - wanted) / n)
        assert stats.kstest(np.abs(standard) * np.sqrt(omega), stats.halfnorm.cdf).pvalue > 1e-3
