"""Equations of Eyheramendy & Madigan (2007), each against numerical integration or a transcription of its own.

The printed 11 to 15 mix a cut at x'β with one at 0 and are damaged. What is held here is the model that the paper
states, P(y = 1) = T_{ν,δ}(x'β): with z = x'β − e and y = 1 where z > 0, the noise e has the two-piece density of eq. 1,
stretched by a(e) = 1/δ above its mode and δ below. 12 and 13 are then E[λ a² z | y], 14 and 15 E[λ a² | y].
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import optimize, sparse, stats

from references.optimality import working_response
from textbayes.inference import FitInfo, Posterior, Problem
from textbayes.inference.em import Em
from textbayes.inference.starts import least_squares_start
from textbayes.links.probit import Probit
from textbayes.links.skew_t import SkewLatent, SkewT
from textbayes.links.student_t import StudentT
from textbayes.priors.laplace import Laplace
from textbayes.reproduce.flexlink.systems import GridFit, derived_rate

DFS, SKEWS, ETAS = (1.0, 2.0, 8.0, 100.0), (0.1, 0.5, 1.0, 1.5, 10.0), (-3.0, -0.2, 0.0, 0.4, 4.0)
GAMMA = 0.3


# -- integrals --------------------------------------------------------------------------------------------------------
def double_exponential(function, low, high, n=600):
    """∫ function over an interval, by the rule of Takahasi & Mori (1974); ends may be infinite, not both."""
    if low == -np.inf:
        return double_exponential(lambda x: function(-x), -high, np.inf, n)
    t = np.linspace(-4.0, 4.0, n)
    u, slope = np.pi / 2.0 * np.sinh(t), np.pi / 2.0 * np.cosh(t)
    if high == np.inf:
        x, weight = np.exp(u), slope * np.exp(u)
    else:
        share = 1.0 / (1.0 + np.exp(-2.0 * u))
        x, weight = (high - low) * share, (high - low) * 2.0 * slope * share * (1.0 - share)
    kept = np.isfinite(weight) & (weight > 0.0)
    return float(np.sum(function(low + x[kept]) * weight[kept]) * (t[1] - t[0]))


def stretch(e, skew):
    return np.where(e >= 0.0, 1.0 / skew, skew)


def two_piece(e, skew, density):
    return 2.0 / (skew + 1.0 / skew) * density(e * stretch(e, skew))


def integral(function, low, high):
    """Over an interval, cut at 0, where the pieces meet."""
    cuts = [low, *([0.0] if low < 0.0 < high else []), high]
    return sum(double_exponential(function, *ends) for ends in itertools.pairwise(cuts))


def given_outcome(function, eta, y, density):
    """E[function(e) | y]: e lies below eta where y = 1, and above it where y = −1."""
    ends = (-np.inf, eta) if y > 0.0 else (eta, np.inf)
    return integral(lambda e: function(e) * density(e), *ends) / integral(density, *ends)


def over_precisions(function, df):
    """∫ function(λ) Gamma(λ; ν/2, 2/ν) dλ, in which the mean is 1."""
    prior = stats.gamma(df / 2.0, scale=2.0 / df)
    return sum(double_exponential(lambda p: prior.pdf(p) * function(p), *ends) for ends in ((0.0, 1.0), (1.0, np.inf)))


# -- the model ------------------------------------------------------------------------------------------------------
@pytest.mark.equation("flexlink", "1")
@pytest.mark.parametrize("skew", SKEWS)
@pytest.mark.parametrize("df", DFS)
def test_two_piece_density(df, skew):
    """The slope of the link's cdf, p · score, is the density."""
    eta, ones = np.array([-3.0, -0.2, 0.4, 4.0]), np.ones(4)
    link = SkewT(df, skew)
    expected = two_piece(eta, skew, stats.t(df).pdf)
    np.testing.assert_allclose(link.probability(eta) * link.score(eta, ones), expected, rtol=1e-9)


@pytest.mark.equation("flexlink", "2")
def test_rule_is_above_one_half():
    """Weights −1, 0 and 2 of one word: p is below, at and above ½."""
    none = np.zeros(3)
    info = FitInfo(none, none, none.astype(int), none.astype(bool))
    posterior = Posterior(np.array([[-1.0], [0.0], [2.0]]), none, None, info)
    decided = GridFit(8.0, 1.0, StudentT(8.0), posterior).decide(np.ones((1, 1)))
    assert decided.tolist() == [[False, False, True]]


@pytest.mark.equation("flexlink", "3")
@pytest.mark.parametrize("skew", SKEWS)
@pytest.mark.parametrize("y", [1.0, -1.0])
def test_two_piece_normal_given_the_precision(y, skew):
    precision, sign = 2.5, np.array([y])
    latent = SkewLatent(sign, SkewT(4.0, skew))
    latent.omega = np.array([precision])
    normal = stats.norm(scale=precision**-0.5).pdf
    for eta in ETAS:
        ends = (-np.inf, eta) if y > 0.0 else (eta, np.inf)
        expected = integral(lambda e: two_piece(e, skew, normal), *ends)
        assert np.exp(latent.log_prob(np.array([eta]), sign)[0]) == pytest.approx(expected, rel=1e-8)


@pytest.mark.equation("flexlink", "4")
@pytest.mark.parametrize("skew", [0.5, 1.5])
@pytest.mark.parametrize("df", DFS)
def test_precisions_integrate_to_the_skewed_student_t(df, skew):
    link, one = SkewT(df, skew), np.ones(1)
    for e in (-1.3, 0.4, 3.0):
        expected = over_precisions(lambda p, e=e: two_piece(e, skew, stats.norm(scale=p**-0.5).pdf), df)
        at = np.array([e])
        assert link.probability(at)[0] * link.score(at, one)[0] == pytest.approx(expected, rel=1e-8)


# -- the E-step -----------------------------------------------------------------------------------------------------
@pytest.mark.equation("flexlink", "6")
@pytest.mark.parametrize("y", [1.0, -1.0])
@pytest.mark.parametrize("df", DFS)
def test_expected_precision(df, y):
    """As printed, and as the integral of λ over p(λ | y) ∝ p(λ) Φ(√λ y x'β)."""
    eta, sign = np.array(ETAS), np.full(len(ETAS), y)
    got = StudentT(df).expectation(eta, sign).weight
    printed = stats.t.cdf(y * eta * np.sqrt((df + 2.0) / df), df + 2.0) / stats.t.cdf(y * eta, df)
    np.testing.assert_allclose(got, printed, rtol=1e-10)
    for m, weight in zip(y * eta, got, strict=True):
        parts = [over_precisions(lambda p, k=k, m=m: p**k * stats.norm.cdf(np.sqrt(p) * m), df) for k in (1, 0)]
        assert weight == pytest.approx(parts[0] / parts[1], rel=1e-8)


@pytest.mark.equation("flexlink", "7")
@pytest.mark.parametrize("y", [1.0, -1.0])
def test_expected_response_given_the_precision(y):
    """A normal of precision λ cut at 0 is a unit one of √λ x'β, in units of 1/√λ."""
    eta, sign, root = np.array(ETAS), np.full(len(ETAS), y), np.sqrt(2.5)
    z, weight = working_response(Probit(), root * eta, sign)
    ends = (-root * eta, np.inf) if y > 0.0 else (-np.inf, -root * eta)
    np.testing.assert_allclose(z / root, stats.truncnorm(*ends, loc=eta, scale=1.0 / root).mean(), rtol=1e-8)
    np.testing.assert_array_equal(weight, 1.0)


@pytest.mark.equation("flexlink", "8")
@pytest.mark.parametrize("y", [1.0, -1.0])
@pytest.mark.parametrize("df", DFS)
def test_expected_precision_times_response(df, y):
    """E[λ E[z | λ, y] | y] with eq. 7, integrated over p(λ | y)."""
    eta, sign = np.array(ETAS), np.full(len(ETAS), y)
    link = StudentT(df)
    got = eta * link.expectation(eta, sign).weight + link.score(eta, sign)
    for x, value in zip(eta, got, strict=True):

        def numerator(p, x=x):
            root = np.sqrt(p)
            return p * x * stats.norm.cdf(y * root * x) + y * root * stats.norm.pdf(root * x)

        total = over_precisions(lambda p, x=x: stats.norm.cdf(y * np.sqrt(p) * x), df)
        assert value == pytest.approx(over_precisions(numerator, df) / total, rel=1e-8, abs=1e-10)


@pytest.mark.equation("flexlink", "9")
@pytest.mark.parametrize("weight", [0.05, -0.7, 3.0])
def test_expected_inverse_variance(weight):
    """τ ~ (γ/2) exp(−γτ/2) and N(β; 0, τ): E[1/τ | β] = √γ/|β|. The print has γ in place of √γ."""

    def joint(tau, power):
        density = GAMMA / 2.0 * np.exp(-GAMMA * tau / 2.0) * stats.norm.pdf(weight, scale=np.sqrt(tau))
        return density / tau**power

    parts = [double_exponential(lambda tau, power=power: joint(tau, power), 0.0, np.inf) for power in (1, 0)]
    variance = Laplace(1.0 / derived_rate(GAMMA)).variance(np.array([weight]))[0]
    assert 1.0 / variance == pytest.approx(parts[0] / parts[1], rel=1e-8)


@pytest.mark.equation("flexlink", "12", "13")
@pytest.mark.parametrize("y", [1.0, -1.0])
@pytest.mark.parametrize("skew", SKEWS)
@pytest.mark.parametrize("df", DFS)
def test_expected_weighted_response_of_the_skewed_link(df, skew, y):
    link, sign = SkewT(df, skew), np.array([y])
    for eta in ETAS:

        def weighted(e, eta=eta):
            a = stretch(e, skew)
            return (df + 1.0) / (df + (a * e) ** 2) * a**2 * (eta - e)

        expected = given_outcome(weighted, eta, y, lambda e: two_piece(e, skew, stats.t(df).pdf))
        at = np.array([eta])
        got = eta * link.expectation(at, sign).weight[0] + link.score(at, sign)[0]
        assert got == pytest.approx(expected, rel=1e-8, abs=1e-9)


@pytest.mark.equation("flexlink", "14", "15")
@pytest.mark.parametrize("y", [1.0, -1.0])
@pytest.mark.parametrize("skew", SKEWS)
@pytest.mark.parametrize("df", DFS)
def test_expected_precision_of_the_skewed_link(df, skew, y):
    """Given e alone λ is Gamma((ν + 1)/2, (ν + a²e²)/2), so E[λ | e] = (ν + 1)/(ν + a²e²)."""

    def precision(e):
        a = stretch(e, skew)
        return a**2 * (df + 1.0) / (df + (a * e) ** 2)

    for eta in ETAS:
        expected = given_outcome(precision, eta, y, lambda e: two_piece(e, skew, stats.t(df).pdf))
        got = SkewT(df, skew).expectation(np.array([eta]), np.array([y])).weight[0]
        assert got == pytest.approx(expected, rel=1e-8)


# -- the M-step -----------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    H = (rng.random((80, 6)) < 0.4).astype(float)
    y = np.where(H @ np.array([2.0, -1.5, 1.0, 0.0, 0.0, 0.5]) + rng.standard_t(2, 80) > 0.3, 1.0, -1.0)
    return H, y, rng.normal(size=6)


def problem(H, y, link):
    columns = sparse.csc_matrix(H)
    arrays = columns.data, columns.indices.astype(np.int32), columns.indptr.astype(np.int32)
    X = sparse.csc_matrix(arrays, shape=H.shape)
    return Problem(X, y[:, None], link, Laplace(1.0 / derived_rate(GAMMA)), None)


def one_step(given, beta):
    none = np.zeros(1)
    info = FitInfo(none, none, none.astype(int), none.astype(bool))
    method = Em(max_iter=1, plain=True)
    method.trace = []
    method.run(given, Posterior(beta[None], none, None, info))
    return method.trace[1].w


@pytest.mark.equation("flexlink", "5", "10")
@pytest.mark.parametrize("df", [1.0, 8.0, 30.0])
def test_step_of_the_symmetric_case(data, df):
    """β′ = (H'A*H + W*)⁻¹ H'z* with eq. 6, 8 and 9 typed in, and no step of eq. 5's expectation goes higher."""
    H, y, beta = data
    eta, label = H @ beta, (y + 1.0) / 2.0
    tail = np.where(label == 1, stats.t.cdf(eta, df), stats.t.cdf(-eta, df))
    A = stats.t.cdf(np.where(label == 1, eta, -eta) * np.sqrt((df + 2.0) / df), df + 2.0) / tail
    z = eta * A + np.where(label == 1, 1.0, -1.0) * stats.t.pdf(eta, df) / tail
    W = np.diag(np.sqrt(GAMMA) / np.abs(beta))
    step = np.linalg.solve(H.T @ (A[:, None] * H) + W, H.T @ z)
    got = one_step(problem(H, y, StudentT(df)), beta)
    np.testing.assert_allclose(got, step, rtol=1e-9)

    def expected_log_posterior(b):
        return 2.0 * b @ H.T @ z - b @ (H.T @ (A[:, None] * H) + W) @ b

    best = optimize.minimize(lambda b: -expected_log_posterior(b), beta, method="BFGS", options={"gtol": 1e-8}).x
    np.testing.assert_allclose(got, best, rtol=1e-5, atol=1e-6)


@pytest.mark.equation("flexlink", "11")
@pytest.mark.parametrize(("df", "skew"), [(1.0, 1.5), (8.0, 0.5), (2.0, 2.0)])
def test_step_of_the_general_case_is_newtons_for_the_expected_log_posterior(data, df, skew):
    """Q(β) = −½ Σ E[λ a(e)² e²] − ½ β'W*β, e = x'β − z, integrated anew at every β: its slope and bend at the start."""
    H, y, beta = data
    H, y = H[:12], y[:12]
    eta0, h = H @ beta, 1e-4

    def cost(i, shift):
        """½ E[λ a(e + shift)² (e + shift)² | y] with e, λ as they are at eta0, cut where either stretch changes."""
        low, high = (-np.inf, eta0[i]) if y[i] > 0.0 else (eta0[i], np.inf)

        def at(e):
            precision = (df + 1.0) / (df + (stretch(e, skew) * e) ** 2)
            return precision * (stretch(e + shift, skew) * (e + shift)) ** 2 * two_piece(e, skew, stats.t(df).pdf)

        mass = integral(lambda e: two_piece(e, skew, stats.t(df).pdf), low, high)
        cuts = sorted({low, high, *(c for c in (-shift, 0.0) if low < c < high)})
        return 0.5 * sum(double_exponential(at, *ends) for ends in itertools.pairwise(cuts)) / mass

    costs = np.array([[cost(i, shift) for shift in (-h, 0.0, h)] for i in range(len(y))])
    slope, bend = (costs[:, 2] - costs[:, 0]) / (2 * h), (costs[:, 0] - 2 * costs[:, 1] + costs[:, 2]) / h**2
    W = np.sqrt(GAMMA) / np.abs(beta)
    newton = np.linalg.solve(H.T @ (bend[:, None] * H) + np.diag(W), H.T @ slope + W * beta)
    np.testing.assert_allclose(one_step(problem(H, y, SkewT(df, skew)), beta), beta - newton, rtol=1e-3, atol=1e-3)


@pytest.mark.equation("flexlink", "start")
def test_start_is_least_squares_of_zeros_and_ones(data):
    H, y, _ = data
    expected = np.linalg.solve(1e-6 * np.eye(6) + H.T @ H, H.T @ (y > 0.0))
    start = least_squares_start(problem(H, y, StudentT(1.0)), negative=0.0)
    np.testing.assert_allclose(start.mean[0], expected, rtol=1e-9)


@pytest.mark.equation("flexlink", "stop")
@pytest.mark.parametrize("df", [1.0, 30.0])
def test_steps_end_where_the_relative_change_is_small(data, df):
    H, y, beta = data
    none = np.zeros(1)
    info = FitInfo(none, none, none.astype(int), none.astype(bool))
    method = Em(0.005, 2000, plain=True)
    method.trace = []
    fit = method.run(problem(H, y, StudentT(df)), Posterior(beta[None], none, None, info))
    steps = np.array([step.w for step in method.trace])
    change = np.linalg.norm(np.diff(steps, axis=0), axis=1) / np.linalg.norm(steps[:-1], axis=1)
    assert (change[:-1] > 0.005).all()
    assert change[-1] <= 0.005
    np.testing.assert_array_equal(fit.mean[0], steps[-1])
