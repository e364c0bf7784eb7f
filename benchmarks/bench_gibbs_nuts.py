"""Posterior means and standard deviations of the Gibbs sampler against NumPyro's NUTS, on three real problems.

Every weight and intercept is compared: z = difference / √(MCSE² + MCSE²), by the effective sample sizes of both (of
squares for standard deviations). The smallest p-value times the number of comparisons must be above 1 %, and the
Monte Carlo errors small enough for that to mean something: at most a tenth of a posterior standard deviation.

    openstax        300 modules, 120 words by t-test, psychology or not     probit × Laplace
    reuters21578    300 stories, 60 words by t-test, acquisitions or not    logit × Gaussian
    movie_reviews   300 reviews, 50 words by t-test, liked or not           Student-t (4 degrees) × Student-t

The intercept is N(0, 2.5²). The models are written anew in NumPyro, with scale mixtures where that helps NUTS.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from _common import close
from bench_gibbs_speed import openstax_problem, telling_words
from textbayes.data import load_corpus
from textbayes.inference import Problem
from textbayes.inference.gibbs import Gibbs
from textbayes.links import make_link
from textbayes.posterior.draws import effective_sample_size
from textbayes.priors import make_prior

LEVEL, LARGEST_ERROR = 0.01, 0.1
N_DOCS, INTERCEPT_SCALE, SCALE = 300, 2.5, 2.0
N_GIBBS, N_NUTS, N_NUTS_WARMUP = 3_000, 750, 400  # of each of two chains


class Case(NamedTuple):
    """A problem, and the link and prior it is given."""

    name: str
    load: Callable[[], tuple[Any, np.ndarray]]
    link: str
    prior: str


def corpus_problem(name: str, positive: str, n_words: int) -> tuple[Any, np.ndarray]:
    corpus = load_corpus(name)
    rows = np.sort(np.random.default_rng(0).choice(len(corpus.texts), N_DOCS, replace=False))
    is_positive = np.array([positive in corpus.labels[row] for row in rows])
    return telling_words([corpus.texts[row] for row in rows], is_positive, n_words)


CASES = (
    Case("openstax", lambda: openstax_problem(n_words=120), "probit", "laplace"),
    Case("reuters21578", lambda: corpus_problem("reuters21578", "acq", 60), "logit", "gaussian"),
    Case("movie_reviews", lambda: corpus_problem("movie_reviews", "pos", 50), "student_t:df=4", "student_t"),
)


def by_gibbs(case: Case, X: Any, y: np.ndarray) -> np.ndarray:
    problem = Problem(
        X, y[:, None], make_link(case.link), make_prior(case.prior, SCALE), make_prior("gaussian", INTERCEPT_SCALE)
    )
    one = Gibbs(chains=2, n_jobs=2, target_ess=1e9, max_draws=N_GIBBS, random_state=1).run(problem).draws.labels[0]
    return np.concatenate([one.weights, one.intercept[:, :, None]], axis=2)


def by_nuts(case: Case, X: Any, y: np.ndarray) -> np.ndarray:
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist

    matrix, outcome, n_words = jnp.asarray(X.toarray()), jnp.asarray(y), X.shape[1]

    def log_probability(margin: Any) -> Any:
        if case.link == "probit":
            return jax.scipy.special.log_ndtr(margin)
        if case.link == "logit":
            return jax.nn.log_sigmoid(margin)
        ratio = margin / jnp.sqrt(1.0 + margin**2 / 4.0)  # the distribution function for 4 degrees in closed form
        return jnp.log(0.5 + 0.375 * ratio * (1.0 - ratio**2 / 12.0))

    def model() -> None:
        standard = numpyro.sample("standard", dist.Normal().expand([n_words]))
        if case.prior == "laplace":
            standard = standard * jnp.sqrt(2.0 * numpyro.sample("tau", dist.Exponential().expand([n_words])))
        elif case.prior == "student_t":
            degrees = float(np.asarray(make_prior("student_t", SCALE).degrees))
            q = numpyro.sample("q", dist.Gamma(0.5 * degrees, 0.5 * degrees).expand([n_words]))
            standard = standard / jnp.sqrt(q)
        w = numpyro.deterministic("w", SCALE * standard)
        b = numpyro.sample("b", dist.Normal(0.0, INTERCEPT_SCALE))
        numpyro.factor("likelihood", log_probability(outcome * (matrix @ w + b)).sum())

    sampler = numpyro.infer.MCMC(numpyro.infer.NUTS(model), num_warmup=N_NUTS_WARMUP, num_samples=N_NUTS, num_chains=2,
                                 progress_bar=False)  # fmt: skip
    sampler.run(jax.random.PRNGKey(2))
    found = sampler.get_samples(group_by_chain=True)
    return np.concatenate([np.asarray(found["w"]), np.asarray(found["b"])[:, :, None]], axis=2)


def summaries(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means and then standard deviations of all columns, their Monte Carlo errors, and the deviations twice over."""
    flat = draws.astype(np.float64)
    mean, sd = flat.mean(axis=(0, 1)), flat.std(axis=(0, 1))
    squares = (flat - mean) ** 2
    error_mean = sd / np.sqrt(effective_sample_size(flat))
    error_sd = squares.std(axis=(0, 1)) / np.sqrt(effective_sample_size(squares)) / (2.0 * sd)
    return np.append(mean, sd), np.append(error_mean, error_sd), np.append(sd, sd)


def main() -> None:
    try:
        import numpyro
    except ImportError:
        close("gibbs nuts", False, "NumPyro is not installed; it is among the development requirements")
    numpyro.set_host_device_count(2)
    numpyro.enable_x64()
    chosen = [case for case in CASES if len(sys.argv) < 2 or case.name in sys.argv[1:]]
    p_values, errors = [], []
    for case in chosen:
        X, y = case.load()
        times, found = [], []
        for sampler in (by_gibbs, by_nuts):
            start = time.perf_counter()
            found.append(summaries(sampler(case, X, y)))
            times.append(time.perf_counter() - start)
        (ours, error, sd), (nuts, nuts_error, _) = found
        z = (ours - nuts) / np.sqrt(error**2 + nuts_error**2)
        p_values.append(2.0 * stats.norm.sf(np.abs(z)))
        errors.append(np.maximum(error, nuts_error)[: len(z) // 2] / sd[: len(z) // 2])
        print(
            f"{case.name:14} {case.link} × {case.prior}, {X.shape[0]} × {X.shape[1]}: |z| of means ≤ "
            f"{np.abs(z[: len(z) // 2]).max():.2f}, of sds ≤ {np.abs(z[len(z) // 2 :]).max():.2f}, rms z "
            f"{np.sqrt((z**2).mean()):.2f}; MCSE of a mean ≤ {errors[-1].max():.3f} sd; {times[0]:.0f} s and "
            f"{times[1]:.0f} s",
            flush=True,
        )
    together = np.concatenate(p_values)
    adjusted, largest = min(1.0, together.min() * len(together)), max(part.max() for part in errors)
    figures = (
        f"{len(chosen)} problems, {len(together)} means and sds, adjusted p-value {adjusted:.2f} (bar {LEVEL:g}), "
        f"Monte Carlo errors of means up to {largest:.3f} sd (bar {LARGEST_ERROR:g})"
    )
    close("gibbs nuts", adjusted >= LEVEL and largest <= LARGEST_ERROR, figures)


if __name__ == "__main__":
    main()
