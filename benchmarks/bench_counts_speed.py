"""Speed of count models on an RCV1-shaped matrix with five classes, and of sampling against a loop over words in NumPy.

23,149 documents × 47,236 words, counts 1 + ⌊20·weight⌋ in place of the weights that are public; classes are drawn at
random, since only the time counts. Each time is the shortest of several on one core. The bars, as multiples of the
time of scikit-learn's MultinomialNB in the same run: fitting Poisson 2, Dirichlet–Poisson 20; predicting with either 3.
Sampling: 10,000 words × 5 classes × 2,000 sweeps on one core, at least 50 times faster than NumPy, of whose loop 20
words × 20 sweeps are timed and the rest reckoned from that.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln
from sklearn.naive_bayes import MultinomialNB
from threadpoolctl import threadpool_limits

from _common import close, fastest, rcv1_matrix
from textbayes.kernels.counts.rates import sample_rates
from textbayes.models.counts import BayesCountClassifier

MODELS = ("multinomial", "poisson", "dirichlet_poisson", "negative_binomial", "dirichlet_negative_binomial")
FIT_BARS, PREDICT_BAR, SAMPLE_BAR = {"poisson": 2.0, "dirichlet_poisson": 20.0}, 3.0, 50.0
N_WORDS, N_CLASSES, N_SWEEPS = 10_000, 5, 2_000
BETA = (2.0, 1.0)


def fit_and_predict() -> tuple[dict[str, float], dict[str, float]]:
    """Times of fitting and predicting, as multiples of MultinomialNB's."""
    X, _ = rcv1_matrix()
    X = X.copy()
    X.data = 1.0 + np.floor(20.0 * X.data)
    y = np.random.default_rng(0).integers(0, N_CLASSES, X.shape[0])
    print(f"matrix {X.shape[0]:,} × {X.shape[1]:,}, {X.nnz:,} non-zeros, {N_CLASSES} classes")
    their_fit, theirs = fastest(lambda: MultinomialNB().fit(X, y), 7)
    their_prediction, _ = fastest(lambda: theirs.predict_proba(X), 7)
    print(f"{'MultinomialNB':28} fit {their_fit:7.3f} s         predict {their_prediction:7.3f} s")
    fit, predict = {}, {}
    for name in MODELS:
        BayesCountClassifier(name).fit(X[:50], y[:50]).predict_proba(X[:50])  # loads compiled code
        seconds, model = fastest(lambda name=name: BayesCountClassifier(name).fit(X, y), 3)
        prediction, _ = fastest(lambda model=model: model.predict_proba(X), 3)
        fit[name], predict[name] = seconds / their_fit, prediction / their_prediction
        print(
            f"{name:28} fit {seconds:7.3f} s {fit[name]:5.1f}x  predict {prediction:7.3f} s {predict[name]:5.1f}x",
            flush=True,
        )
    return fit, predict


def sample_in_numpy(counts: np.ndarray, exposure: np.ndarray, n_sweeps: int, rng: np.random.Generator) -> np.ndarray:
    """The same sampler word by word: Metropolis within Gibbs over log-rates, with arrays over the classes."""
    means = np.empty(counts.shape)
    n_classes = len(exposure)

    def log_posterior(theta: np.ndarray, own: np.ndarray) -> float:
        rates = np.exp(theta)
        sigma = rates.sum()
        power = BETA[0] + BETA[1] * sigma
        ratios = power * (theta - np.log(sigma)).sum() + np.log(sigma)
        return own @ theta - exposure @ rates + ratios + gammaln(n_classes * power) - n_classes * gammaln(power)

    for w, own in enumerate(counts):
        theta = np.log((own + 1.0) / exposure)
        width = 2.4 / np.sqrt(np.append(own + BETA[0], own.sum() + 1.0))
        value, total = log_posterior(theta, own), np.zeros(n_classes)
        for _ in range(n_sweeps):
            for k in range(n_classes + 1):
                trial = theta.copy()
                trial[k if k < n_classes else slice(None)] += width[k] * rng.standard_normal()
                new = log_posterior(trial, own)
                if np.log(rng.random()) < new - value:
                    theta, value = trial, new
            total += np.exp(theta)
        means[w] = total / n_sweeps
    return means


def sampling() -> float:
    """How many times faster the kernel is than the loop in NumPy, sweep for sweep and word for word."""
    rng = np.random.default_rng(0)
    exposure = rng.uniform(100.0, 600.0, N_CLASSES)
    counts = rng.poisson(exposure * rng.gamma(0.5, 0.2, (N_WORDS, 1))).astype(np.float64)
    start, shares = np.log((counts + 1.0) / exposure), np.ones((1, N_CLASSES))
    scales = 2.4 / np.sqrt(np.column_stack([counts + BETA[0], counts.sum(axis=1) + 1.0]))

    def kernel(n_words: int, n_sweeps: int) -> None:
        numbers = (0, 1, 0, n_sweeps // 4, n_sweeps // 8, 6)  # a quarter of the sweeps to warm up, each sixth kept
        sample_rates(counts[:n_words], exposure, shares, *BETA, start[:n_words], scales[:n_words], *numbers)

    kernel(5, 8)  # loads compiled code
    ours, _ = fastest(lambda: kernel(N_WORDS, N_SWEEPS), 1)
    part, _ = fastest(lambda: sample_in_numpy(counts[::500], exposure, 20, rng), 2)
    theirs = part * (N_WORDS / 20) * (N_SWEEPS / 20)
    print(f"sampling: kernel {ours:.1f} s; NumPy {part:.2f} s for 20 words × 20 sweeps, {theirs:,.0f} s for all")
    return theirs / ours


def main() -> None:
    with threadpool_limits(1):
        fit, predict = fit_and_predict()
        ratio = sampling()
    passed = ratio >= SAMPLE_BAR and all(
        fit[name] <= bar and predict[name] <= PREDICT_BAR for name, bar in FIT_BARS.items()
    )
    told = ", ".join(
        f"{name} fit {fit[name]:.1f}x (bar {bar:g}x), predict {predict[name]:.1f}x (bar {PREDICT_BAR:g}x)"
        for name, bar in FIT_BARS.items()
    )
    close("counts_speed", passed, f"{told} of MultinomialNB; sampling {ratio:.0f}x NumPy (bar {SAMPLE_BAR:g}x)")


if __name__ == "__main__":
    main()
