"""Soft clusters of words that come in bursts: the bound written out anew, below the evidence, and bursts found."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, special, stats

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.models.clusters import SoftClusters
from textbayes.models.clusters.model import Known, arrange, effective_lengths, length_basis, sweep
from textbayes.models.clusters.search import first_words


def log_means(points):
    return special.digamma(points) - special.digamma(points.sum(axis=1, keepdims=True))


def dirichlet_part(prior, points):
    """E ln p − E ln q of Dirichlets, row by row."""
    normaliser = special.gammaln(prior.sum(axis=1)) - special.gammaln(prior).sum(axis=1)
    own = special.gammaln(points.sum(axis=1)) - special.gammaln(points).sum(axis=1)
    return normaliser - own + ((prior - points) * log_means(points)).sum(axis=1)


def written_out(X, omega, words, memberships):
    """The bound of the module's docstring, occurrence by occurrence, each from a cluster or a copy."""
    prior = np.repeat((words.beta[0] + words.beta[1] * words.sums)[:, None], len(words.alpha), axis=1)
    total = dirichlet_part(prior, words.points).sum()
    total += dirichlet_part(np.tile(words.alpha, (len(X), 1)), memberships).sum()
    rates = words.sums[:, None] * words.points / words.points.sum(axis=1, keepdims=True)
    theta = memberships / memberships.sum(axis=1, keepdims=True)
    log_theta, log_tau = log_means(memberships), log_means(words.points)
    for d, x in enumerate(X):
        for w, count in enumerate(x):
            delta = words.deltas[w]
            new = words.sums[w] * np.exp(log_theta[d] + log_tau[w])
            for i in range(int(count)):
                sources = np.append(new, i * delta)
                phi = sources / sources.sum()
                total += special.xlogy(phi, sources).sum() - special.xlogy(phi, phi).sum()
            total += count * np.log(omega[d]) - special.gammaln(count + 1.0) - count * np.log1p(omega[d] * delta)
            total -= theta[d] @ rates[w] * np.log1p(omega[d] * delta) / delta
    return total


def problem(seed=0, n_docs=25, n_words=8, n_clusters=2, delta=3.0):
    rng = np.random.default_rng(seed)
    rates = rng.gamma(0.5, 20.0, (n_clusters, n_words)) + 0.5
    theta = rng.dirichlet(np.full(n_clusters, 0.4), n_docs)
    omega = rng.uniform(0.05, 1.0, n_docs)
    mean = theta @ rates
    X = rng.negative_binomial(mean / delta, 1.0 / (1.0 + omega[:, None] * delta)).astype(float)
    X[3] = 0.0
    return X, omega


def start(X, omega, n_clusters, beta, seed=0):
    known = Known(np.zeros((X.shape[1], n_clusters)), np.zeros(n_clusters))
    alpha, rng = np.full(n_clusters, 0.3), np.random.default_rng(seed)
    words = first_words(X.sum(axis=0), omega.sum(), known, alpha, np.asarray(beta, float), rng)
    return words._replace(deltas=np.linspace(0.1, 2.0, X.shape[1])), known


@pytest.mark.equation("contagion", "3.3")
@pytest.mark.parametrize("beta", [(0.4, 0.0), (2.0, 1.0)])
def test_the_bound_is_the_one_written_out(beta):
    X, omega = problem()
    words, known = start(X, omega, 3, beta)
    documents, memberships = arrange(sparse.csr_matrix(X), omega, bursts=True), np.ones((len(X), 3))
    for _ in range(4):
        done = sweep(documents, known, words, memberships)
        assert done.bound == pytest.approx(written_out(X, omega, words, done.memberships), rel=1e-10)
        words, memberships = done.words, done.memberships


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("learn", [(False, False), (True, True)])
def test_no_sweep_lowers_the_bound(seed, learn):
    X, omega = problem(seed)
    words, known = start(X, omega, 3, (0.3, 0.2), seed)
    documents, memberships, bounds = arrange(sparse.csr_matrix(X), omega, bursts=True), np.ones((len(X), 3)), []
    for _ in range(60):
        words, memberships, bound = sweep(documents, known, words, memberships, learn)
        bounds.append(bound)
    assert np.diff(bounds).min() >= -1e-9 * abs(bounds[-1])
    assert bounds[-1] > bounds[0]


@pytest.mark.equation("contagion", "3.3")
def test_the_bound_is_below_the_evidence_of_a_tiny_problem():
    """Two clusters, two documents, two words: the evidence is an integral over four numbers."""
    X, omega = np.array([[3.0, 1.0], [0.0, 4.0]]), np.array([0.2, 0.3])
    alpha, beta, deltas = np.array([0.8, 1.2]), 1.5, np.array([2.0, 5.0])
    words, known = start(X, omega, 2, (beta, 0.0))
    words = words._replace(alpha=alpha)
    documents, memberships = arrange(sparse.csr_matrix(X), omega, bursts=True), np.ones((2, 2))
    for _ in range(200):
        words, memberships, bound = sweep(documents, known, words._replace(deltas=deltas), memberships, (False, False))
    nodes, weights = np.polynomial.legendre.leggauss(30)
    nodes, weights = 0.5 * (nodes + 1.0), 0.5 * weights
    theta = np.stack([nodes, 1.0 - nodes], axis=1)
    of_theta, of_tau = weights * stats.beta(*alpha).pdf(nodes), weights * stats.beta(beta, beta).pdf(nodes)
    evidence = 0.0
    for first, first_weight in zip(nodes, of_tau, strict=True):
        for second, second_weight in zip(nodes, of_tau, strict=True):
            rates = (theta @ np.array([[first, 1.0 - first], [second, 1.0 - second]]).T) * words.sums
            likelihood = [
                (stats.nbinom(rates / deltas, 1.0 / (1.0 + length * deltas)).pmf(x).prod(axis=1) * of_theta).sum()
                for x, length in zip(X, omega, strict=True)
            ]
            evidence += first_weight * second_weight * np.prod(likelihood)
    assert np.log(evidence) - 3.0 < bound <= np.log(evidence)


def test_without_bursts_it_is_the_poisson():
    X, omega = problem()
    words, known = start(X, omega, 3, (0.4, 0.1))
    memberships = np.ones((len(X), 3))
    plain = sweep(arrange(sparse.csr_matrix(X), omega), known, words._replace(deltas=None), memberships)
    none = words._replace(deltas=np.full(8, 1e-12))
    bursty = sweep(arrange(sparse.csr_matrix(X), omega, bursts=True), known, none, memberships)
    assert bursty.bound == pytest.approx(plain.bound, rel=1e-9)
    np.testing.assert_allclose(bursty.memberships, plain.memberships, rtol=1e-8)
    np.testing.assert_allclose(bursty.words.points, plain.words.points, rtol=1e-8)


@pytest.mark.parametrize("n_docs", [5, 400])
def test_functions_of_the_length_are_interpolated(n_docs):
    rng = np.random.default_rng(0)
    omega = np.append(np.exp(rng.uniform(np.log(1e-3), np.log(30.0), n_docs)), 0.0)
    deltas = np.array([1e-9, 0.01, 1.0, 50.0])
    nodes, weights = length_basis(omega)
    expected = np.log1p(omega[:, None] * deltas) / deltas
    np.testing.assert_allclose(weights @ effective_lengths(nodes, deltas), expected, rtol=1e-9, atol=1e-12)


def test_dispersions_are_recovered():
    """Two clusters with words of their own, half of the words in bursts."""
    rng = np.random.default_rng(1)
    theta, omega = np.eye(2)[np.arange(300) % 2], rng.uniform(0.2, 1.0, 300)
    rates = np.where(np.arange(20) % 4 < 2, [[30.0], [1.0]], [[1.0], [30.0]])
    deltas = np.where(np.arange(20) < 10, 0.0001, 20.0)
    X = rng.negative_binomial((theta @ rates) / deltas, 1.0 / (1.0 + omega[:, None] * deltas)).astype(float)
    found = SoftClusters(2, random_state=0, model="negative_binomial", max_iter=2000, tol=1e-7).fit(X, lengths=omega)
    assert (found.deltas_[:10] < 1.0).all()
    np.testing.assert_allclose(found.deltas_[10:], 20.0, rtol=0.35)
    side = found.predict(X, lengths=omega)
    assert max(np.mean(side == np.arange(300) % 2), np.mean(side != np.arange(300) % 2)) > 0.99


def test_one_burst_makes_no_cluster():
    """A text that repeats one of the other cluster's words stays with the words around it."""
    rng = np.random.default_rng(2)
    rates = np.array([[20.0] * 10 + [1.0] * 10, [1.0] * 10 + [20.0] * 10])
    mean, delta = rates[np.arange(200) % 2], 15.0
    X = rng.negative_binomial(mean / delta, 1.0 / (1.0 + 0.5 * delta)).astype(float)
    text = np.array([[1.0] * 8 + [0.0] * 10 + [0.0, 60.0]])
    shares = {}
    for model in ("poisson", "negative_binomial"):
        clusters = SoftClusters(2, random_state=0, model=model, max_iter=300).fit(X, lengths=np.full(200, 0.5))
        of_first = clusters.rates_[:, :10].sum(axis=1).argmax()
        shares[model] = clusters.transform(text, lengths=[0.5])[0, of_first]
    assert shares["poisson"] < 0.3
    assert shares["negative_binomial"] > 0.5


def test_a_stored_clustering_is_the_same():
    X, omega = problem(n_docs=40)
    clusters = SoftClusters(2, random_state=0, model="negative_binomial", max_iter=50, tol=1e-2).fit(X, lengths=omega)
    restored = SoftClusters.from_state(*clusters.to_state())
    np.testing.assert_array_equal(restored.transform(X, omega), clusters.transform(X, omega))
    np.testing.assert_array_equal(restored.deltas_, clusters.deltas_)
    assert restored.model == "negative_binomial"


def test_what_it_cannot_do_is_refused():
    X, _ = problem()
    with pytest.raises(NotSupportedError, match="with labels use model='poisson'"):
        SoftClusters(2, model="negative_binomial").fit(X, ["a", *[None] * 24])
    with pytest.raises(InputError, match="model='binomial' is not known"):
        SoftClusters(2, model="binomial").fit(X)
