"""The Gibbs sampler checked like an instrument, for every link × prior pair that it offers.

Simulation-based calibration: weights from the prior, outcomes from the weights, a posterior from the outcomes, 200
times; the rank of the true weight among thinned draws must be uniform (χ² of 20 bins). Geweke's joint test: a chain
that draws outcomes and weights in turn must have the prior as its distribution (z-scores of bounded functions). Looked
at is the smallest p-value of each kind times the number of tests (Bonferroni), which must be above 1 %. Documents look
like short texts: words in a third of them, weights of TF-IDF size, 25 documents, 6 words and an intercept. The share of
true weights within central 95 % intervals is that of all pairs together. Links without
normal responses share one sampler, a slow one; they have the joint test alone.

References: Talts, Betancourt, Simpson, Vehtari & Gelman (2018), Validating Bayesian inference algorithms with
simulation-based calibration; Geweke (2004), Getting it right, JASA 99, 799–804.
"""

from __future__ import annotations

import importlib.util
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse, stats

from _common import close
from textbayes.inference.gibbs.block import Design
from textbayes.inference.gibbs.chain import Chain, Target
from textbayes.inference.gibbs.diagnostics import effective_sample_size
from textbayes.inference.gibbs.scales import FIXED, MIXTURES
from textbayes.links import links, make_link
from textbayes.priors import make_prior

LEVEL, COVERAGE = 0.01, (0.93, 0.97)
N_DATA_SETS, N_RANKED, THIN, WARMUP, BINS = 200, 99, 4, 100, 20
N_JOINT = 12_000
SLOW, N_JOINT_SLOW = ("flip", "skew_t"), 1_500  # no normal responses: the joint test alone, and a shorter one
N_DOCS, N_WORDS, SCALE, MEAN = 25, 6, 0.8, 0.2


class Outcome(NamedTuple):
    """p-values of one pair, and how many true weights were inside their intervals."""

    name: str
    calibration: np.ndarray
    joint: np.ndarray
    inside: float


def documents(rng: np.random.Generator) -> sparse.csc_matrix:
    X = sparse.random(
        N_DOCS, N_WORDS, density=0.35, random_state=rng, format="csc", data_rvs=lambda n: rng.gamma(2.0, 0.6, n)
    )
    return sparse.csc_matrix((X.data, X.indices.astype(np.int32), X.indptr), shape=X.shape)


def from_prior(prior: Any, n: int, rng: np.random.Generator) -> np.ndarray:
    """Weights of the words and a standard normal intercept, by the definition of each family."""
    shape = (n, N_WORDS)
    if prior.name == "gaussian":
        standard = rng.standard_normal(shape)
    elif prior.name == "laplace":
        standard = rng.laplace(size=shape)
    elif prior.name == "student_t":
        standard = rng.standard_t(float(prior.degrees), shape)
    elif prior.name == "horseshoe":
        standard = rng.standard_cauchy(shape) * rng.standard_normal(shape)
    else:  # elastic_net, by inversion on a fine grid
        grid = np.linspace(-15.0, 15.0, 100_001)
        ratio = float(prior.l1_ratio)
        cdf = np.cumsum(np.exp(-ratio * np.abs(grid) - 0.5 * (1.0 - ratio) * grid**2))
        standard = np.interp(rng.random(shape), cdf / cdf[-1], grid)
    return np.column_stack([MEAN + SCALE * standard, rng.standard_normal(n)])


def chain_of(X: Any, y: np.ndarray, link: Any, prior: Any, seed: list[int]) -> Chain:
    target = Target(Design.of(X, True), y, link, prior.for_label(0, N_WORDS), make_prior("gaussian", 1.0), False)
    return Chain(target, np.random.SeedSequence(seed), "auto", None)


def outcomes(X: Any, w: np.ndarray, link: Any, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(N_DOCS) < link.probability(X @ w[:-1] + w[-1]), 1.0, -1.0)


def calibration(link: Any, prior: Any, seed: int) -> tuple[np.ndarray, float]:
    """p-values of the ranks of two weights, the intercept and a predictor; share of weights inside 95 % intervals."""
    rng = np.random.default_rng(seed)
    ranks = np.empty((N_DATA_SETS, N_WORDS + 2))
    for k, true in enumerate(from_prior(prior, N_DATA_SETS, rng)):
        X = documents(rng)
        chain = chain_of(X, outcomes(X, true, link, rng), link, prior, [seed, k])
        chain.advance(WARMUP)
        drawn, _ = chain.advance(N_RANKED * THIN, THIN)
        row = np.append(X[0].toarray()[0], 1.0)
        ranks[k] = np.append((drawn < true.astype(np.float32)).sum(axis=0), (drawn @ row < true @ row).sum())
    counts = [np.bincount((ranks[:, j] * BINS // (N_RANKED + 1)).astype(int), minlength=BINS) for j in (0, 1, -2, -1)]
    low, high = 0.025 * (N_RANKED + 1), 0.975 * (N_RANKED + 1)
    # A rank at an end of the interval counts by half: ranks are whole numbers.
    words = ranks[:, :N_WORDS] + 0.5
    inside = ((words > low) & (words < high)).mean() + 0.5 * ((words == low) | (words == high)).mean()
    return np.array([stats.chisquare(count).pvalue for count in counts]), float(inside)


def functions(w: np.ndarray) -> np.ndarray:
    squashed = np.tanh(w)
    pairs = squashed[:, :1] * squashed[:, 1:3]
    return np.column_stack([squashed, squashed[:, [0, 1, 2, -1]] ** 2, pairs, np.abs(w[:, :3] - MEAN) < 0.2])


def joint(link: Any, prior: Any, seed: int) -> np.ndarray:
    """p-values of bounded functions of weights: of the prior, and of a chain of outcomes and weights in turn."""
    rng = np.random.default_rng(seed)
    X = documents(rng)
    chain = chain_of(X, np.ones(N_DOCS), link, prior, [seed])
    n_steps = N_JOINT_SLOW if link.name in SLOW else N_JOINT
    drawn = np.empty((n_steps, N_WORDS + 1))
    for k in range(n_steps):
        chain.set_outcomes(outcomes(X, chain.weights, link, rng))
        chain.step()
        drawn[k] = chain.weights
    found, wanted = functions(drawn[200:]), functions(from_prior(prior, 200_000, rng))
    variance = found.var(axis=0) / effective_sample_size(found[None]) + wanted.var(axis=0) / len(wanted)
    return 2.0 * stats.norm.sf(np.abs(found.mean(axis=0) - wanted.mean(axis=0)) / np.sqrt(variance))


def pair(names: tuple[str, str]) -> Outcome:
    link, prior = make_link(names[0]), make_prior(names[1], SCALE, MEAN)
    seed = 100 * links.names().index(names[0]) + (FIXED + MIXTURES).index(names[1])
    p_values, inside = (np.ones(1), np.nan) if names[0] in SLOW else calibration(link, prior, seed)
    return Outcome(" × ".join(names), p_values, joint(link, prior, seed), inside)


def main() -> None:
    offered = list(product(links.names(), FIXED + MIXTURES))
    if importlib.util.find_spec("polyagamma") is None:
        print("polyagamma is not installed: the logit is not among the links of this run")
        offered = [names for names in offered if names[0] != "logit"]
    with ProcessPoolExecutor(2) as pool:
        done = []
        for one in pool.map(pair, offered):
            done.append(one)
            print(
                f"{one.name:24} smallest p-value: calibration {one.calibration.min():.3f} of {len(one.calibration)}, "
                f"joint {one.joint.min():.4f} of {len(one.joint)}; 95 % intervals hold {100 * one.inside:.1f} %",
                flush=True,
            )
    worst = [min(1.0, min(part.min() for part in parts) * sum(len(part) for part in parts))
             for parts in ([one.calibration for one in done], [one.joint for one in done])]  # fmt: skip
    inside = float(np.nanmean([one.inside for one in done]))
    passed = min(worst) >= LEVEL and COVERAGE[0] <= inside <= COVERAGE[1]
    figures = (
        f"{len(done)} pairs, adjusted p-values calibration {worst[0]:.2f}, joint {worst[1]:.2f} (bar {LEVEL:g}); "
        f"95 % intervals hold {100 * inside:.1f} % (bar 93–97 %)"
    )
    close("gibbs correct", passed, figures)


if __name__ == "__main__":
    main()
