"""The online paper's algorithms as they are printed: dense, one document at a time, one label, no tricks.

``textbayes.models.online`` is tested against this file. Opper (1998), A Bayesian approach to on-line learning.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from textbayes.core.types import FloatArray
from textbayes.models.online.likelihood import OnlineLikelihood


def learn_document(
    mean: FloatArray, cov: FloatArray, x: FloatArray, y: float, likelihood: OnlineLikelihood
) -> tuple[FloatArray, FloatArray, float]:
    """§ 3.1.1, steps 4–8: the posterior N(mean, cov) after the document x with outcome y, and ln⟨p(y | x)⟩.

    s = C x,  ⟨a⟩ ← ⟨a⟩ + s ∂ ln⟨p⟩,  C ← C + s s' ∂² ln⟨p⟩,  derivatives in ⟨h⟩ = x'⟨a⟩.
    """
    s = cov @ x
    log_z, d1, d2 = (float(part) for part in likelihood.moments(x @ mean, x @ s, np.asarray(y)))
    return mean + d1 * s, cov + d2 * np.outer(s, s), log_z


def learn_document_diagonal(
    mean: FloatArray, var: FloatArray, x: FloatArray, y: float, likelihood: OnlineLikelihood
) -> tuple[FloatArray, FloatArray, float]:
    """The same with all correlations forgotten after each document."""
    mean, cov, log_z = learn_document(mean, np.diag(var), x, y, likelihood)
    return mean, np.diag(cov).copy(), log_z


def drift(
    mean: FloatArray, cov: FloatArray, prior_mean: FloatArray, prior_var: FloatArray, forgetting_factor: float
) -> tuple[FloatArray, FloatArray]:
    """Weights that move between documents, w ← m₀ + ρ(w − m₀) + noise, such that the prior N(m₀, diag v₀) stays put."""
    share = forgetting_factor**2
    return prior_mean + forgetting_factor * (mean - prior_mean), share * cov + (1.0 - share) * np.diag(prior_var)


def sample_probit(
    X: FloatArray,
    y: FloatArray,
    noise: float,
    rng: np.random.Generator,
    n_chains: int = 200,
    n_burn: int = 200,
    n_keep: int = 1000,
) -> tuple[FloatArray, FloatArray]:
    """Means of w and of w² in independent Gibbs chains for w ~ N(0, I), p(y | x) = Φ(y x'w/noise), to compare with.

    Albert & Chib (1993): w given the latent z is Gaussian, z given w and y a truncated normal. Arrays
    (n_chains, n_features); chains are independent, so their spread gives the standard error of what they estimate.
    """
    n_features = X.shape[1]
    cov = np.linalg.inv(np.eye(n_features) + X.T @ X / noise**2)
    root, regression = np.linalg.cholesky(cov), cov @ X.T / noise
    w = np.zeros((n_chains, n_features))
    first, second = np.zeros((2, n_chains, n_features))
    for step in range(n_burn + n_keep):
        margin = y * (w @ X.T) / noise
        # y·z is normal around the margin and positive: −Φ⁻¹ of a uniform share of Φ(margin), in the tail without loss.
        share = np.maximum(rng.random(margin.shape) * special.ndtr(margin), 1e-300)
        z = y * (margin - special.ndtri(share))
        w = z @ regression.T + rng.standard_normal(w.shape) @ root.T
        if step >= n_burn:
            first += w / n_keep
            second += w * w / n_keep
    return first, second
