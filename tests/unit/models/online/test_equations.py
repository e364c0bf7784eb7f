"""Equations of the online paper against transcriptions of their own, letter by letter as printed."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, sparse, special, stats

from textbayes.decide.expected_f1 import expected_f1_thresholds
from textbayes.evaluate import ContingencyTable, average_log_evidence, contingency, f_measure, t9p
from textbayes.models.online import (
    PAPER_FLIP,
    PAPER_LOGIT,
    PAPER_PROBIT,
    RBF,
    FullPosterior,
    GaussianProcess,
    Polynomial,
    expected_information_gain,
    information_gain,
)
from textbayes.select import scores
from textbayes.stream import paper_rate, paper_threshold
from textbayes.text import TermWeighting

KAPPA = 0.1


@pytest.mark.equation("online", "2.2")
def test_ltc_weights():
    tf = np.array([[3.0, 0.0, 1.0], [1.0, 2.0, 0.0], [0.0, 5.0, 1.0], [2.0, 0.0, 0.0]])
    found = TermWeighting("ltc").fit_transform(sparse.csr_matrix(tf)).toarray()
    n = (tf > 0).sum(axis=0)
    for d in range(4):
        lt = [(1.0 + math.log2(tf[d, i])) * math.log2(4 / n[i]) if tf[d, i] else 0.0 for i in range(3)]
        np.testing.assert_allclose(found[d], np.array(lt) / math.sqrt(sum(value**2 for value in lt)), rtol=1e-12)


@pytest.mark.equation("online", "2.3")
def test_the_likelihood_ratio():
    rng = np.random.default_rng(0)
    X, relevant = rng.random((50, 4)) < 0.4, rng.random(50) < 0.3
    found = scores.get("likelihood_ratio")(sparse.csr_matrix(X * 1.0), relevant[:, None]).scores[0]
    for j in range(4):
        r, n = (X[relevant, j].sum(), (~X[relevant, j]).sum()), (X[~relevant, j].sum(), (~X[~relevant, j]).sum())
        log_top = sum(r) * math.log(sum(r) / 50) + sum(n) * math.log(sum(n) / 50)
        log_low = sum(
            special.xlogy(r[k], r[k] / (r[k] + n[k])) + special.xlogy(n[k], n[k] / (r[k] + n[k])) for k in range(2)
        )
        assert found[j] == pytest.approx(-2.0 * (log_top - log_low), rel=1e-9)


@pytest.mark.equation("online", "2.4 F1", "2.4 T9P")
def test_measures():
    truth, said = np.array([[1, 0], [1, 1], [0, 0], [0, 1]], bool), np.array([[1, 1], [0, 1], [1, 0], [0, 1]], bool)
    table = contingency(truth, said)
    recall, precision = 3 / 4, 3 / 5
    assert f_measure(table, "micro") == pytest.approx(2 * recall * precision / (recall + precision))
    each = [2 * 0.5 * 0.5 / (0.5 + 0.5), 2 * 1.0 * (2 / 3) / (1.0 + 2 / 3)]
    assert f_measure(table, "macro") == pytest.approx(np.mean(each))
    tables = ContingencyTable(*(np.array(part, float) for part in ([12, 40], [8, 40], [5, 5], [0, 0])))
    np.testing.assert_allclose(t9p(tables), [12 / 50, 40 / 80])


def probability(likelihood, margin):
    """p(y | h) of y·h: Φ(yh/σ₀), or κ + (1 − 2κ)Θ(yh)."""
    if likelihood is PAPER_FLIP:
        return np.where(margin > 0.0, 1.0 - KAPPA, KAPPA)
    return special.ndtr(margin / likelihood.noise)


def problem(seed=0):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(4, 4))
    x, y = np.append(1.0, rng.random(3)), float(rng.choice([-1.0, 1.0]))
    return rng.normal(size=4), root @ root.T / 3.0 + 0.2 * np.eye(4), x, y


def moments_of_h(likelihood, mean, cov, x, y):
    """∫ p(y|h) N(h), and mean and variance of h after y, by quadrature on either side of 0."""
    m, v = x @ mean, x @ cov @ x
    found = []
    for power in range(3):

        def integrand(h, power=power):
            return h**power * probability(likelihood, y * h) * stats.norm.pdf(h, m, math.sqrt(v))

        cuts = sorted({m - 12 * math.sqrt(v), min(max(0.0, m - 12 * math.sqrt(v)), m + 12 * math.sqrt(v))})
        cuts.append(m + 12 * math.sqrt(v))
        found.append(sum(integrate.quad(integrand, a, b, limit=200, epsabs=1e-13)[0] for a, b in pairwise(cuts)))
    return found[0], found[1] / found[0], found[2] / found[0] - (found[1] / found[0]) ** 2


@pytest.mark.equation(
    "online", "3 predictive", "3 update", "3.1 likelihood", "3.1 update", "4.2 likelihood", "4.2 update"
)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("likelihood", [PAPER_PROBIT, PAPER_LOGIT, PAPER_FLIP], ids=["probit", "logit", "flip"])
def test_an_update_has_the_mean_and_covariance_of_bayes_rule(likelihood, seed):
    mean, cov, x, y = problem(seed)
    z, h_mean, h_var = moments_of_h(likelihood, mean, cov, x, y)
    start = FullPosterior(np.arange(3), mean, cov, np.zeros(4), np.ones(4))
    learnt, info = start.learn(x[None, 1:], [y], likelihood)
    # The weights given h are Gaussian whatever y is: their moments follow from those of h.
    gain = cov @ x / (x @ cov @ x)
    np.testing.assert_allclose(learnt.mean, mean + gain * (h_mean - x @ mean), atol=1e-8)
    np.testing.assert_allclose(learnt.cov, cov + np.outer(gain, gain) * (h_var - x @ cov @ x), atol=1e-8)
    assert np.exp(info.log_prob[0, 0]) == pytest.approx(z, abs=1e-10)
    plus = likelihood.predictive(*start.predict(x[None, 1:]))[0, 0]
    assert plus == pytest.approx(z if y > 0 else 1.0 - z, abs=1e-10)


@pytest.mark.equation("online", "3.1.1")
def test_the_algorithm_step_by_step():
    rng = np.random.default_rng(1)
    X, y = np.hstack([np.ones((20, 1)), rng.random((20, 3))]), rng.choice([-1.0, 1.0], 20)
    a, C = np.zeros(4), np.eye(4)  # 1
    for x, outcome in zip(X, y, strict=True):  # 2, 3
        s = C @ x  # 4
        sigma = math.sqrt(0.5**2 + x @ C @ x)
        h = a @ x
        p = stats.norm.cdf(outcome * h / sigma)
        u = outcome * h / sigma  # 5
        box = math.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi)
        first = outcome / sigma * box / p  # 6
        second = -1.0 / sigma**2 * (u * box / p + (box / p) ** 2)  # 7
        a, C = a + s * first, C + np.outer(s, s) * second  # 8
    found, _ = FullPosterior.start(range(3)).learn(X[:, 1:], y, PAPER_PROBIT)
    np.testing.assert_allclose(found.mean, a, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.cov, C, rtol=1e-10, atol=1e-12)


KERNELS = {
    "GP-1": (Polynomial(1), lambda A, B: A @ B.T + 1.0),
    "GP-2": (Polynomial(2), lambda A, B: (A @ B.T + 1.0) ** 2),
    "GP-R1": (RBF(), lambda A, B: np.exp(-0.5 * ((A[:, None] - B) ** 2).sum(axis=2))),
}


@pytest.mark.equation("online", "3.2 update", "Table 1", "A.3")
@pytest.mark.parametrize("name", KERNELS)
def test_the_process_without_projection(name):
    """Every document joins: s = C k + e_{t+1}, σ² = σ₀² + k* + k'C k, ⟨h⟩ = ⟨a⟩'k."""
    kernel, written = KERNELS[name]
    rng = np.random.default_rng(2)
    X, y, new = rng.random((8, 3)), rng.choice([-1.0, 1.0], 8), rng.random((4, 3))
    a, C = np.zeros(0), np.zeros((0, 0))
    for t in range(8):
        k = written(X[:t], X[t : t + 1])[:, 0]
        own = written(X[t : t + 1], X[t : t + 1])[0, 0] + 1e-4
        sigma = math.sqrt(0.25 + own + k @ C @ k)
        u = y[t] * (a @ k) / sigma
        r = stats.norm.pdf(u) / stats.norm.cdf(u)
        s = np.append(C @ k, 1.0)
        a = np.append(a, 0.0) + s * y[t] * r / sigma
        C = np.pad(C, (0, 1)) - np.outer(s, s) * r * (r + u) / sigma**2
    found, _ = GaussianProcess.start(range(3), kernel, 8, tolerance=0.0).learn(X, y, PAPER_PROBIT)
    mean, var = found.predict(new)
    k = written(new, X)
    own = np.diag(written(new, new)) + 1e-4
    assert found.n_basis == 8
    np.testing.assert_allclose(mean[:, 0], k @ a, rtol=1e-8)
    np.testing.assert_allclose(var[:, 0], own + np.einsum("ij,jk,ik->i", k, C, k), rtol=1e-7)


@pytest.mark.equation("online", "3.2 projection", "3.2 error")
def test_a_document_near_the_basis_is_projected():
    """ê = K⁻¹k in place of the unit vector where ε = (k* − k'K⁻¹k) ∂ ln⟨p⟩ is small."""
    kernel, written = KERNELS["GP-R1"]
    rng = np.random.default_rng(3)
    X, y = rng.random((4, 2)), np.array([1.0, -1.0, 1.0, 1.0])
    base, _ = GaussianProcess.start(range(2), kernel, 9, tolerance=0.0).learn(X[:3], y[:3], PAPER_PROBIT)
    K = written(X[:3], X[:3]) + 1e-4 * np.eye(3)
    k, own = written(X[:3], X[3:])[:, 0], 1.0 + 1e-4
    (mean, var) = (part[0, 0] for part in base.predict(X[3:]))
    sigma = math.sqrt(0.25 + var)
    r = stats.norm.pdf(y[3] * mean / sigma) / stats.norm.cdf(y[3] * mean / sigma)
    first, second = y[3] * r / sigma, -r * (r + y[3] * mean / sigma) / sigma**2
    error = abs((own - k @ np.linalg.solve(K, k)) * first)
    for tolerance, n_basis in ((1.01 * error, 3), (0.99 * error, 4)):
        start = GaussianProcess.start(range(2), kernel, 9, tolerance=0.0).learn(X[:3], y[:3], PAPER_PROBIT)[0]
        start.tolerance = tolerance
        assert start.learn(X[3:], y[3:], PAPER_PROBIT)[0].n_basis == n_basis
    base.tolerance = 1.01 * error
    lower = np.tril(base.covariance[:3, :3] - base.inverse[:3, :3])
    C = lower + np.tril(lower, -1).T
    s = C @ k + np.linalg.solve(K, k)
    projected, _ = base.learn(X[3:], y[3:], PAPER_PROBIT)
    new = rng.random((5, 2))
    after = written(new, X[:3])
    np.testing.assert_allclose(projected.predict(new).mean[:, 0], after @ (base.mean + first * s), rtol=1e-8)
    expected = 1.0 + 1e-4 + np.einsum("ij,jk,ik->i", after, C + second * np.outer(s, s), after)
    np.testing.assert_allclose(projected.predict(new).var[:, 0], expected, rtol=1e-7)


@pytest.mark.equation("online", "3 IG")
def test_information_is_the_distance_of_the_posteriors():
    mean, cov, x, y = problem(4)
    start = FullPosterior(np.arange(3), mean, cov, np.zeros(4), np.ones(4))
    after, _ = start.learn(x[None, 1:], [y], PAPER_PROBIT)
    inverse, moved = np.linalg.inv(cov), after.mean - mean
    distance = 0.5 * (
        np.trace(inverse @ after.cov) + moved @ inverse @ moved - 4.0
        + np.linalg.slogdet(cov)[1] - np.linalg.slogdet(after.cov)[1]
    )  # fmt: skip
    found = information_gain(x @ mean, x @ cov @ x, y, PAPER_PROBIT)
    assert found == pytest.approx(distance / math.log(2.0), rel=1e-8)


@pytest.mark.equation("online", "4.2 IG", "4.2.3 expected IG")
def test_the_printed_information_of_flipped_labels():
    """log₂ κ + Φ(y⟨h⟩_{t+1}/σ̂) log₂((1 − κ)/κ) − log₂⟨p⟩, and its mean over the outcomes."""
    mean, cov, x, _ = problem(5)
    start = FullPosterior(np.arange(3), mean, cov, np.zeros(4), np.ones(4))
    m, v, expected = x @ mean, x @ cov @ x, 0.0
    for y in (-1.0, 1.0):
        after, _ = start.learn(x[None, 1:], [y], PAPER_FLIP)
        p = KAPPA + (1.0 - 2.0 * KAPPA) * stats.norm.cdf(y * m / math.sqrt(v))
        inside = stats.norm.cdf(y * (x @ after.mean) / math.sqrt(x @ after.cov @ x))
        printed = math.log2(KAPPA) + inside * math.log2((1.0 - KAPPA) / KAPPA) - math.log2(p)
        assert information_gain(m, v, y, PAPER_FLIP, "paper") == pytest.approx(printed, rel=1e-8)
        expected += p * printed
    assert expected_information_gain(m, v, PAPER_FLIP, "paper") == pytest.approx(expected, rel=1e-8)


@pytest.mark.equation("online", "4.1.2")
def test_expected_f1():
    p = np.array([0.9, 0.6, 0.35, 0.2, 0.05])
    _, found = expected_f1_thresholds(p[:, None], "lewis")
    expected = [np.prod(1.0 - p)] + [2.0 * p[:n].sum() / (n + p.sum()) for n in range(1, 6)]
    assert found[0] == pytest.approx(max(expected))
    rare = np.array([[0.05], [0.01]])
    assert expected_f1_thresholds(rare, "lewis")[1][0] == pytest.approx(0.95 * 0.99), "better none than any"


@pytest.mark.equation("online", "4.2.1")
def test_a_new_word_has_mean_0_and_variance_1():
    mean, cov, _, _ = problem(6)
    grown = FullPosterior(np.arange(3), mean, cov, np.zeros(4), np.ones(4)).grow([7])
    np.testing.assert_array_equal(grown.mean, [*mean, 0.0])
    np.testing.assert_array_equal(grown.cov, np.block([[cov, np.zeros((4, 1))], [np.zeros((1, 4)), np.ones((1, 1))]]))


@pytest.mark.equation("online", "4.2.3 theta", "4.2.3 U")
@pytest.mark.parametrize("n", [0, 10, 49, 50, 51, 200])
def test_schedules(n):
    assert paper_threshold(n) == pytest.approx(0.999 * (1.0 + math.exp(-(n - 50.0) / 10)) ** -1 + 0.001)
    assert paper_rate(n, 293856) == pytest.approx(0.0 if n >= 50 else (50 - n) / 293856)


@pytest.mark.equation("online", "A.1")
def test_evidence():
    Y, p = np.array([[1, 0], [0, 0], [1, 1]], bool), np.array([[0.9, 0.2], [0.4, 0.1], [0.7, 0.6]])
    by_label = [math.log(0.9 * 0.6 * 0.7), math.log(0.8 * 0.9 * 0.6)]
    assert average_log_evidence(Y, p, "label") == pytest.approx(np.mean(by_label))
