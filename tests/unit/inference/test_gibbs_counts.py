"""Documents that count several times, and labels that judges agree on: closed forms and numerical integration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, special

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.inference import Posterior, Problem
from textbayes.inference.gibbs import Gibbs
from textbayes.links import make_link
from textbayes.posterior.diagnostics import effective_sample_size
from textbayes.priors import make_prior

pytest.importorskip("polyagamma", reason="needs polyagamma")

STANDARD_ERRORS = 4.5  # with fixed seeds: a test that passes once always passes
LOGIT = make_link("logit")
SHORT = {"chains": 2, "warmup": 20, "max_draws": 60, "target_ess": 1e9, "random_state": 3}


@pytest.fixture(scope="module")
def problem():
    X = sparse.random(30, 2, density=0.7, random_state=1, format="csc")
    X.data *= 2.0
    y = np.where(X @ np.array([1.5, -1.0]) + np.random.default_rng(0).normal(size=30) > 0.2, 1.0, -1.0)
    return Problem(X, y[:, None], LOGIT, make_prior("gaussian", np.array([1.5, 0.8]), np.array([0.3, 0.0])), None)


def log_laplace_transform(t, eta, counts):
    """log E exp(−t·omega) = c·(log cosh ½eta − log cosh √(¼eta² + ½t)), Polson, Scott & Windle 2013."""
    half = 0.5 * np.abs(eta)
    root = np.sqrt(half**2 + 0.5 * t)
    return counts * (-0.5 * t / (half + root) + np.log1p(np.exp(-2.0 * half)) - np.log1p(np.exp(-2.0 * root)))


@pytest.mark.parametrize("eta", [0.01, 2.0, 15.0, -19.9, 20.1, 31.0, 39.0, -41.0, 300.0, -1e4, 1e8])
def test_polya_gamma_draws_have_their_laplace_transform_however_far_out_and_often_counted(eta):
    n = 10_000
    for counts in (1, 2, 19, 20, 50, 1000):
        latent = LOGIT.latent(np.ones(n), np.full(n, counts))
        omega, pull = latent.responses(np.full(n, eta), np.random.default_rng(10))
        np.testing.assert_allclose(pull, 0.5 * counts - omega * eta, rtol=1e-9, atol=1e-9)
        # t of about one standard deviation of omega, and a deviation from the mean so that nothing underflows.
        mean = counts * np.tanh(0.5 * abs(eta)) / (2.0 * abs(eta))
        t = 1.0 / omega.std()
        values = np.exp(-t * (omega - mean))
        wanted = np.exp(log_laplace_transform(t, eta, counts) + t * mean)
        assert abs(values.mean() - wanted) < STANDARD_ERRORS * values.std() / np.sqrt(n), counts


def test_each_document_is_drawn_by_its_own_count():
    counts = np.tile([1, 50, 3, 20], 10_000)
    omega, pull = LOGIT.latent(np.ones(40_000), counts).responses(np.full(40_000, 1.5), np.random.default_rng(1))
    each = np.tanh(0.75) / 3.0
    for k, count in enumerate(counts[:4]):
        own = omega[k::4]
        assert abs(own.mean() - count * each) < STANDARD_ERRORS * own.std() / np.sqrt(len(own))
    np.testing.assert_allclose(pull, 0.5 * counts - omega * 1.5)


@pytest.mark.parametrize("margin", [-8.0, 0.3, 12.0])
def test_slack_falls_as_far_as_the_first_of_the_copies_lets_it(margin):
    """P(slack > s) = (p(margin − s)/p(margin))^c."""
    n, y = 40_000, -1.0
    for counts in (1, 7, 50):
        latent = LOGIT.latent(np.full(n, y), np.full(n, counts))
        slack = latent.slack(np.full(n, y * margin), np.random.default_rng(2))
        levels = np.exp(counts * (special.log_expit(margin - slack) - special.log_expit(margin)))
        assert slack.min() >= 0.0
        quantiles = np.quantile(levels, np.linspace(0.05, 0.95, 19))  # uniform on (0, 1)
        np.testing.assert_allclose(quantiles, np.linspace(0.05, 0.95, 19), atol=STANDARD_ERRORS * 0.5 / np.sqrt(n))


def integrated(problem, counts, centre, width):
    """Mean and sd of the two weights by a grid."""
    axis = np.linspace(-width, width, 401)
    grid = np.stack(np.meshgrid(axis + centre[0], axis + centre[1], indexing="ij"), axis=-1).reshape(-1, 2)
    prior = problem.prior
    density = -0.5 * (((grid - prior.mean) / prior.scale) ** 2).sum(axis=1)
    density += counts @ LOGIT.log_prob(problem.X @ grid.T, np.repeat(problem.y, len(grid), axis=1))
    density = np.exp(density - density.max())
    density /= density.sum()
    assert density.reshape(401, 401)[[0, -1]].max() < 1e-12  # the grid is wide enough
    assert density.reshape(401, 401)[:, [0, -1]].max() < 1e-12
    mean = density @ grid
    return mean, np.sqrt(density @ (grid - mean) ** 2)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "sweeps", "words", "documents"])
def test_the_posterior_of_documents_with_counts_is_what_integration_says(problem, method):
    counts = np.random.default_rng(4).choice([0, 1, 2, 25, 60], 30)
    given = problem._replace(sample_weight=counts.astype(float))
    run = Gibbs(chains=2, random_state=5, max_draws=2000, target_ess=1e9, method=method).run(given)
    weights = run.draws.labels[0].weights.astype(float)
    mean, sd = integrated(problem, counts, run.mean[0], 8.0 * np.sqrt(run.var[0].max()))
    for values, wanted in ((weights, mean), ((weights - mean) ** 2, sd**2)):
        error = values.std(axis=(0, 1)) / np.sqrt(effective_sample_size(values))
        assert (np.abs(values.mean(axis=(0, 1)) - wanted) < STANDARD_ERRORS * error).all()
    assert (error < 0.1 * sd**2).all()  # enough draws to tell


@pytest.mark.slow
def test_a_global_scale_sees_the_counts(problem):
    """Documents that count 40 times leave the sampled scale and weights where 40 copies of them do."""
    small = problem._replace(prior=make_prior("gaussian", 0.5))
    settings = {"chains": 2, "random_state": 5, "max_draws": 1000, "target_ess": 1e9, "sample_scale": True}
    counted = Gibbs(**settings).run(small._replace(sample_weight=np.full(30, 40.0)))
    rows = np.repeat(np.arange(30), 40)
    copied = Gibbs(**settings).run(small._replace(X=sparse.csc_matrix(small.X.tocsr()[rows]), y=small.y[rows]))
    found = [run.draws.labels[0] for run in (counted, copied)]
    for name in ("weights", "global_scale"):
        both = [np.log(np.abs(getattr(part, name).astype(float))).reshape(2, 1000, -1) for part in found]
        errors = [values.std(axis=(0, 1)) / np.sqrt(effective_sample_size(values)) for values in both]
        apart = np.abs(both[0].mean(axis=(0, 1)) - both[1].mean(axis=(0, 1)))
        assert (apart < STANDARD_ERRORS * np.hypot(*errors)).all(), name


@pytest.fixture(scope="module")
def without_means(problem):
    return problem._replace(prior=make_prior("gaussian", np.array([1.5, 0.8])))


def counted(problem, replicates):
    """The problem of one of several judges: documents count so many times."""
    weight = np.ones(len(problem.y)) if problem.sample_weight is None else problem.sample_weight
    return problem._replace(sample_weight=replicates * weight)


def test_judges_share_the_log_odds_of_what_all_say(without_means):
    with_intercept = without_means._replace(intercept_prior=make_prior("gaussian", 2.0))
    weighted = Gibbs(**SHORT).run(counted(with_intercept, 12)).draws.labels[0]
    agreed = Gibbs(**SHORT, label_replicates=12).run(with_intercept)
    drawn = agreed.draws.labels[0]
    np.testing.assert_allclose(drawn.weights, 12.0 * weighted.weights, rtol=1e-6)
    np.testing.assert_allclose(drawn.intercept, 12.0 * weighted.intercept, rtol=1e-6)
    eta = with_intercept.X @ weighted.flat.T.astype(float) + weighted.intercept.reshape(-1)
    one, other = special.expit(eta) ** 12, special.expit(-eta) ** 12  # all twelve say yes, all say no
    wanted = (one / (one + other)).mean(axis=1)
    np.testing.assert_allclose(agreed.draws.probability(without_means.X.tocsr(), LOGIT)[:, 0], wanted, atol=1e-5)


def test_judges_and_weights_multiply(without_means):
    given = without_means._replace(sample_weight=np.tile([1.0, 2.0, 0.0], 10))
    both, thrice = Gibbs(**SHORT, label_replicates=3).run(given), Gibbs(**SHORT).run(counted(given, 3))
    np.testing.assert_allclose(both.mean, 3.0 * thrice.mean, rtol=1e-5)
    np.testing.assert_allclose(both.info.objective, thrice.info.objective, rtol=1e-6)


def test_a_start_is_one_of_log_odds_too(without_means):
    start = Posterior(np.array([[4.0, -8.0]]), np.zeros(1), None, Gibbs(**SHORT).run(without_means).info)
    short = {"chains": 2, "warmup": 0, "max_draws": 4, "target_ess": 1e9}
    begun = Gibbs(**short, label_replicates=4).run(without_means, start)
    other = Gibbs(**short).run(counted(without_means, 4), start._replace(mean=start.mean / 4.0))
    np.testing.assert_allclose(begun.mean, 4.0 * other.mean, rtol=1e-5)


@pytest.mark.slow
def test_words_that_a_label_may_not_use_stay_at_their_means_and_count(problem):
    prior = make_prior("gaussian", 1.5, np.array([0.0, -2.5]))
    given = problem._replace(words=np.array([[True, False]]), prior=prior)
    run = Gibbs(chains=2, random_state=5, max_draws=1500, target_ess=1e9).run(given)
    assert run.mean[0, 1] == -2.5
    grid = np.linspace(-10.0, 10.0, 4001)
    eta = problem.X.toarray()[:, [0]] * grid - 2.5 * problem.X.toarray()[:, [1]]
    density = LOGIT.log_prob(eta, np.repeat(problem.y, len(grid), axis=1)).sum(axis=0)
    density = np.exp(density - density.max() - 0.5 * (grid / 1.5) ** 2)
    wanted = density @ grid / density.sum()
    weights = run.draws.labels[0].weights.astype(float)
    error = weights.std(axis=(0, 1)) / np.sqrt(effective_sample_size(weights))
    assert abs(run.mean[0, 0] - wanted) < STANDARD_ERRORS * error[0]
    assert error[0] < 0.05


def test_a_label_that_all_documents_have_has_the_same_probability_whatever_the_judges(problem):
    free = {"prior": make_prior("gaussian", 1.0), "intercept_prior": make_prior("gaussian", np.inf)}
    all_one = problem._replace(y=np.ones((30, 1)), **free)
    run = Gibbs(**SHORT, label_replicates=50).run(all_one)
    np.testing.assert_allclose(run.draws.probability(problem.X.tocsr(), LOGIT), 30.5 / 31.0, rtol=1e-6)


def test_what_judges_cannot_be_is_said(problem):
    with pytest.raises(NotSupportedError, match=r"label_replicates=3 with prior means .*; use a prior without means"):
        Gibbs(label_replicates=3).run(problem)
    for label_replicates in (0, 1.5):
        with pytest.raises(InputError, match=r"label_replicates=.* is not usable; pass a whole number from 1 on"):
            Gibbs(label_replicates=label_replicates)
    with pytest.raises(NotSupportedError, match=r"=3 with link 'probit' .* use that, or label_replicates=1"):
        Gibbs(label_replicates=3).run(problem._replace(link=make_link("probit")))
    Gibbs(**SHORT, label_replicates=1).run(problem._replace(link=make_link("probit")))


@pytest.mark.parametrize(
    ("link", "weight", "label_replicates"),
    [("logit", 1000.0, 2000), pytest.param("logit", 1.0, 10**400, id="beyond any float"), ("probit", 1e300, 1)],
)
def test_more_counts_than_can_be_drawn_are_refused(without_means, link, weight, label_replicates):
    many = without_means._replace(link=make_link(link), sample_weight=np.full(30, weight))
    with pytest.raises(
        InputError, match=f"={label_replicates}; the sampler takes 1,000,000 in all at most, so make them fewer"
    ):
        Gibbs(label_replicates=label_replicates).run(many)


def test_as_many_counts_as_are_taken_are_drawn(without_means):
    run = Gibbs(**SHORT, label_replicates=1_000_000).run(without_means)
    assert np.isfinite(run.mean).all()
