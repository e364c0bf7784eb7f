"""The Dirichlet–Poisson hierarchy with unknown classes: its variational bound and the sweeps that raise it.

Model. Word w occurs at σ_w τ_wk times per thousand words of cluster k, where Σ_k τ_wk = 1; document d, of ω_d thousand
words, belongs to cluster k by θ_dk, where Σ_k θ_dk = 1:

    θ_d ~ Dirichlet(α),   τ_w | σ_w ~ symmetric Dirichlet(b_w), b_w = β₁ + β₂σ_w,   σ_w flat,
    x_dw ~ Poisson(ω_d σ_w Σ_k θ_dk τ_wk).

A Poisson of a sum is a sum of Poissons, one for each cluster; of the occurrences x_dw those of cluster k are unknown.
With q = Π_d Dir(θ_d; γ_d) Π_w Dir(τ_w; λ_w) Π_dw Multinomial(x_dw, φ_dw) the evidence is bounded from below by

    L = Σ_dw [ x_dw (ln ω_d σ_w + Σ_k φ_dwk (E ln θ_dk + E ln τ_wk − ln φ_dwk)) − ln x_dw! ] − Σ_k T_k S_k
        + Σ_d [ ln Γ(α_0) − Σ_k ln Γ(α_k) + Σ_k (α_k − γ_dk) E ln θ_dk + Σ_k ln Γ(γ_dk) − ln Γ(γ_d0) ]
        + Σ_w [ ln Γ(K b_w) − K ln Γ(b_w) + Σ_k (b_w − λ_wk) E ln τ_wk + Σ_k ln Γ(λ_wk) − ln Γ(λ_w0) ],

where E ln θ_dk = ψ(γ_dk) − ψ(γ_d0), E θ_dk = γ_dk/γ_d0, the same for τ; T_k = Σ_d ω_d E θ_dk is the size of a cluster
in thousand words and S_k = Σ_w σ_w E τ_wk the words that it expects in a thousand. L is in closed form, and so is its
best φ_dwk ∝ exp(E ln θ_dk + E ln τ_wk). The Dirichlets meet −Σ_k T_k S_k, which is linear in E θ and E τ: their optimum
is a fixed point, reached by steps that never lower L (``kernels.clusters_dirichlet``). Where all clusters expect as
many words the term is constant, and the steps are those of latent Dirichlet allocation. Given the rest, σ_w = N_w/Σ_k
T_k E τ_wk for β₂ = 0, else the root of a monotone equation (``clusters_priors``); α and β maximise L as well.

Words that come in bursts have a negative binomial in place of the Poisson (``clusters.contagion``).

A document of known class has θ_d at a corner of the simplex; its factor of q drops out of L, its words stay.

References: Airoldi, Cohen & Fienberg (2005), § 3.3; Blei, Ng & Jordan (2003), Latent Dirichlet allocation, JMLR 3;
Canny (2004), GaP: a factor model for discrete data, SIGIR.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse, special

from textbayes.core.types import FloatArray, IntArray
from textbayes.models.clusters.contagion import Lengths, best_deltas, burst_constant, effective_lengths, length_basis
from textbayes.models.clusters.priors import LARGEST, best_alpha, best_beta, best_sums, dirichlet_strengths

_CHUNKS = 16  # pieces shared out to threads; results do not depend on their number


class ClusterWords(NamedTuple):
    """Parameters learnt: α (K,), β (2,), sums σ (V,), the words' Dirichlets λ (V, K) and, of bursts, δ (V,)."""

    alpha: FloatArray
    beta: FloatArray
    sums: FloatArray
    points: FloatArray
    deltas: FloatArray | None = None

    @property
    def shares(self) -> FloatArray:
        """E τ, (V, K)."""
        return self.points / self.points.sum(axis=1, keepdims=True)

    @property
    def rates(self) -> FloatArray:
        """Expected occurrences per thousand words of each cluster, σ_w E τ_wk, (V, K)."""
        return self.sums[:, None] * self.shares


class Documents(NamedTuple):
    """Counts by document (CSR) and by word: CSC ``indptr``, rows, where each value is in the CSR order, and totals.

    ``lengths`` interpolate functions of the length, where words come in bursts.
    """

    X: sparse.csr_matrix
    omega: FloatArray
    by_word: IntArray
    rows: IntArray
    places: IntArray
    totals: FloatArray
    constant: float
    lengths: Lengths | None = None


class Known(NamedTuple):
    """Documents of known class, summed up: counts (V, K), thousands of words (K,), and their part of the constant."""

    counts: FloatArray
    exposure: FloatArray
    constant: float = 0.0


class SweepResult(NamedTuple):
    """The state after a sweep and the bound before its update of the words."""

    words: ClusterWords
    memberships: FloatArray
    bound: float


def arrange(X: sparse.csr_matrix, omega: FloatArray, bursts: bool = False) -> Documents:
    """Documents in the two orders that sweeps read; with ``bursts`` for words that have a δ."""
    numbered = sparse.csr_matrix((np.arange(X.nnz), X.indices, X.indptr), shape=X.shape).tocsc()
    totals = np.bincount(X.indices, X.data, minlength=X.shape[1]).astype(np.float64)
    lengths = length_basis(omega) if bursts else None
    parts = numbered.indptr, numbered.indices, numbered.data, totals, data_constant(X, omega)
    return Documents(X, omega, *parts, lengths)


def data_constant(X: sparse.csr_matrix, omega: FloatArray) -> float:
    """Σ x ln ω − ln x!, which nothing that is learnt changes."""
    logs = np.log(np.where(omega > 0.0, omega, 1.0))
    return float((X.data * np.repeat(logs, np.diff(X.indptr)) - special.gammaln(X.data + 1.0)).sum())


def sweep(
    documents: Documents,
    known: Known,
    words: ClusterWords,
    memberships: FloatArray,
    learn: tuple[bool, bool] = (True, True),
    pool: ThreadPoolExecutor | None = None,
    max_steps: int = 3,
    alpha_limit: float = LARGEST,
) -> SweepResult:
    """Update the memberships γ (n_docs, K), then the words, their sums, and α up to a limit and β where ``learn`` says.

    Costs O(``max_steps`` × non-zeros × K) for the documents and O(V K) for the rest.
    """
    log_means, normalisers = _log_means(words.points, pool)
    factors = np.exp(log_means)
    points, shares, ratios, bounds = _read_documents(documents, words, factors, memberships, max_steps, 1e-3, pool)
    bound = float(bounds.sum()) + _rest_of_bound(documents, known, words, log_means, normalisers)
    exposure = _exposure(documents, known, words, points / points.sum(axis=1, keepdims=True))
    fresh = _expected_counts(documents, factors, shares, ratios, pool)
    words = _update_words(words, known.counts + fresh, exposure, learn[1], pool)
    if words.deltas is not None:
        words = _update_deltas(documents, words, points, documents.totals - fresh.sum(axis=1))
    alpha = best_alpha(words.alpha, points, alpha_limit) if learn[0] and len(points) else words.alpha
    return SweepResult(words._replace(alpha=alpha), points, bound)


def fit_memberships(
    documents: Documents,
    words: ClusterWords,
    start: FloatArray,
    max_steps: int,
    tol: float,
    pool: ThreadPoolExecutor | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """γ (n_docs, K) given the words; exp E ln θ, the ratios x/Σ_k exp(…) in CSR order, and parts of the bound."""
    factors = np.exp(_log_means(words.points, pool)[0])
    return _read_documents(documents, words, factors, start, max_steps, tol, pool)


def _read_documents(
    documents: Documents,
    words: ClusterWords,
    factors: FloatArray,
    start: FloatArray,
    max_steps: int,
    tol: float,
    pool: ThreadPoolExecutor | None,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    from textbayes.kernels.counts.clusters_sweeps import document_sweep

    X, n_docs = documents.X, documents.X.shape[0]
    points, shares, ratios, bounds = start.copy(), np.empty_like(start), np.empty(X.nnz), np.empty(n_docs)
    bursts = np.zeros(len(words.sums)) if words.deltas is None else words.deltas / words.sums
    expected = _expected_words(documents, words)

    def part(first: int, last: int) -> None:
        document_sweep(
            X.indptr, X.indices, X.data, words.alpha, factors, bursts, expected, points, shares, ratios, bounds,
            first, last, max_steps, tol,
        )  # fmt: skip

    _share_out(part, n_docs, pool)
    return points, shares, ratios, bounds


def _expected_words(documents: Documents, words: ClusterWords) -> FloatArray:
    """Occurrences of known words, of bursts the first, in each document if it were of one cluster, (n_docs, K)."""
    if words.deltas is None or documents.lengths is None:
        return documents.omega[:, None] * words.rates.sum(axis=0)
    nodes, weights = documents.lengths
    return np.asarray(weights @ (effective_lengths(nodes, words.deltas) @ words.rates))


def _exposure(documents: Documents, known: Known, words: ClusterWords, means: FloatArray) -> FloatArray:
    """Thousands of words of each cluster that each word could have occurred in, T (V, K), given E θ (n_docs, K)."""
    if words.deltas is None or documents.lengths is None:
        sizes = known.exposure + (documents.omega[:, None] * means).sum(axis=0)
        return np.tile(sizes, (len(words.sums), 1))
    nodes, weights = documents.lengths
    return np.asarray(effective_lengths(nodes, words.deltas).T @ (weights.T @ means))


def _update_deltas(documents: Documents, words: ClusterWords, points: FloatArray, copies: FloatArray) -> ClusterWords:
    """δ given how many occurrences of each word were copies, (V,)."""
    assert words.deltas is not None
    assert documents.lengths is not None
    nodes, weights = documents.lengths
    mass = (weights.T @ (points / points.sum(axis=1, keepdims=True))) @ words.rates.T
    found = best_deltas(words.deltas, np.maximum(copies, 0.0), documents.X, documents.omega, nodes, mass)
    return words._replace(deltas=found)


def _expected_counts(
    documents: Documents, factors: FloatArray, shares: FloatArray, ratios: FloatArray, pool: ThreadPoolExecutor | None
) -> FloatArray:
    from textbayes.kernels.counts.clusters_sweeps import word_counts

    counts, ratios_by_word = np.empty_like(factors), ratios[documents.places]

    def part(first: int, last: int) -> None:
        word_counts(documents.by_word, documents.rows, ratios_by_word, shares, factors, counts, first, last)

    _share_out(part, len(counts), pool)
    return counts


def _update_words(
    words: ClusterWords, counts: FloatArray, exposure: FloatArray, learn_beta: bool, pool: ThreadPoolExecutor | None
) -> ClusterWords:
    """λ, σ and β given expected counts N and sizes T, both (V, K)."""
    from textbayes.kernels.counts.clusters_dirichlet import dirichlet_optima

    points, totals, n_clusters = words.points.copy(), counts.sum(axis=1), counts.shape[1]
    sums, beta = words.sums, words.beta

    def part(first: int, last: int) -> None:
        rows = slice(first, last)
        dirichlet_optima(prior[rows, None] + counts[rows], sums[rows], exposure[rows], points[rows], 2, 1e-3)

    prior = dirichlet_strengths(beta, sums)
    _share_out(part, len(points), pool)
    log_means = _log_means(points, pool)[0].sum(axis=1)
    means = (points * exposure).sum(axis=1) / points.sum(axis=1)
    sums = best_sums(sums, totals, means, log_means, beta, n_clusters)
    if learn_beta:
        beta = best_beta(beta, sums, log_means, n_clusters)
    return words._replace(points=points, sums=sums, beta=beta)


def _rest_of_bound(
    documents: Documents, known: Known, words: ClusterWords, log_means: FloatArray, normalisers: FloatArray
) -> float:
    """Part of the bound beside the documents' own: normalisers of α, the words' Dirichlets, known documents."""
    alpha, points = words.alpha, words.points
    prior = dirichlet_strengths(words.beta, words.sums)
    n_docs, n_clusters = len(documents.omega), len(alpha)
    of_alpha = n_docs * (special.gammaln(alpha.sum()) - special.gammaln(alpha).sum())
    of_words = special.gammaln(n_clusters * prior) - n_clusters * special.gammaln(prior)
    of_words += ((prior[:, None] - points) * log_means).sum(axis=1) + normalisers
    by_word = documents.totals + known.counts.sum(axis=1)
    of_sums = special.xlogy(by_word, words.sums).sum()
    of_known = (known.counts * log_means).sum() - (known.exposure * words.rates.sum(axis=0)).sum()
    of_data = documents.constant + known.constant
    if words.deltas is not None:
        of_data -= burst_constant(documents.X, documents.omega, words.deltas)
    return float(of_alpha + of_words.sum() + of_sums + of_known + of_data)


def _log_means(points: FloatArray, pool: ThreadPoolExecutor | None) -> tuple[FloatArray, FloatArray]:
    """ψ(λ_k) − ψ(λ_0), row by row, and Σ_k ln Γ(λ_k) − ln Γ(λ_0) of each row."""
    from textbayes.kernels.counts.clusters_dirichlet import log_mean_table

    log_means, normalisers = np.empty_like(points), np.empty(len(points))

    def part(first: int, last: int) -> None:
        log_mean_table(points, log_means, normalisers, first, last)

    _share_out(part, len(points), pool)
    return log_means, normalisers


def _share_out(part: Any, n: int, pool: ThreadPoolExecutor | None) -> None:
    """Call ``part(first, last)`` on consecutive pieces of 0 … n."""
    if pool is None:
        part(0, n)
        return
    edges = np.linspace(0, n, _CHUNKS + 1).astype(int)
    for future in [pool.submit(part, int(a), int(b)) for a, b in pairwise(edges) if b > a]:
        future.result()
