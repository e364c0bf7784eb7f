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
is a fixed point, reached by steps that never lower L (``kernels.counts.clusters``). Where all clusters expect as
many words the term is constant, and the steps are those of latent Dirichlet allocation. Given the rest, σ_w = N_w/Σ_k
T_k E τ_wk for β₂ = 0, else the root of a monotone equation (``clusters_priors``); α and β maximise L as well.

Words that come in bursts have a negative binomial in place of the Poisson (``clusters.contagion``).

A document of known class has θ_d at a corner of the simplex; its factor of q drops out of L, its words stay.

References: Airoldi, Cohen & Fienberg (2005), § 3.3; Blei, Ng & Jordan (2003), Latent Dirichlet allocation, JMLR 3;
Canny (2004), GaP: a factor model for discrete data, SIGIR.

Each function that finds a constant (α, β = (β₁, β₂), the sums σ) returns what it was given wherever it finds nothing
better: the bound never falls.

Bursts. The negative binomial can take the place of the Poisson. With one δ_w for all clusters a negative binomial of a
sum of rates is a sum of negative binomials, as with Poissons. With μ = σ_w Σ_k θ_dk τ_wk and A(ω, δ) = ln(1 + ωδ)/δ

    ln p(x_dw) = Σ_{i<x} ln(μ + iδ_w) − x ln(1 + ω_d δ_w) − μ A(ω_d, δ_w) + x ln ω_d − ln x!,

in which the i-th later occurrence is a new one, at rate μ, or a copy of one of the i before it, at rate iδ. Given that,
the bound above holds with one more place for a word to come from: φ_i0 ∝ iδ beside φ_ik ∝ exp(E ln σθτ). So the
sweeps are those of the Poisson with Σ_{i<x} μ/(μ + iδ) new occurrences for x, and A(ω_d, δ_w) thousand words for ω_d.

A depends on document and word, but smoothly on ln ω (see ``models.counts.hierarchy``): sums over documents or words are
taken at some 40 lengths and interpolated. Given the rest δ_w maximises

    c_w ln δ − Σ_d x_dw ln(1 + ω_d δ) − Σ_d E μ_dw A(ω_d, δ),   c_w = Σ_d Σ_i φ_i0 copies.

References: Airoldi, Cohen & Fienberg (2005), § 2.2 and 3.3; Antoniak (1974), for the number of new occurrences.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from scipy import sparse, special

from textbayes.core.array_fields import Array
from textbayes.core.codec import TINY, Null
from textbayes.core.lazy import LazyModule
from textbayes.core.state import with_fields
from textbayes.core.types import FloatArray, IntArray
from textbayes.models.counts.hierarchy import length_nodes

clusters_kernels = LazyModule("textbayes.kernels.counts.clusters")

FIRST_DELTA = 0.1
_LEAST, _MOST = np.log(1e-6), np.log(1e4)  # of ln δ
_HALVINGS = 12


class Lengths(NamedTuple):
    """Lengths ω_n (N,), and what each of them counts for each document (n_docs, N): f(ω_d) = Σ_n weights_dn f(ω_n)."""

    nodes: FloatArray
    weights: FloatArray


def length_basis(omega: FloatArray) -> Lengths:
    """Interpolate functions of the length, 0 at 0 and smooth in ln ω: exactly where there are few lengths."""
    positive = omega > 0.0
    if not positive.any():
        return Lengths(np.ones(1), np.zeros((len(omega), 1)))
    distinct, where = np.unique(omega[positive], return_inverse=True)
    n_nodes, middle, half = length_nodes(distinct)
    weights = np.zeros((len(omega), min(n_nodes, len(distinct))))
    if len(distinct) <= n_nodes:
        weights[np.flatnonzero(positive), where.ravel()] = 1.0
        return Lengths(distinct, weights)
    nodes = chebyshev.chebpts1(n_nodes)
    at = np.exp(middle + half * nodes)
    transform = 2.0 / n_nodes * chebyshev.chebvander(nodes, n_nodes - 1).T
    transform[0] *= 0.5
    places = np.clip((np.log(distinct) - middle) / half, -1.0, 1.0)
    of_distinct = distinct[:, None] * (chebyshev.chebvander(places, n_nodes - 1) @ transform) / at
    weights[positive] = of_distinct[where.ravel()]
    return Lengths(at, weights)


def effective_lengths(nodes: FloatArray, deltas: FloatArray) -> FloatArray:
    """A(ω, δ) = ln(1 + ωδ)/δ, (N, V); ω where δ is 0."""
    z = nodes[:, None] * deltas
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(z < 1e-8, nodes[:, None] * (1.0 - 0.5 * z), np.log1p(z) / deltas)


def burst_constant(X: sparse.csr_matrix, omega: FloatArray, deltas: FloatArray) -> float:
    """Σ x ln(1 + ωδ) over the words that documents have."""
    lengths = np.repeat(omega, np.diff(X.indptr))
    return float((X.data * np.log1p(lengths * deltas[X.indices])).sum())


def best_deltas(
    deltas: FloatArray, copies: FloatArray, X: sparse.csr_matrix, omega: FloatArray, nodes: FloatArray, mass: FloatArray
) -> FloatArray:
    """The δ of a Newton step in ln δ that never lowers the bound, word by word.

    Parameters
    ----------
    deltas, copies : arrays (V,)
        Where to start, and c_w.
    X, omega : counts (n_docs, V) and lengths of the documents
    nodes : array (N,)
    mass : array (N, V)
        E μ of all documents at each of these lengths.
    """
    lengths = np.repeat(omega, np.diff(X.indptr))

    def by_word(values: FloatArray) -> FloatArray:
        return np.bincount(X.indices, X.data * values, minlength=len(deltas)).astype(np.float64, copy=False)

    def value(log_delta: FloatArray) -> FloatArray:
        delta = np.exp(log_delta)
        spent = (mass * effective_lengths(nodes, delta)).sum(axis=0)
        return np.asarray(copies * log_delta - by_word(np.log1p(lengths * delta[X.indices])) - spent)

    here = np.log(deltas)
    z, at = lengths * deltas[X.indices], nodes[:, None] / (1.0 + nodes[:, None] * deltas)
    effective = effective_lengths(nodes, deltas)
    slope = copies - by_word(z / (1.0 + z)) - (mass * (at - effective)).sum(axis=0)
    bend = -by_word(z / (1.0 + z) ** 2) + (mass * (at * at * deltas + at - effective)).sum(axis=0)
    step = np.clip(np.where(bend < 0.0, slope / np.maximum(-bend, 1e-12), np.sign(slope)), -1.0, 1.0)
    before, seen = value(here), by_word(np.ones(len(lengths))) > 0.0
    best = here.copy()
    waiting = seen.copy()
    for _ in range(_HALVINGS):
        tried = np.clip(here + step, _LEAST, _MOST)
        gained = waiting & (value(tried) > before)
        best[gained] = tried[gained]
        waiting &= ~gained
        if not waiting.any():
            break
        step = 0.5 * step
    return np.exp(best)


SMALLEST, LARGEST = 5e-3, 1e4  # below, exp ψ(α) leaves the range of numbers
_LOWEST_SLOPE = 1e-6  # of β₂, which only ever adds to β₁


def dirichlet_strengths(beta: FloatArray, sums: FloatArray) -> FloatArray:
    """b_w = β₁ + β₂σ_w, (V,)."""
    return np.asarray(beta[0] + beta[1] * sums)


def best_alpha(alpha: FloatArray, points: FloatArray, limit: float = LARGEST, max_iter: int = 5) -> FloatArray:
    """The α up to ``limit`` that maximise Σ_d [ln Γ(α_0) − Σ ln Γ(α_k) + Σ α_k E ln θ_dk], γ = ``points`` (n_docs, K).

    Newton's method in O(K) a step, as the Hessian is a diagonal and a constant (Minka 2000, Estimating a Dirichlet
    distribution), in ln α so that α stays positive.
    """
    n_docs = len(points)
    if len(alpha) == 1:
        return alpha
    means = (special.digamma(points) - special.digamma(points.sum(axis=1, keepdims=True))).sum(axis=0) / n_docs

    def objective(log_alpha: FloatArray) -> float:
        value = np.exp(log_alpha)
        return float(special.gammaln(value.sum()) - special.gammaln(value).sum() + (value * means).sum())

    log_alpha = np.log(alpha)
    for _ in range(max_iter):
        value = np.exp(log_alpha)
        slope = value * (special.digamma(value.sum()) - special.digamma(value) + means)
        diagonal = value**2 * special.polygamma(1, value) - np.minimum(slope, 0.0)
        outer = special.polygamma(1, value.sum())
        # (D − c v v')⁻¹ slope; D − c v v' is positive definite, as the Fisher information of a Dirichlet is
        scaled, along = slope / diagonal, value / diagonal
        step = scaled + along * outer * (value * scaled).sum() / (1.0 - outer * (value * along).sum())
        moved = _uphill(objective, log_alpha, np.clip(step, -1.0, 1.0), np.log(SMALLEST), limit)
        if moved is None:
            break
        log_alpha = moved
    return np.exp(log_alpha)


def best_beta(beta: FloatArray, sums: FloatArray, log_means: FloatArray, n_clusters: int) -> FloatArray:
    """The (β₁, β₂) that maximise Σ_w [ln Γ(K b_w) − K ln Γ(b_w) + b_w Σ_k E ln τ_wk], b_w = β₁ + β₂σ_w.

    ``log_means`` (V,) holds Σ_k E ln τ_wk. β₂ = 0 stays 0. The function is concave in β; a step of
    Newton's method in ln β.
    """
    free = 1 if beta[1] == 0.0 else 2
    if n_clusters == 1:
        return beta

    def objective(log_beta: FloatArray) -> float:
        b = _strengths(log_beta)
        return float((special.gammaln(n_clusters * b) - n_clusters * special.gammaln(b) + b * log_means).sum())

    def _strengths(log_beta: FloatArray) -> FloatArray:
        value = np.exp(log_beta)
        return np.asarray(value[0] + value[1] * sums if free == 2 else np.full(len(sums), value[0]))

    log_beta = np.log(beta[:free])
    b = _strengths(log_beta)
    first = n_clusters * (special.digamma(n_clusters * b) - special.digamma(b)) + log_means
    second = n_clusters**2 * special.polygamma(1, n_clusters * b) - n_clusters * special.polygamma(1, b)
    parts = np.exp(log_beta)[:, None] * np.vstack([np.ones_like(sums), sums])[:free]
    slope = (parts * first).sum(axis=1)
    curvature = -np.einsum("iw,jw->ij", parts * second, parts) + np.diag(np.maximum(-slope, 0.0))
    curvature += 1e-9 * np.trace(curvature) * np.eye(free)
    step = np.clip(np.linalg.solve(curvature, slope), -1.0, 1.0)
    moved = _uphill(objective, log_beta, step, np.log([SMALLEST, _LOWEST_SLOPE])[:free])
    log_beta = log_beta if moved is None else moved
    return np.concatenate([np.exp(log_beta), beta[free:]])


def best_sums(
    sums: FloatArray, counts: FloatArray, means: FloatArray, log_means: FloatArray, beta: FloatArray, n_clusters: int
) -> FloatArray:
    """The σ that maximise N_w ln σ_w − σ_w m_w + ln Γ(K b_w) − K ln Γ(b_w) + b_w Σ_k E ln τ_wk, word by word.

    ``counts`` N (V,), ``means`` m_w = Σ_k T_k E τ_wk (V,), ``log_means`` as in ``best_beta``. For β₂ = 0 it is N/m,
    else a few steps of Newton's method that never lower it.
    """
    seen = (counts > 0.0) & (means > 0.0)  # a word that never occurs keeps its first, small, sum
    if beta[1] == 0.0 or n_clusters == 1:
        return np.where(seen, counts / np.where(seen, means, 1.0), sums)
    return np.where(seen, clusters_kernels.word_sums(sums, counts, means, log_means, beta, n_clusters, 3), sums)


def _uphill(
    objective: Callable[[FloatArray], float],
    start: FloatArray,
    step: FloatArray,
    low: FloatArray | float,
    limit: float = LARGEST,
) -> FloatArray | None:
    """The start plus as much of the step as gains, inside the bounds; None if nothing does."""
    best = objective(start)
    for _ in range(20):
        tried = np.clip(start + step, low, np.log(limit))
        if objective(tried) > best:
            return tried
        step = 0.5 * step
    return None


_CHUNKS = 16  # pieces shared out to threads; results do not depend on their number


@with_fields(
    {
        "alpha": Array(np.float64, ("k",), least=TINY),
        "beta": Array(np.float64, (2,)),
        "sums": Array(np.float64, ("n_words",), least=TINY),
        "points": Array(np.float64, ("n_words", "k"), least=TINY),
        "deltas": Array(np.float64, ("n_words",), least=TINY) | Null(),
    }
)
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


class CountedDocuments(NamedTuple):
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


def arrange(X: sparse.csr_matrix, omega: FloatArray, bursts: bool = False) -> CountedDocuments:
    """Documents in the two orders that sweeps read; with ``bursts`` for words that have a δ."""
    numbered = sparse.csr_matrix((np.arange(X.nnz), X.indices, X.indptr), shape=X.shape).tocsc()
    totals = np.bincount(X.indices, X.data, minlength=X.shape[1]).astype(np.float64)
    lengths = length_basis(omega) if bursts else None
    parts = numbered.indptr, numbered.indices, numbered.data, totals, data_constant(X, omega)
    return CountedDocuments(X, omega, *parts, lengths)


def data_constant(X: sparse.csr_matrix, omega: FloatArray) -> float:
    """Σ x ln ω − ln x!, which nothing that is learnt changes."""
    logs = np.log(np.where(omega > 0.0, omega, 1.0))
    return float((X.data * np.repeat(logs, np.diff(X.indptr)) - special.gammaln(X.data + 1.0)).sum())


def sweep(
    documents: CountedDocuments,
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
    documents: CountedDocuments,
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
    documents: CountedDocuments,
    words: ClusterWords,
    factors: FloatArray,
    start: FloatArray,
    max_steps: int,
    tol: float,
    pool: ThreadPoolExecutor | None,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    X, n_docs = documents.X, documents.X.shape[0]
    points, shares, ratios, bounds = start.copy(), np.empty_like(start), np.empty(X.nnz), np.empty(n_docs)
    bursts = np.zeros(len(words.sums)) if words.deltas is None else words.deltas / words.sums
    expected = _expected_words(documents, words)

    def part(first: int, last: int) -> None:
        clusters_kernels.document_sweep(
            X.indptr, X.indices, X.data, words.alpha, factors, bursts, expected, points, shares, ratios, bounds,
            first, last, max_steps, tol,
        )  # fmt: skip

    _share_out(part, n_docs, pool)
    return points, shares, ratios, bounds


def _expected_words(documents: CountedDocuments, words: ClusterWords) -> FloatArray:
    """Occurrences of known words, of bursts the first, in each document if it were of one cluster, (n_docs, K)."""
    if words.deltas is None or documents.lengths is None:
        return documents.omega[:, None] * words.rates.sum(axis=0)
    nodes, weights = documents.lengths
    return np.asarray(weights @ (effective_lengths(nodes, words.deltas) @ words.rates))


def _exposure(documents: CountedDocuments, known: Known, words: ClusterWords, means: FloatArray) -> FloatArray:
    """Thousands of words of each cluster that each word could have occurred in, T (V, K), given E θ (n_docs, K)."""
    if words.deltas is None or documents.lengths is None:
        sizes = known.exposure + (documents.omega[:, None] * means).sum(axis=0)
        return np.tile(sizes, (len(words.sums), 1))
    nodes, weights = documents.lengths
    return np.asarray(effective_lengths(nodes, words.deltas).T @ (weights.T @ means))


def _update_deltas(
    documents: CountedDocuments, words: ClusterWords, points: FloatArray, copies: FloatArray
) -> ClusterWords:
    """δ given how many occurrences of each word were copies, (V,)."""
    assert words.deltas is not None
    assert documents.lengths is not None
    nodes, weights = documents.lengths
    mass = (weights.T @ (points / points.sum(axis=1, keepdims=True))) @ words.rates.T
    found = best_deltas(words.deltas, np.maximum(copies, 0.0), documents.X, documents.omega, nodes, mass)
    return words._replace(deltas=found)


def _expected_counts(
    documents: CountedDocuments,
    factors: FloatArray,
    shares: FloatArray,
    ratios: FloatArray,
    pool: ThreadPoolExecutor | None,
) -> FloatArray:
    counts, ratios_by_word = np.empty_like(factors), ratios[documents.places]

    def part(first: int, last: int) -> None:
        clusters_kernels.word_counts(
            documents.by_word, documents.rows, ratios_by_word, shares, factors, counts, first, last
        )

    _share_out(part, len(counts), pool)
    return counts


def _update_words(
    words: ClusterWords, counts: FloatArray, exposure: FloatArray, learn_beta: bool, pool: ThreadPoolExecutor | None
) -> ClusterWords:
    """λ, σ and β given expected counts N and sizes T, both (V, K)."""
    points, totals, n_clusters = words.points.copy(), counts.sum(axis=1), counts.shape[1]
    sums, beta = words.sums, words.beta

    def part(first: int, last: int) -> None:
        rows = slice(first, last)
        clusters_kernels.dirichlet_optima(
            prior[rows, None] + counts[rows], sums[rows], exposure[rows], points[rows], 2, 1e-3
        )

    prior = dirichlet_strengths(beta, sums)
    _share_out(part, len(points), pool)
    log_means = _log_means(points, pool)[0].sum(axis=1)
    means = (points * exposure).sum(axis=1) / points.sum(axis=1)
    sums = best_sums(sums, totals, means, log_means, beta, n_clusters)
    if learn_beta:
        beta = best_beta(beta, sums, log_means, n_clusters)
    return words._replace(points=points, sums=sums, beta=beta)


def _rest_of_bound(
    documents: CountedDocuments, known: Known, words: ClusterWords, log_means: FloatArray, normalisers: FloatArray
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
    log_means, normalisers = np.empty_like(points), np.empty(len(points))

    def part(first: int, last: int) -> None:
        clusters_kernels.log_mean_table(points, log_means, normalisers, first, last)

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
