"""The constants of soft clustering that maximise the bound given the rest: α, β = (β₁, β₂), and the sums σ.

Each function returns what it was given wherever it finds nothing better: the bound never falls.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special

from textbayes.core.types import FloatArray

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


def best_beta(
    beta: FloatArray, sums: FloatArray, log_means: FloatArray, n_clusters: int, max_iter: int = 1
) -> FloatArray:
    """The (β₁, β₂) that maximise Σ_w [ln Γ(K b_w) − K ln Γ(b_w) + b_w Σ_k E ln τ_wk], b_w = β₁ + β₂σ_w.

    ``log_means`` (V,) holds Σ_k E ln τ_wk. β₂ = 0 stays 0. The function is concave in β; Newton's method in ln β.
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
    for _ in range(max_iter):
        b = _strengths(log_beta)
        first = n_clusters * (special.digamma(n_clusters * b) - special.digamma(b)) + log_means
        second = n_clusters**2 * special.polygamma(1, n_clusters * b) - n_clusters * special.polygamma(1, b)
        parts = np.exp(log_beta)[:, None] * np.vstack([np.ones_like(sums), sums])[:free]
        slope = (parts * first).sum(axis=1)
        curvature = -np.einsum("iw,jw->ij", parts * second, parts) + np.diag(np.maximum(-slope, 0.0))
        curvature += 1e-9 * np.trace(curvature) * np.eye(free)
        step = np.clip(np.linalg.solve(curvature, slope), -1.0, 1.0)
        moved = _uphill(objective, log_beta, step, np.log([SMALLEST, _LOWEST_SLOPE])[:free])
        if moved is None:
            break
        log_beta = moved
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
    from textbayes.kernels.counts.clusters_dirichlet import word_sums

    return np.where(seen, word_sums(sums, counts, means, log_means, beta, n_clusters, 3), sums)


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
