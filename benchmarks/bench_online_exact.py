"""What must hold of online posteriors: a million updates, single updates by integration, and long Markov chains.

1. A covariance of 40 words through 10⁶ updates (probit, σ0 = 0.5): symmetric to the last bit, positive definite, and
   equal to the inverse of the precision that was summed apart from it.
2. One online update (§ 3.1 of the paper; probit with σ0 = 0.5 and 1.6474, flip noise with κ = 0.1) against the mean and
   covariance of p(y | x, w) N(w; m, C), integrated numerically over x'w.
3. What 20 small random problems come to, documents of unit length as texts are given to the models, against
   independent Gibbs chains. Expectation propagation (``propagate``), which visits documents until nothing moves, is
   held to the chains' standard errors at σ0 = 1.6474: there are some 190 numbers, and the largest of as many normal
   draws lies below 4 with probability 0.99. The online update itself, one pass and the paper's three, is an
   approximation that depends on the order: how far it lies from the chains is printed, in standard deviations of the
   posterior and in per cent of its variances; one pass has a bar on the average. σ0 = 0.5, where few documents decide
   much and the posterior is far from Gaussian, is printed for both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse, special

from _common import close
from references.online import sample_probit
from textbayes.kernels.online.full import learn_full
from textbayes.models.online import PAPER_FLIP, PAPER_LOGIT, PAPER_PROBIT, FullPosterior, OnlineLikelihood, propagate

N_DOCS, N_WORDS, PASSES = 20_000, 40, 50
N_PROBLEMS, STANDARD_ERRORS = 20, 4.0
ONLINE_BAR = 0.1  # standard deviations between the means of one pass and of the posterior, on average
WAYS: dict[str, int | None] = {
    "expectation propagation": None,
    "online update, one pass": 1,
    "online update, three passes": 3,
}


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


def one_update() -> float:
    """Largest error of a single update's mean and covariance, by quadrature over h = x'w of Gaussian weights."""
    nodes, weights = np.polynomial.legendre.leggauss(4_000)
    worst = 0.0
    for seed in range(N_PROBLEMS):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(2, 6))
        root = rng.normal(size=(size + 1, size + 1))
        cov, mean = root @ root.T / size + 0.1 * np.eye(size + 1), rng.normal(size=size + 1)
        x, y = np.concatenate([[1.0], rng.random(size)]), float(rng.choice([-1.0, 1.0]))
        for likelihood in (PAPER_PROBIT, PAPER_LOGIT, PAPER_FLIP):
            learnt, _ = FullPosterior(np.arange(size), mean, cov, mean, np.diag(cov)).learn(
                x[None, 1:], [y], likelihood
            )
            center, spread = x @ mean, np.sqrt(x @ cov @ x)
            # Two pieces that meet at 0, where flip noise jumps.
            low, high = min(center - 12.0 * spread, -1.0), max(center + 12.0 * spread, 1.0)
            moments = np.zeros(3)
            for left, right in ((low, 0.0), (0.0, high)):
                h = left + 0.5 * (right - left) * (nodes + 1.0)
                density = np.exp(-0.5 * ((h - center) / spread) ** 2) * 0.5 * (right - left) * weights
                moments += [np.sum(_probability(likelihood, y * h) * density * h**power) for power in range(3)]
            first, second = moments[1] / moments[0], moments[2] / moments[0]
            # Given h the weights are Gaussian: E w = m + g (E h − x'm), Cov w = C + g g' (Var h − x'C x).
            gain = cov @ x / spread**2
            exact_mean = mean + gain * (first - center)
            exact_cov = cov + np.outer(gain, gain) * (second - first**2 - spread**2)
            worst = max(worst, np.abs(learnt.mean - exact_mean).max(), np.abs(learnt.cov - exact_cov).max())
    return float(worst)


def _probability(likelihood: OnlineLikelihood, margin: np.ndarray) -> np.ndarray:
    """p(y | h) written out: Φ(y h/σ0), or κ + (1 − 2κ) Θ(y h)."""
    if likelihood is PAPER_FLIP:
        return np.where(margin > 0.0, 0.9, 0.1)
    return special.ndtr(margin / likelihood.noise)


class Gaps(NamedTuple):
    """Largest distance in standard errors of the chains; of means in standard deviations and of variances, relative."""

    errors: float
    mean_gap: float
    var_gap: float
    average_gap: float

    def __str__(self) -> str:
        return (
            f"means within {self.mean_gap:.3f} standard deviations ({self.average_gap:.3f} on average), variances "
            f"within {100 * self.var_gap:.1f} %"
        )


def against_chains(likelihood: OnlineLikelihood) -> dict[str, Gaps]:
    """How far each way of learning the same documents lies from the chains, over all problems."""
    found: dict[str, list[tuple[float, float, float, float]]] = {name: [] for name in WAYS}
    for seed in range(N_PROBLEMS):
        rng = np.random.default_rng(seed)
        n_words, n_docs = int(rng.integers(1, 6)), int(rng.integers(5, 40))
        X = np.abs(rng.normal(size=(n_docs, n_words))) * (rng.random((n_docs, n_words)) < 0.6)
        X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
        design = np.hstack([np.ones((n_docs, 1)), X])
        p = special.ndtr(design @ rng.normal(size=n_words + 1) / likelihood.noise)
        y = np.where(rng.random(n_docs) < p, 1.0, -1.0)
        first, second = sample_probit(design, y, likelihood.noise, rng, n_chains=100, n_keep=500)
        mean = first.mean(axis=0)
        squares = second - 2.0 * first * mean + mean**2
        var, prior = squares.mean(axis=0), FullPosterior.start(range(n_words))
        for name, passes in WAYS.items():
            if passes is None:
                posterior, info = propagate(prior, X, y, likelihood)
                assert info.converged
            else:
                posterior, _ = prior.learn(X, y, likelihood, passes=passes)
            pairs = ((posterior.mean, first), (np.diag(posterior.cov), squares))
            errors = [
                np.abs(own - chains.mean(axis=0)) / (chains.std(axis=0, ddof=1) / np.sqrt(len(chains)))
                for own, chains in pairs
            ]
            gaps = np.abs(posterior.mean - mean) / np.sqrt(var)
            off = np.abs(np.diag(posterior.cov) / var - 1.0)
            found[name].append((float(np.max(errors)), float(gaps.max()), float(off.max()), float(gaps.mean())))
    return {
        name: Gaps(*np.max(rows, axis=0)[:3].tolist(), float(np.mean([row[3] for row in rows])))
        for name, rows in found.items()
    }


def main() -> None:
    stable, text = a_million_updates()
    update = one_update()
    print(f"one online update, {3 * N_PROBLEMS} of them: within {update:.0e} of the integrals")
    found = {}
    for likelihood in (PAPER_PROBIT, PAPER_LOGIT):
        found = against_chains(likelihood)
        for name, gaps in found.items():
            print(
                f"σ0 = {likelihood.noise:g}, {N_PROBLEMS} problems, {name}: {gaps}; {gaps.errors:.1f} standard errors"
            )
    propagated, online = found["expectation propagation"], found["online update, one pass"]
    passed = stable and update < 1e-9 and propagated.errors < STANDARD_ERRORS and online.average_gap < ONLINE_BAR
    close(
        "online exact",
        passed,
        f"{text}; one online update within {update:.0e} of its integrals (bar 1e-9); against chains at σ0 = "
        f"{PAPER_LOGIT.noise:g}: expectation propagation within {propagated.errors:.1f} standard errors (bar "
        f"{STANDARD_ERRORS:g}), one online pass {online.average_gap:.3f} standard deviations off on average (bar "
        f"{ONLINE_BAR:g}) and {online.mean_gap:.2f} at most",
    )


if __name__ == "__main__":
    main()
