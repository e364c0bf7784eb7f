"""What must hold of online posteriors at length: a million updates, and 20 problems against long Markov chains.

1. A covariance of 40 words through 10⁶ updates (probit, σ0 = 0.5): symmetric to the last bit, positive definite, and
   equal to the inverse of the precision that was summed apart from it.
2. Means and variances after propagation on 20 small random problems with documents of unit length, as texts are given
   to the models, and the paper's σ0 = 1.6474, against independent Gibbs chains: in standard errors of the chains. There
   are some 190 numbers; the largest of as many normal draws lies below 4 with probability 0.99. For information, the
   same with σ0 = 0.5, where few documents decide much and the posterior is far from Gaussian.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse, special

from _common import close
from references.online import sample_probit
from textbayes.kernels.online.full import learn_full
from textbayes.models.online import PAPER_LOGIT, PAPER_PROBIT, FullPosterior, OnlineLikelihood, propagate

N_DOCS, N_WORDS, PASSES = 20_000, 40, 50
N_PROBLEMS, STANDARD_ERRORS = 20, 4.0


def a_million_updates() -> tuple[bool, str]:
    rng = np.random.default_rng(0)
    X = sparse.random(N_DOCS, N_WORDS, density=0.2, random_state=rng, format="csr")
    y = np.where(X @ rng.normal(0.0, 2.0, N_WORDS) + rng.normal(0.0, 0.5, N_DOCS) > 0.2, 1.0, -1.0)
    prior = FullPosterior.start(range(N_WORDS))
    rows, mean, cov = prior._rows(X), prior.mean.copy(), prior.cov.copy()
    design, precision = np.hstack([np.ones((N_DOCS, 1)), X.toarray()]), np.eye(N_WORDS + 1)
    for _ in range(PASSES):
        sites, log_z = np.zeros((N_DOCS, 2)), np.empty(N_DOCS)
        learn_full(*rows, y, mean, cov, *PAPER_PROBIT.closed_form, sites, log_z)
        precision += (design.T * sites[:, 0]) @ design
    symmetric = bool((cov == cov.T).all())
    eigenvalues, exact = np.linalg.eigvalsh(cov), np.linalg.inv(precision)
    error = np.abs(cov - exact).max() / np.abs(exact).max()
    text = f"{N_DOCS * PASSES:,} updates: least eigenvalue {eigenvalues[0]:.1e}, relative error {error:.0e}"
    print(f"{text}, condition {eigenvalues[-1] / eigenvalues[0]:.0e}, symmetric: {symmetric}")
    return symmetric and eigenvalues[0] > 0.0 and error < 1e-6, text


def against_chains(likelihood: OnlineLikelihood) -> tuple[float, float, float]:
    """Largest distance in standard errors, and of means in standard deviations and of variances, relative."""
    worst, mean_gap, var_gap = 0.0, 0.0, 0.0
    for seed in range(N_PROBLEMS):
        rng = np.random.default_rng(seed)
        n_words, n_docs = int(rng.integers(1, 6)), int(rng.integers(5, 40))
        X = np.abs(rng.normal(size=(n_docs, n_words))) * (rng.random((n_docs, n_words)) < 0.6)
        X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
        design = np.hstack([np.ones((n_docs, 1)), X])
        p = special.ndtr(design @ rng.normal(size=n_words + 1) / likelihood.noise)
        y = np.where(rng.random(n_docs) < p, 1.0, -1.0)
        first, second = sample_probit(design, y, likelihood.noise, rng, n_chains=100, n_keep=500)
        posterior, info = propagate(FullPosterior.start(range(n_words)), X, y, likelihood)
        assert info.converged
        mean = first.mean(axis=0)
        squares = second - 2.0 * first * mean + mean**2
        for found, chains in ((posterior.mean, first), (np.diag(posterior.cov), squares)):
            error = chains.std(axis=0, ddof=1) / np.sqrt(len(chains))
            worst = max(worst, float((np.abs(found - chains.mean(axis=0)) / error).max()))
        var = squares.mean(axis=0)
        mean_gap = max(mean_gap, float((np.abs(posterior.mean - mean) / np.sqrt(var)).max()))
        var_gap = max(var_gap, float(np.abs(np.diag(posterior.cov) / var - 1.0).max()))
    return worst, mean_gap, var_gap


def main() -> None:
    stable, text = a_million_updates()
    for likelihood in (PAPER_PROBIT, PAPER_LOGIT):
        worst, mean_gap, var_gap = against_chains(likelihood)
        print(
            f"σ0 = {likelihood.noise:g}, {N_PROBLEMS} problems: within {worst:.1f} standard errors of the chains; "
            f"means within {mean_gap:.3f} standard deviations, variances within {100 * var_gap:.1f} %"
        )
    passed = stable and worst < STANDARD_ERRORS
    close("online exact", passed, f"{text}; chains within {worst:.1f} standard errors (bar {STANDARD_ERRORS:g})")


if __name__ == "__main__":
    main()
