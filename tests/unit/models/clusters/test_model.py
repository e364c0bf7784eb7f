"""Soft clustering's bound and updates: written out anew in NumPy, by finite differences, below the true evidence."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, sparse, special, stats

from textbayes.kernels.counts.clusters import dirichlet_optima, gamma_functions, measure
from textbayes.models.clusters.model import (
    ClusterWords,
    Known,
    arrange,
    best_alpha,
    best_beta,
    best_sums,
    fit_memberships,
    sweep,
)
from textbayes.models.clusters.search import first_words, known_documents


def log_means(points):
    return special.digamma(points) - special.digamma(points.sum(axis=1, keepdims=True))


def dirichlet_part(prior, points):
    """E ln p − E ln q of Dirichlets, row by row, by the definition of their densities."""
    mean = log_means(points)
    normaliser = special.gammaln(prior.sum(axis=1)) - special.gammaln(prior).sum(axis=1)
    own = special.gammaln(points.sum(axis=1)) - special.gammaln(points).sum(axis=1)
    return normaliser - own + ((prior - points) * mean).sum(axis=1)


def written_out(X, omega, words, memberships, codes=None):
    """The bound as in the module's docstring, with its best φ, without a kernel."""
    codes = np.full(len(X), -1) if codes is None else codes
    n_clusters = len(words.alpha)
    of_words = log_means(words.points)
    prior = np.repeat((words.beta[0] + words.beta[1] * words.sums)[:, None], n_clusters, axis=1)
    total = dirichlet_part(prior, words.points).sum()
    rates = words.sums[:, None] * words.points / words.points.sum(axis=1, keepdims=True)
    free = iter(memberships)
    for x, length, code in zip(X, omega, codes, strict=True):
        present = x > 0
        total += (x[present] * np.log(length * words.sums[present])).sum() - special.gammaln(x + 1).sum()
        if code >= 0:
            total += (x * of_words[:, code]).sum() - length * rates[:, code].sum()
            continue
        gamma = next(free)[None, :]
        total += (x * special.logsumexp(of_words + log_means(gamma), axis=1)).sum()
        total -= length * (rates.sum(axis=0) * gamma[0] / gamma.sum()).sum()
        total += dirichlet_part(words.alpha[None, :], gamma)[0]
    return total


def problem(seed, n_docs=30, n_words=12, n_clusters=3, empty=True):
    rng = np.random.default_rng(seed)
    rates = rng.gamma(0.5, 20.0, size=(n_clusters, n_words))
    theta = rng.dirichlet(np.full(n_clusters, 0.4), size=n_docs)
    omega = rng.uniform(0.05, 1.0, size=n_docs)
    X = rng.poisson(omega[:, None] * (theta @ rates)).astype(float)
    if empty:
        X[3], X[:, 5] = 0.0, 0.0
    return X, omega


def start(X, omega, n_clusters, beta, seed=0, known=None, alpha=0.3):
    known = known or Known(np.zeros((X.shape[1], n_clusters)), np.zeros(n_clusters))
    rng = np.random.default_rng(seed)
    return first_words(
        X.sum(axis=0), omega.sum(), known, np.full(n_clusters, alpha), np.asarray(beta, float), rng
    ), known


@pytest.mark.parametrize("x", [1e-3, 0.2, 1.0, 3.7, 7.99, 8.0, 50.0, 1e7])
def test_special_functions(x):
    expected = special.gammaln(x), special.digamma(x), special.polygamma(1, x)
    for found, value in zip(gamma_functions(x), expected, strict=True):
        assert abs(found - value) <= 1e-13 * max(1.0, abs(value))


@pytest.mark.parametrize("seed", range(6))
def test_a_dirichlet_step_never_lowers_its_bound_and_ends_where_it_is_flat(seed):
    rng = np.random.default_rng(seed)
    n = 2 + seed
    counts, rates = rng.gamma(1.0, 5.0, size=(1, n)) + 0.05, rng.gamma(0.5, 30.0, size=n)
    points, scale = rng.gamma(1.0, 5.0, size=(1, n)) + 0.05, np.array([0.3])

    def bound(point):
        return measure(counts[0], scale[0] * rates, point, np.empty(n), np.empty(n))[0]

    course = [bound(points[0])]
    course += [dirichlet_optima(counts, scale, rates[None], points, 1, 0.0)[0] for _ in range(2000)]
    assert np.diff(course).min() >= 0.0
    slopes = [(bound(points[0] + h) - bound(points[0] - h)) / 2e-5 for h in 1e-5 * np.eye(n)]
    np.testing.assert_allclose(np.array(slopes) * points[0], 0.0, atol=1e-4)


def test_equal_rates_leave_the_updates_of_latent_dirichlet_allocation():
    counts, points = np.array([[3.0, 0.5, 7.0]]), np.ones((1, 3))
    dirichlet_optima(counts, np.array([2.0]), np.full((1, 3), 5.0), points, 1, 0.0)
    np.testing.assert_array_equal(points, counts)


@pytest.mark.parametrize("beta", [(0.4, 0.0), (0.4, 0.05), (2.0, 1.0)])
@pytest.mark.parametrize("with_known", [False, True])
def test_the_bound_is_the_one_written_out(beta, with_known):
    X, omega = problem(1)
    codes = np.where(np.arange(len(X)) % 4 == 0, np.arange(len(X)) % 3, -1) if with_known else np.full(len(X), -1)
    known = known_documents(sparse.csr_matrix(X), omega, codes, 3)
    words, _ = start(X, omega, 3, beta, known=known)
    documents = arrange(sparse.csr_matrix(X[codes < 0]), omega[codes < 0])
    memberships = np.ones((len(documents.omega), 3))
    for _ in range(4):
        done = sweep(documents, known, words, memberships)
        assert done.bound == pytest.approx(written_out(X, omega, words, done.memberships, codes), rel=1e-11)
        words, memberships = done.words, done.memberships


@pytest.mark.parametrize("learn", [(False, False), (True, True)])
@pytest.mark.parametrize("beta", [(0.1, 0.0), (0.3, 0.2), (2.0, 1.0)])
@pytest.mark.parametrize("seed", range(5))
def test_no_sweep_lowers_the_bound(seed, beta, learn):
    X, omega = problem(seed, n_docs=25, n_words=15)
    omega = omega * np.random.default_rng(seed).uniform(0.2, 5.0, size=len(omega))  # clusters expect unequal lengths
    words, known = start(X, omega, 4, beta, seed)
    documents = arrange(sparse.csr_matrix(X), omega)
    memberships, bounds = np.ones((len(X), 4)), []
    for _ in range(60):
        words, memberships, bound = sweep(documents, known, words, memberships, learn)
        bounds.append(bound)
    assert np.diff(bounds).min() >= -1e-10 * abs(bounds[-1])


def test_at_the_end_the_bound_is_flat_in_every_direction():
    X, omega = problem(2, n_docs=12, n_words=6, empty=False)
    words, known = start(X, omega, 2, (0.5, 0.1))
    documents = arrange(sparse.csr_matrix(X), omega)
    memberships = np.ones((len(X), 2))
    for _ in range(1200):
        words, memberships, _ = sweep(documents, known, words, memberships, max_steps=20)
    memberships = fit_memberships(documents, words, memberships, 2000, 0.0)[0]
    scale = np.abs(written_out(X, omega, words, memberships))

    def slope(change):
        return (written_out(X, omega, *change(1e-4)) - written_out(X, omega, *change(-1e-4))) / 2e-4

    def moved(name, index):
        def change(step):
            arrays = {key: value.copy() for key, value in words._asdict().items() if value is not None} | {
                "gamma": memberships.copy()
            }
            arrays[name][index] *= np.exp(step)
            return ClusterWords(*(arrays[key] for key in words._fields if key in arrays)), arrays["gamma"]

        return change

    inside = [("alpha", k) for k in range(2)] + [("beta", k) for k in range(2)] + [("sums", w) for w in range(6)]
    inside += [("points", (w, k)) for w in range(6) for k in range(2)] + [
        ("gamma", (d, k)) for d in range(4) for k in (0, 1)
    ]
    for name, index in inside:
        if name == "beta" and words.beta[index] <= 1.01e-6:  # held at its lowest value
            continue
        assert abs(slope(moved(name, index))) < 1e-5 * scale, (name, index)


def test_the_bound_is_below_the_evidence_of_a_tiny_problem():
    """Two clusters, two documents, two words: θ and τ are numbers, the evidence an integral over four of them."""
    X, omega = np.array([[3.0, 1.0], [0.0, 4.0]]), np.array([0.2, 0.3])
    alpha, beta = np.array([0.8, 1.2]), np.array([1.5, 0.0])
    words, known = start(X, omega, 2, beta)
    words = words._replace(alpha=alpha)
    documents = arrange(sparse.csr_matrix(X), omega)
    memberships = np.ones((2, 2))
    for _ in range(200):
        words, memberships, bound = sweep(documents, known, words, memberships, (False, False))
    nodes, weights = special.roots_jacobi(24, 0.0, 0.0)
    nodes, weights = 0.5 * (nodes + 1.0), 0.5 * weights
    theta = np.stack([nodes, 1.0 - nodes], axis=1)
    of_theta = weights * stats.beta(alpha[0], alpha[1]).pdf(nodes)
    of_tau = weights * stats.beta(beta[0], beta[0]).pdf(nodes)
    evidence = 0.0
    for first, first_weight in zip(nodes, of_tau, strict=True):
        for second, second_weight in zip(nodes, of_tau, strict=True):
            tau = np.array([[first, 1.0 - first], [second, 1.0 - second]])
            rates = (theta @ tau.T) * words.sums
            likelihood = [
                (stats.poisson(length * rates).pmf(x).prod(axis=1) * of_theta).sum()
                for x, length in zip(X, omega, strict=True)
            ]
            evidence += first_weight * second_weight * np.prod(likelihood)
    assert bound <= np.log(evidence)
    assert bound > np.log(evidence) - 3.0


def test_one_document_and_known_words_against_numerical_integration():
    """With words that are all but known the bound of one word in one document is near its integral, from below."""
    shares, sums = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([40.0, 30.0])
    words = ClusterWords(np.array([1.0, 2.0]), np.array([0.5, 0.0]), sums, 1e7 * shares)
    X, omega = np.array([[9.0, 2.0]]), np.array([0.25])
    documents = arrange(sparse.csr_matrix(X), omega)
    points, _, _, bounds = fit_memberships(documents, words, np.ones((1, 2)), 500, 0.0)

    def density(t):
        rates = omega[0] * (np.array([t, 1.0 - t]) @ (sums[:, None] * shares).T)
        return stats.poisson(rates).pmf(X[0]).prod() * stats.beta(1.0, 2.0).pdf(t)

    evidence = np.log(integrate.quad(density, 0.0, 1.0)[0])
    log_prior = special.gammaln(3.0) - special.gammaln([1.0, 2.0]).sum()
    bound = bounds[0] + documents.constant + (X[0] * np.log(sums)).sum() + log_prior
    assert evidence - 0.3 < bound <= evidence
    mean = integrate.quad(lambda t: t * density(t), 0.0, 1.0)[0] / np.exp(evidence)
    assert points[0, 0] / points.sum() == pytest.approx(mean, abs=0.02)


def test_constants_maximise_their_part_of_the_bound():
    rng = np.random.default_rng(0)
    points = rng.gamma(2.0, 2.0, size=(40, 3))
    mean = log_means(points)

    def of_alpha(alpha):
        return 40 * (special.gammaln(alpha.sum()) - special.gammaln(alpha).sum()) + (alpha * mean).sum()

    alpha = best_alpha(np.full(3, 0.1), points, max_iter=50)
    slopes = [(of_alpha(alpha + h) - of_alpha(alpha - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(slopes, 0.0, atol=1e-5)

    sums, per_word = rng.gamma(1.0, 3.0, size=40), mean.sum(axis=1)

    def of_beta(beta, sums=sums):
        b = beta[0] + beta[1] * sums
        return special.gammaln(3 * b) - 3 * special.gammaln(b) + b * per_word

    beta = np.array([0.5, 0.5])
    for _ in range(100):
        beta = best_beta(beta, sums, per_word, 3)
    slopes = [(of_beta(beta + h).sum() - of_beta(beta - h).sum()) / 2e-6 for h in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(np.array(slopes) * beta, 0.0, atol=1e-5)

    counts, means = rng.integers(0, 30, size=40).astype(float), rng.uniform(0.5, 3.0, size=40)
    beta, found = np.array([0.3, 0.7]), sums
    for _ in range(30):
        found = best_sums(found, counts, means, per_word, beta, 3)

    def of_sums(value):
        return counts * np.log(value) - value * means + of_beta(beta, value)

    slopes = (of_sums(found * (1 + 1e-6)) - of_sums(found * (1 - 1e-6))) / 2e-6
    np.testing.assert_allclose(slopes[counts > 0], 0.0, atol=1e-5)
    np.testing.assert_array_equal(found[counts == 0], sums[counts == 0])
    simple = best_sums(sums, counts, means, per_word, np.array([0.3, 0.0]), 3)
    np.testing.assert_allclose(simple[counts > 0], (counts / means)[counts > 0])
