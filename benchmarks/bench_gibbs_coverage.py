"""How often 95 % credible intervals hold the true weight, on simulated sparse text that the model describes.

Texts of 8 to 50 words are drawn from Zipf's law over a vocabulary of 200 words, counted and weighted by TF-IDF to unit
length, as real ones are. True weights and intercept are drawn from the prior, outcomes from the link, 300 documents a
time; a data set is a posterior with 200 intervals. Shares are given with their standard errors over data sets (weights
of one data set are not independent). Each pair must hold 93 to 97 %, of all words and of those in at least 20 documents
(the interval of a rare word is little more than that of the prior, which is right by construction).
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from scipy import sparse

from _common import close
from textbayes.inference import Problem
from textbayes.inference.gibbs import Gibbs
from textbayes.links import make_link
from textbayes.priors import make_prior
from textbayes.text import TermWeighting

LOW, HIGH, LEVEL = 0.93, 0.97, 0.95
N_DOCS, N_WORDS, SCALE, COMMON = 300, 200, 4.0, 20
PAIRS = (("probit", "gaussian"), ("probit", "laplace"), ("logit", "laplace"), ("student_t:df=4", "student_t"))


def documents(rng: np.random.Generator) -> sparse.csc_matrix:
    """TF-IDF weights of texts whose words follow Zipf's law."""
    share = 1.0 / (np.arange(N_WORDS) + 2.7)  # Mandelbrot's form
    counts = np.stack([rng.multinomial(size, share / share.sum()) for size in rng.integers(8, 51, N_DOCS)])
    X = sparse.csc_matrix(TermWeighting("tfidf").fit_transform(sparse.csr_matrix(counts.astype(float))))
    return sparse.csc_matrix((X.data, X.indices.astype(np.int32), X.indptr), shape=X.shape)


def weights(prior: Any, rng: np.random.Generator) -> np.ndarray:
    """From the prior, by the definition of each family."""
    if prior.name == "gaussian":
        return SCALE * rng.standard_normal(N_WORDS)
    if prior.name == "laplace":
        return SCALE * rng.laplace(size=N_WORDS)
    return SCALE * rng.standard_t(float(np.asarray(prior.degrees)), N_WORDS)


def data_set(task: tuple[tuple[str, str], int]) -> tuple[float, float, float]:
    """Share of weights, and of weights of common words, inside; the effective sample size reached."""
    names, seed = task
    rng = np.random.default_rng([PAIRS.index(names), seed])
    link, prior, of_intercept = make_link(names[0]), make_prior(names[1], SCALE), make_prior("gaussian", 1.0)
    X, true = documents(rng), weights(prior, rng)
    probability = link.probability(X @ true + rng.standard_normal())
    y = np.where(rng.random(N_DOCS) < probability, 1.0, -1.0)
    seen: list[float] = []
    sampler = Gibbs(chains=2, warmup=200, target_ess=400.0, max_r_hat=1.05, max_draws=2_000, random_state=seed,
                    progress=lambda state: seen.append(state.min_ess))  # fmt: skip
    low, high = sampler.run(Problem(X, y[:, None], link, prior, of_intercept)).draws.interval(LEVEL)
    inside = (low[0] <= true) & (true <= high[0])
    return float(inside.mean()), float(inside[np.diff(X.indptr) >= COMMON].mean()), seen[-1]


def described(values: np.ndarray) -> str:
    return f"{100 * values.mean():.2f} ± {100 * values.std(ddof=1) / np.sqrt(len(values)):.2f} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-sets", type=int, default=20, help="of each pair")
    n_sets = parser.parse_args().data_sets
    shares = []
    with ProcessPoolExecutor(2) as pool:
        for names in PAIRS:
            found = np.array(list(pool.map(data_set, [(names, seed) for seed in range(n_sets)])))
            shares.append(found)
            print(
                f"{' × '.join(names):24} {n_sets} data sets of {N_WORDS} weights: inside {described(found[:, 0])}, "
                f"of common words {described(found[:, 1])}; effective sample sizes from {found[:, 2].min():.0f}",
                flush=True,
            )
    each = [float(part[:, column].mean()) for part in shares for column in (0, 1)]
    together = np.concatenate(shares)
    figures = (
        f"95 % intervals hold {described(together[:, 0])} of {len(together) * N_WORDS} true weights, "
        f"{described(together[:, 1])} of common words', {100 * min(each):.1f} to {100 * max(each):.1f} % by pair "
        "(bar 93–97 %)"
    )
    close("gibbs coverage", all(LOW <= share <= HIGH for share in each), figures)


if __name__ == "__main__":
    main()
