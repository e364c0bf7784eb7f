"""A covariance between words: against closed forms, numerical integration, and the same prior written otherwise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.inference import Problem
from textbayes.inference.gibbs import Gibbs, cooccurrence_factors
from textbayes.inference.gibbs.block import Design
from textbayes.inference.gibbs.chain import Chain, TargetPosterior
from textbayes.inference.gibbs.factors import own_part
from textbayes.links import make_link
from textbayes.posterior.diagnostics import effective_sample_size
from textbayes.priors import make_prior

STANDARD_ERRORS = 4.5  # with fixed seeds: a test that passes once always passes
U = np.array([[0.8, 0.0], [0.7, 0.3], [0.0, -0.6], [0.1, 0.1]])
SCALE = np.array([1.0, 2.0, 0.5, 1.5])


def covariance():
    correlation = U @ U.T
    np.fill_diagonal(correlation, 1.0)
    return SCALE[:, None] * correlation * SCALE


def documents(n=12):
    X = sparse.random(n, 4, density=0.6, random_state=1, format="csc")
    X.data *= 2.0
    return X, np.random.default_rng(0).choice([-1.0, 1.0], n)


def target(X, y, link="probit", prior=None, intercept=2.0, sampled=False):
    prior = make_prior("gaussian", SCALE) if prior is None else prior
    of_intercept = None if intercept is None else make_prior("gaussian", intercept)
    design, own = Design.of(X, intercept is not None), own_part(prior.for_label(0, 4), U)
    return TargetPosterior(design, y, make_link(link), own, of_intercept, sampled, SCALE[:, None] * U)


def test_given_normal_responses_weights_have_the_closed_form():
    """N(A⁻¹X'Ωz, A⁻¹), A = X'ΩX + C⁻¹, in both forms of the joint draw."""
    X, y = documents()
    rng = np.random.default_rng(1)
    omega, z = rng.uniform(0.5, 2.0, 12), rng.normal(size=12)
    dense = X.toarray()
    wanted = np.linalg.inv(dense.T @ (omega[:, None] * dense) + np.linalg.inv(covariance()))
    mean = wanted @ dense.T @ (omega * z)
    for form in ("words", "documents"):
        chain = Chain(target(X, y, intercept=None), np.random.SeedSequence(0), form, None)
        variance, draws = 1.0 / chain._scales.l2, []
        for _ in range(3000):
            nowhere = np.zeros(6)
            chain._offset = chain._joint.draw(omega, omega * z, nowhere, variance, rng)
            draws.append(chain.weights)
        found = np.cov(np.transpose(draws))
        size = np.sqrt(np.outer(np.diag(wanted), np.diag(wanted)) + wanted**2)  # of an entry's error, times √n
        assert (np.abs(found - wanted) < STANDARD_ERRORS * size / np.sqrt(3000.0)).all()
        error = np.sqrt(np.diag(wanted) / 3000.0)
        assert (np.abs(np.mean(draws, axis=0) - mean) < STANDARD_ERRORS * error).all()


def moments(weights):
    """Means, squares and products of weights with their Monte Carlo errors; weights are (n_chains, n_draws, 4)."""
    products = weights[:, :, :, None] * weights[:, :, None, :]
    values = np.concatenate([weights, products[:, :, *np.triu_indices(4)]], axis=2)
    return values.mean(axis=(0, 1)), values.std(axis=(0, 1)) / np.sqrt(effective_sample_size(values))


@pytest.mark.parametrize("link", ["probit", "student_t:df=4"])
@pytest.mark.parametrize("method", ["auto", "sweeps"])
def test_the_same_prior_written_as_a_change_of_variables(link, method):
    """w = L v with v standard normal and L L' = C: independent words v of the documents X L."""
    X, y = documents()
    root = np.linalg.cholesky(covariance())
    settings = {"chains": 2, "max_draws": 3000, "target_ess": 1e9, "method": method, "n_jobs": 1}
    prior, of_intercept = make_prior("gaussian", SCALE), make_prior("gaussian", 2.0)
    given = Problem(X, y[:, None], make_link(link), prior, of_intercept)
    changed = given._replace(X=sparse.csc_matrix(X @ root), prior=make_prior("gaussian", 1.0))
    ours = Gibbs(**settings, random_state=1, factors=U).run(given).draws.labels[0].weights.astype(float)
    other = Gibbs(**settings, random_state=2).run(changed).draws.labels[0].weights.astype(float) @ root.T
    (mean, error), (wanted, rest) = moments(ours), moments(other)
    assert (np.abs(mean - wanted) < STANDARD_ERRORS * np.hypot(error, rest)).all()


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_outcomes_and_weights_in_turn_keep_the_prior(prior, sampled):
    """Geweke's joint test with 40 independent chains; see benchmarks/bench_gibbs_correct.py."""
    X, y = documents()
    rng, n_chains = np.random.default_rng(3), 40
    family = make_prior(prior, SCALE)

    def prior_weights(n):
        own = rng.standard_normal((n, 4)) if prior == "gaussian" else rng.laplace(size=(n, 4))
        own *= np.sqrt(1.0 - (U**2).sum(axis=1))
        scale = np.abs(rng.standard_cauchy(n)) if sampled else np.ones(n)
        return scale[:, None] * SCALE * (own + rng.standard_normal((n, 2)) @ U.T)

    def functions(w):
        squashed = np.tanh(w)
        return np.concatenate(
            [squashed**2, squashed[:, :1] * squashed[:, 1:], squashed[:, 1:2] * squashed[:, 2:]], axis=1
        )

    means = []
    for k in range(n_chains):
        chain = Chain(
            target(X, y, prior=family, sampled=sampled), np.random.SeedSequence(k), "auto", None, joint_period=2
        )
        drawn = []
        for step in range(120):
            chain.redraw_outcomes(rng)
            chain.step()
            if step >= 40:
                drawn.append(chain.weights[:4])
        means.append(functions(np.array(drawn)).mean(axis=0))
    wanted = functions(prior_weights(100_000))
    error = np.sqrt(np.var(means, axis=0, ddof=1) / n_chains + wanted.var(axis=0) / 100_000)
    assert (np.abs(np.mean(means, axis=0) - wanted.mean(axis=0)) < STANDARD_ERRORS * error).all()


def test_loadings_are_the_best_approximation_of_the_correlations():
    rng = np.random.default_rng(4)
    X = sparse.csc_matrix(rng.poisson(0.5, (30, 8)) * rng.random((30, 8)))
    correlation = np.corrcoef(X.toarray(), rowvar=False)
    values, vectors = np.linalg.eigh(correlation)
    best = vectors[:, -3:] * values[-3:] @ vectors[:, -3:].T
    found = cooccurrence_factors(X, rank=3, share=0.6)
    np.testing.assert_allclose(found @ found.T, 0.6 * best, atol=1e-10)
    np.testing.assert_allclose(cooccurrence_factors(X.toarray(), rank=3, share=0.6), found, atol=1e-10)
    assert ((found**2).sum(axis=1) < 0.6 + 1e-12).all()


def test_words_that_do_not_vary_stay_independent():
    X = np.array([[1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 2.0, 1.0], [1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 1.0, 1.0]])
    found = cooccurrence_factors(X, rank=2)
    np.testing.assert_array_equal(found[:2], 0.0)
    assert (np.abs(found[2:]).sum(axis=1) > 0.1).all()


def test_factors_pass_on_what_is_known_of_one_word_to_another():
    """A word that no document has learns from the words it goes with, and stays at its mean without factors."""
    X = sparse.csc_matrix(np.column_stack([np.repeat([0.0, 1.0], 20), np.zeros(40)]))
    y = np.repeat([-1.0, 1.0], 20)[:, None]
    given = Problem(X, y, make_link("probit"), make_prior("gaussian", 2.0), make_prior("gaussian", 2.0))
    settings = {"chains": 2, "max_draws": 1000, "target_ess": 1e9, "random_state": 4, "n_jobs": 1}
    alone = Gibbs(**settings).run(given)
    together = Gibbs(**settings, factors=np.full((2, 1), 0.9)).run(given)
    assert abs(alone.mean[0, 1]) < 0.3
    # E[w₂ | w₁] = corr·w₁ for a Gaussian prior, with corr = 0.81
    assert together.mean[0, 1] == pytest.approx(0.81 * together.mean[0, 0], abs=0.25)
    few = Gibbs(**settings | {"max_draws": 20}, factors=np.full((2, 1), 0.9))
    np.testing.assert_array_equal(few.run(given._replace(words=np.array([[True, False]]))).mean[0, 1], 0.0)


def test_factors_are_those_of_documents_repeated():
    X = sparse.random(12, 8, density=0.5, random_state=3, format="csc")
    counts = np.array([1, 40, 1, 1, 3, 1, 0, 1, 1, 40, 1, 1])
    repeated = sparse.csc_matrix(X.tocsr()[np.repeat(np.arange(12), counts)])
    found, wanted = cooccurrence_factors(X, 3, sample_weight=counts), cooccurrence_factors(repeated, 3)
    np.testing.assert_allclose(found @ found.T, wanted @ wanted.T, atol=1e-8)


def test_a_number_of_factors_is_that_many_found_in_the_documents():
    X, y = documents(40)
    given = Problem(X, y[:, None], make_link("probit"), make_prior("gaussian", 2.0), make_prior("gaussian", 2.0))
    settings = {"chains": 2, "warmup": 20, "max_draws": 40, "random_state": 1}

    def weights(factors, words=None):
        found = Gibbs(**settings, factors=factors).run(given._replace(words=words))
        return found.draws.labels[0].weights

    np.testing.assert_array_equal(weights(2), weights(cooccurrence_factors(X, 2)))
    np.testing.assert_array_equal(weights(99), weights(cooccurrence_factors(X, 3)))  # four words have three at most
    words = np.array([[True, False, True, True]])
    of_three = np.zeros((4, 2))
    of_three[words[0]] = cooccurrence_factors(X[:, words[0]], 2)
    np.testing.assert_array_equal(weights(2, words), weights(of_three, words))
    alone = np.array([[False, False, True, False]])
    np.testing.assert_array_equal(weights(5, alone), weights(None, alone))


@pytest.mark.parametrize(
    "bad", [np.ones((3, 1)), np.ones(4), np.full((4, 1), np.nan), np.full((4, 2), 0.8), 0, 2.5, -1, np.nan]
)
def test_factors_that_cannot_be_used_are_refused(bad):
    X, y = documents()
    problem = Problem(X, y[:, None], make_link("probit"), make_prior("gaussian", 1.0), None)
    with pytest.raises(InputError, match="factors"):
        Gibbs(chains=1, warmup=0, max_draws=4, factors=bad).run(problem)


@pytest.mark.parametrize(("rank", "share"), [(0, 0.5), (4, 0.5), (1.5, 0.5), (2, 0.0), (2, 1.0)])
def test_factors_that_cannot_be_made_are_refused(rank, share):
    with pytest.raises(InputError, match=r"rank=|share="):
        cooccurrence_factors(np.eye(4), rank, share)


def test_documents_that_are_all_alike_or_not_finite_have_no_factors():
    np.testing.assert_array_equal(cooccurrence_factors(np.ones((5, 4)), 2), np.zeros((4, 2)))
    with pytest.raises(InputError, match="not finite"):
        cooccurrence_factors(np.full((5, 4), np.nan), 2)
