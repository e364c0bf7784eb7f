"""Effective draws a second: ours, the paper's sampler in NumPy in two forms, and NumPyro's NUTS where it is installed.

300 OpenStax modules, 800 words by t-test, TF-IDF, probit with the paper's Laplace prior (λ = 0.2), no intercept. The
figure is the smallest effective sample size over all weights, and over the linear predictors of 20 documents, divided
by the time that the draws took after warm-up; all samplers' draws are judged by the same estimator, in equal numbers
but for NUTS, which has fewer. Both NumPy forms are the same Markov chain, so the slower one's draws are not drawn: its
time per iteration is measured, and its effective sample sizes are those of the other. What other priors do to mixing
on the same documents is printed beside (bulk effective sample sizes; for information).
"""

from __future__ import annotations

import time

import numpy as np
from scipy import linalg, sparse, special

from _common import close
from textbayes.data import load_corpus
from textbayes.inference import Problem
from textbayes.inference.gibbs import Gibbs
from textbayes.links import make_link
from textbayes.posterior.draws import bulk_effective_sample_size, effective_sample_size
from textbayes.priors import make_prior
from textbayes.select.score_functions import scores
from textbayes.text import TermWeighting, TextVectorizer

BAR_DOCUMENTS, BAR_WORDS, BAR_NUTS = 4.0, 50.0, 5.0
N_DRAWS, WARMUP, N_NUTS = 4_000, 300, 300
DOMAINS = ("mathematics", "chemistry", "computer_science", "psychology", "neuroscience", "physics", "electronics",
           "biology", "geology", "economics")  # fmt: skip
RATE = np.sqrt(0.2)  # λ = 0.2 as in the paper: a Laplace prior of scale 1/√λ


def telling_words(texts: list[str], positive: np.ndarray, n_words: int) -> tuple[sparse.csc_matrix, np.ndarray]:
    """TF-IDF weights of the words of largest |t|, CSC with small indices, and y ∈ {−1, +1}."""
    X = TermWeighting("tfidf").fit_transform(TextVectorizer().fit_transform(texts))
    words = np.sort(np.argsort(-scores.get("t_test")(X, positive).scores[0], kind="stable")[:n_words])
    X = sparse.csc_matrix(X[:, words])
    X = sparse.csc_matrix((X.data, X.indices.astype(np.int32), X.indptr), shape=X.shape)
    return X, np.where(positive, 1.0, -1.0)


def openstax_problem(
    positive: str = "psychology", n_words: int = 800, seed: int = 0
) -> tuple[sparse.csc_matrix, np.ndarray]:
    """300 modules, 30 of each of 10 domains, their 800 words of largest |t|, TF-IDF weights; y ∈ {−1, +1}."""
    corpus = load_corpus("openstax", extra=True)
    domain = np.array([labels[0] for labels in corpus.labels])
    rng = np.random.default_rng(seed)
    rows = np.concatenate([rng.choice(np.flatnonzero(domain == name), 30, replace=False) for name in DOMAINS])
    return telling_words([corpus.texts[row] for row in rows], domain[rows] == positive, n_words)


def _responses(eta: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Truncated normals, vectorised and exact in the tails as NumPy and SciPy allow."""
    margin = y * eta
    return y * (margin - special.ndtri_exp(special.log_ndtr(margin) + np.log1p(-rng.random(len(eta)))))


def plain_by_documents(X: np.ndarray, y: np.ndarray, n_draws: int, seed: int) -> np.ndarray:
    """The paper's sampler with weights drawn in the n × n form, written plainly in NumPy on BLAS and LAPACK."""
    n, p = X.shape
    rng = np.random.default_rng(seed)
    theta, tau, draws = np.zeros(p), np.full(p, 10.0), np.empty((n_draws, p))
    system, scaled = np.empty((n, n), order="F"), np.empty((n, p))
    diagonal = np.diag_indices(n)
    for k in range(n_draws):
        z = _responses(X @ theta, y, rng)
        start = np.sqrt(tau) * rng.standard_normal(p)
        np.multiply(X, np.sqrt(tau), out=scaled)
        # Half of X·diag(tau)·Xᵀ + I, which is all that its Cholesky factor needs; nothing is copied.
        system = linalg.blas.dsyrk(1.0, scaled.T, c=system, trans=1, lower=1, overwrite_c=1)
        system[diagonal] += 1.0
        factor = linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        right = z - X @ start - rng.standard_normal(n)
        theta = start + tau * (X.T @ linalg.cho_solve(factor, right, overwrite_b=True, check_finite=False))
        tau = 1.0 / np.maximum(rng.wald(RATE / np.maximum(np.abs(theta), 1e-12), RATE**2), 1e-12)
        draws[k] = theta
    return draws


def plain_by_words(X: np.ndarray, y: np.ndarray, n_draws: int, seed: int) -> np.ndarray:
    """The same in the p × p form that the paper prints."""
    p = X.shape[1]
    rng = np.random.default_rng(seed)
    theta, tau, draws = np.zeros(p), np.full(p, 10.0), np.empty((n_draws, p))
    gram, diagonal = np.asfortranarray(X.T @ X), np.diag_indices(p)
    for k in range(n_draws):
        z = _responses(X @ theta, y, rng)
        precision = gram.copy(order="F")
        precision[diagonal] += 1.0 / tau
        covariance = linalg.inv(precision, True, False, assume_a="pos")
        mean = covariance @ (X.T @ z)
        theta = mean + linalg.cholesky(covariance.T, True, True, False) @ rng.standard_normal(p)
        tau = 1.0 / np.maximum(rng.wald(RATE / np.maximum(np.abs(theta), 1e-12), RATE**2), 1e-12)
        draws[k] = theta
    return draws


def rates(draws: np.ndarray, predictors: np.ndarray, seconds: float) -> np.ndarray:
    """Effective draws a second, worst weight and worst of the predictors; draws are (n_chains, n_draws, n_words)."""
    return np.array([effective_sample_size(part).min() for part in (draws, draws @ predictors.T)]) / seconds


def ours(X: sparse.csc_matrix, y: np.ndarray) -> tuple[np.ndarray, float]:
    prior = make_prior("laplace", 1.0 / RATE)
    problem = Problem(X, y[:, None], make_link("probit"), prior, None)
    Gibbs(chains=2, n_jobs=2, warmup=10, max_draws=10).run(problem)  # compiled or loaded from the cache
    times = []
    for n in (0, N_DRAWS // 2):  # what the draws take beside warm-up and set-up
        start = time.perf_counter()
        settings = {"chains": 2, "n_jobs": 2, "warmup": WARMUP, "target_ess": 1e9, "max_draws": max(n, 4)}
        drawn = Gibbs(**settings).run(problem).draws
        times.append(time.perf_counter() - start)
    return drawn.labels[0].weights, times[1] - times[0]


def mixing(X: sparse.csc_matrix, y: np.ndarray, predictors: np.ndarray) -> None:
    """What 1,000 draws of two chains are worth, by prior: heavy tails are slow where words separate classes."""
    for name, scale, sampled in (
        ("laplace", 1.0 / RATE, False), ("student_t", 1.0, False), ("horseshoe", 0.1, False), ("horseshoe", 0.1, True)
    ):  # fmt: skip
        problem = Problem(X, y[:, None], make_link("probit"), make_prior(name, scale), make_prior("gaussian", 5.0))
        sampler = Gibbs(chains=2, n_jobs=2, warmup=WARMUP, target_ess=1e9, max_draws=500, sample_scale=sampled)
        drawn = sampler.run(problem).draws.labels[0].weights.astype(np.float64)
        of_weights, of_documents = (bulk_effective_sample_size(part) for part in (drawn, drawn @ predictors.T))
        print(
            f"prior {name}{', sampled scale' if sampled else ''}: 1,000 draws are worth {of_weights.min():.0f} of the "
            f"worst weight, {np.median(of_weights):.0f} of half of them, {of_documents.min():.0f} of the worst eta"
        )


def nuts(X: np.ndarray, y: np.ndarray, mixture: bool) -> tuple[np.ndarray, float] | None:
    """NUTS on two cores, with the Laplace prior as it is or as a scale mixture, or None where it is not installed."""
    try:
        import numpyro
    except ImportError:
        return None
    numpyro.set_host_device_count(2)
    numpyro.enable_x64()
    import jax
    import jax.numpy as jnp
    import numpyro.distributions as dist

    matrix, outcome = jnp.asarray(X), jnp.asarray(y)

    def model() -> None:
        if mixture:
            tau = numpyro.sample("tau", dist.Exponential(0.5 * RATE**2).expand([X.shape[1]]))
            theta = numpyro.deterministic(
                "theta", jnp.sqrt(tau) * numpyro.sample("u", dist.Normal().expand([X.shape[1]]))
            )
        else:
            theta = numpyro.sample("theta", dist.Laplace(0.0, 1.0 / RATE).expand([X.shape[1]]))
        numpyro.factor("likelihood", jax.scipy.special.log_ndtr(outcome * (matrix @ theta)).sum())

    sampler = numpyro.infer.MCMC(numpyro.infer.NUTS(model), num_warmup=N_NUTS, num_samples=N_NUTS, num_chains=2,
                                 progress_bar=False)  # fmt: skip
    sampler.warmup(jax.random.PRNGKey(0))
    sampler.post_warmup_state = sampler.last_state
    start = time.perf_counter()
    sampler.run(jax.random.PRNGKey(1))
    draws = np.asarray(sampler.get_samples(group_by_chain=True)["theta"])
    return draws, time.perf_counter() - start


def main() -> None:
    X, y = openstax_problem()
    dense = X.toarray()
    predictors = dense[np.linspace(0, len(y) - 1, 20).astype(int)]
    drawn, time_ours = ours(X, y)
    found = {"ours": rates(drawn.astype(np.float64), predictors, time_ours)}
    plain_by_documents(dense, y, 20, 1)
    start = time.perf_counter()
    plain = plain_by_documents(dense, y, WARMUP + N_DRAWS, 0)[WARMUP:]
    seconds = (time.perf_counter() - start) * N_DRAWS / (WARMUP + N_DRAWS)
    found["NumPy n×n"] = rates(plain[None], predictors, seconds)
    start = time.perf_counter()
    plain_by_words(dense, y, 20, 0)
    by_words = (time.perf_counter() - start) / 20
    found["NumPy p×p"] = rates(plain[None], predictors, by_words * N_DRAWS)
    print(f"ms an iteration: ours {2e3 * time_ours / N_DRAWS:.2f} (two chains at once), ", end="")
    print(f"NumPy n×n {1e3 * seconds / N_DRAWS:.1f}, p×p {1e3 * by_words:.0f}")
    for name, mixture in (("NUTS, Laplace", False), ("NUTS, mixture", True)):
        if (run := nuts(dense, y, mixture)) is not None:
            found[name] = rates(run[0], predictors, run[1])
    for name, pair in found.items():
        print(f"{name:14} effective draws a second: weights {pair[0]:8.1f}, predictors {pair[1]:8.1f}")
    mixing(X, y, predictors)
    bars = {"NumPy n×n": BAR_DOCUMENTS, "NumPy p×p": BAR_WORDS}
    if "NUTS, mixture" in found:
        found["NUTS"] = np.maximum(found["NUTS, Laplace"], found["NUTS, mixture"])
        bars["NUTS"] = BAR_NUTS
    else:
        print("NumPyro is not installed: NUTS is not among the peers of this run")
    ratios = {name: found["ours"] / found[name] for name in bars}
    figures = "times as many effective draws of weights and of predictors: " + ", ".join(
        f"{ratio[0]:.1f} and {ratio[1]:.1f} of {name} (bar {bars[name]:g})" for name, ratio in ratios.items()
    )
    close("gibbs speed", all(ratios[name].min() >= bars[name] for name in bars), figures)


if __name__ == "__main__":
    main()
