"""Simulations with fixed seeds: weights drawn from the prior lie in the intervals as often as these promise."""

import numpy as np
import pytest
from scipy import sparse

from textbayes.inference import Problem
from textbayes.inference.coordinate import Coordinate
from textbayes.inference.laplace_approximation import laplace_approximation
from textbayes.links import make_link
from textbayes.posterior.intervals import probability_interval
from textbayes.priors import make_prior

Z_90 = 1.6448536269514722  # 90 % of a Gaussian lie within
N_TRIALS = 200


class Trials:
    """Fits of many labels whose weights and outcomes are drawn from the model, and documents that none of them saw."""

    def __init__(self, n, p, prior, scale, spec, n_new=5, seed=2026):
        rng, link = np.random.default_rng(seed), make_link(spec)
        draw = {"gaussian": rng.normal, "laplace": rng.laplace}[prior]
        self.w, self.b = draw(0.0, scale, (N_TRIALS, p)), draw(0.0, 1.0, N_TRIALS)
        X, new = (rng.normal(size=(size, p)) * (rng.random((size, p)) < 0.6) for size in (n, n_new))
        y = np.where(link.probability(X @ self.w.T + self.b) > rng.random((n, N_TRIALS)), 1.0, -1.0)
        columns = sparse.csc_matrix(X)
        columns.indices = columns.indices.astype(np.int32)
        chosen = make_prior(prior, scale)
        problem = Problem(columns, y, link, chosen, chosen.rescaled(1.0))
        self.link, self.posterior = link, Coordinate(tol=1e-6, max_iter=500).run(problem)
        approximation = laplace_approximation(problem, self.posterior)
        self.errors, self.intercept_errors = approximation.standard_errors()
        self.eta, self.var = new @ self.posterior.mean.T + self.posterior.intercept, approximation.variance(new)
        self.true_eta = new @ self.w.T + self.b


def promised(level, covered, trial):
    """Whether ``level`` is the share covered, up to 3 standard errors: trials are independent, their intervals not."""
    counts, hits = np.bincount(trial.ravel()), np.bincount(trial.ravel(), weights=covered.ravel())
    of_trials = np.sqrt(np.sum((hits - level * counts) ** 2)) / counts.sum()
    binomial = np.sqrt(level * (1.0 - level) / counts.sum())
    return abs(covered.mean() - level) <= 3.0 * max(of_trials, binomial)


@pytest.mark.parametrize(
    ("spec", "n"),  # the heavier the tails, the more documents it takes until a posterior looks Gaussian
    [("logit", 1000), ("probit", 1000), ("flip:rate=0.02,base=logit", 1000), ("student_t:df=4", 2000)],
)
def test_intervals_of_weights_and_predictors_hold_nine_in_ten(spec, n):
    trials = Trials(n, 5, "gaussian", 0.7, spec)
    row = np.arange(N_TRIALS)
    of_words = np.abs(trials.posterior.mean - trials.w) <= Z_90 * trials.errors
    assert promised(0.9, of_words, np.broadcast_to(row[:, None], of_words.shape))
    assert promised(0.9, np.abs(trials.posterior.intercept - trials.b) <= Z_90 * trials.intercept_errors, row)
    of_predictors = np.abs(trials.eta - trials.true_eta) <= Z_90 * np.sqrt(trials.var)
    assert promised(0.9, of_predictors, np.broadcast_to(row, of_predictors.shape))
    low, high = probability_interval(trials.eta, trials.var, trials.link, 0.9)
    truth = trials.link.probability(trials.true_eta)
    assert ((low <= truth) & (truth <= high) == of_predictors).all()


def test_intervals_of_the_words_that_a_laplace_prior_keeps():
    """Given which words are kept, and away from the kink, the Gaussian describes their weights."""
    trials = Trials(600, 6, "laplace", 0.7, "logit")
    clear = np.abs(trials.posterior.mean) > 4.0 * np.nan_to_num(trials.errors, nan=np.inf)
    assert clear.sum() > N_TRIALS
    trial = np.broadcast_to(np.arange(N_TRIALS)[:, None], clear.shape)
    covered = np.abs(trials.posterior.mean - trials.w) <= Z_90 * trials.errors
    assert promised(0.9, covered[clear], trial[clear])


@pytest.mark.parametrize(
    ("n", "p", "prior", "scale", "spec", "gains"),
    [
        (500, 5, "gaussian", 0.7, "logit", False),  # documents in plenty: nothing to gain, nothing to lose
        (50, 25, "gaussian", 1.5, "student_t:df=4", False),
        (60, 60, "gaussian", 2.0, "logit", True),
        (40, 100, "gaussian", 1.0, "probit", True),  # more words than documents
        (60, 100, "laplace", 1.0, "logit", True),
    ],
)
def test_integrated_probabilities_predict_no_worse_than_the_mode_alone(n, p, prior, scale, spec, gains):
    trials = Trials(n, p, prior, scale, spec, n_new=20)
    link, ones = trials.link, np.ones_like(trials.eta)
    truth = link.probability(trials.true_eta)
    gain = truth * (link.moments(trials.eta, trials.var, ones).log_z - link.log_prob(trials.eta, ones))
    gain += (1.0 - truth) * (link.moments(trials.eta, trials.var, -ones).log_z - link.log_prob(trials.eta, -ones))
    of_trial = gain.mean(axis=0)
    error = of_trial.std() / np.sqrt(N_TRIALS)
    assert of_trial.mean() > (3.0 * error if gains else -3.0 * error)
