"""EM: its step against the published formulas, its starts, and the blocks of ``block_em``."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, special, stats

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.inference import FitInfo, Posterior, Problem, em
from textbayes.inference._em import Anderson, WordBlock
from textbayes.inference.coordinate import Coordinate
from textbayes.inference.em import BlockEm, Em
from textbayes.links import make_link
from textbayes.priors import make_prior

N, P = 60, 15


def columns(X):
    X = sparse.csc_matrix(X)
    return sparse.csc_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int64)), shape=X.shape)


def problem(link="probit", prior="laplace", scale=0.5, intercept=np.inf, n=N, p=P):
    rng = np.random.default_rng(1)
    X = sparse.random(n, p, density=0.4, random_state=2)
    y = np.where(X @ rng.normal(0, 3, p) + rng.normal(size=n) > 0.5, 1.0, -1.0)[:, None]
    free = None if intercept is None else make_prior(prior, intercept)
    return Problem(columns(X), y, make_link(link), make_prior(prior, scale), free)


def start_at(w, b=0.0):
    none = np.zeros(1)
    return Posterior(np.atleast_2d(w), np.array([b]), None, FitInfo(none, none, none.astype(int), none.astype(bool)))


def first_step(given, w):
    method = Em(max_iter=1, plain=True)
    method.trace = []
    method.run(given, start_at(w))
    return method.trace[1].w


# -- the M-step -----------------------------------------------------------------------------------------------------
EXPECTED_INVERSE = {"laplace": lambda w: 1 / (0.5 * np.abs(w)), "jeffreys": lambda w: w**-2}


@pytest.mark.equation("sparse", "8", "13", "14")
@pytest.mark.parametrize("prior", EXPECTED_INVERSE)
def test_step_is_figueiredo_and_jain(prior):
    """Probit: β ← (Ω + XᵀX)⁻¹ Xᵀv with v the means of truncated normals, Ω = diag(E[1/τ_j])."""
    given, w = problem(prior=prior, intercept=None), np.random.default_rng(0).normal(size=P)
    X, y = given.X.toarray(), given.y[:, 0]
    eta = X @ w
    v = eta + y * stats.norm.pdf(eta) / stats.norm.cdf(y * eta)
    direct = np.linalg.solve(np.diag(EXPECTED_INVERSE[prior](w)) + X.T @ X, X.T @ v)
    np.testing.assert_allclose(first_step(given, w), direct, rtol=1e-9)


def test_logit_step_is_polya_gamma():
    """Logit: (Ω + XᵀΛX) β = Xᵀ(y/2), Λ = E[Pólya-Gamma] = tanh(η/2)/(2η) (Polson, Scott & Windle 2013)."""
    given, w = problem("logit", intercept=None), np.random.default_rng(0).normal(size=P)
    X, eta = given.X.toarray(), given.X @ w
    weights = np.tanh(eta / 2) / (2 * eta)
    direct = np.linalg.solve(np.diag(2 / np.abs(w)) + X.T @ (weights[:, None] * X), X.T @ given.y[:, 0] / 2)
    np.testing.assert_allclose(first_step(given, w), direct, rtol=1e-9)


@pytest.mark.parametrize("free_words", [[], [3, 5]], ids=["penalised", "some free"])
@pytest.mark.parametrize("b_variance", [0.0, 0.7, np.inf], ids=["no intercept", "penalised", "free"])
@pytest.mark.parametrize("shape", [(40, 12), (9, 20)], ids=["by words", "by documents"])
def test_both_forms_of_the_step_solve_the_normal_equations(shape, b_variance, free_words):
    rng = np.random.default_rng(3)
    X = sparse.random(*shape, density=0.5, random_state=4)
    variance, offset = rng.gamma(1.0, 1.0, shape[1] + 1), rng.normal(size=shape[1] + 1)
    variance[free_words], variance[7], variance[-1] = np.inf, 0.0, b_variance
    offset[variance == 0.0] = 0.0
    score, omega = rng.normal(size=shape[0]), rng.uniform(0.1, 1.0, shape[0])
    block = WordBlock(columns(X), np.arange(shape[1]), keep=True)
    step = block.direction(block.gradient(score), omega, offset, variance)
    dense, moves = np.column_stack([X.toarray(), np.ones(shape[0])]), variance > 0.0
    precision = np.diag(1.0 / variance[moves])
    system = precision + dense[:, moves].T @ (omega[:, None] * dense[:, moves])
    expected = np.linalg.solve(system, dense[:, moves].T @ score - precision @ offset[moves])
    np.testing.assert_allclose(step[moves], expected, rtol=1e-7, atol=1e-8)
    np.testing.assert_array_equal(step[~moves], 0.0)
    np.testing.assert_allclose(block.times(step), dense @ step)


def test_two_free_words_that_are_one_do_not_fail():
    X = sparse.random(N, P, density=0.4, random_state=2).tolil()
    X[:, 1] = X[:, 0]
    given = problem(prior="gaussian")
    given = given._replace(X=columns(X), prior=make_prior("gaussian", np.where(np.arange(P) < 2, np.inf, 0.5)))
    assert Em(tol=1e-6).run(given).info.converged.all()


# -- starts ---------------------------------------------------------------------------------------------------------
def test_weights_that_are_zero_stay_zero_under_jeffreys():
    given, w = problem(prior="jeffreys"), np.ones(P)
    w[::2] = 0.0
    for method in (Em(), Coordinate()):
        assert (method.run(given, start_at(w)).mean[0, ::2] == 0.0).all()


def test_under_jeffreys_the_start_decides():
    """From one word each, the other stays out: two optima, neither of which is wrong."""
    given = problem(prior="jeffreys", p=2)
    alone = [Em(tol=1e-8).run(given, start_at(w)) for w in ([1.0, 0.0], [0.0, 1.0])]
    for j, fit in enumerate(alone):
        assert fit.info.converged.all()
        assert fit.mean[0, 1 - j] == 0.0
    assert any(fit.mean[0, j] != 0.0 for j, fit in enumerate(alone))


def test_mean_is_no_start_where_nothing_leaves_it():
    for method, prior in ((Em(start="mean"), "jeffreys"), (Em(start="mean", plain=True), "laplace")):
        with pytest.raises(NotSupportedError, match="use start='ridge'"):
            method.run(problem(prior=prior))
    with pytest.raises(InputError, match="choose one of"):
        Em(start="random")


@pytest.mark.parametrize("prior", ["laplace", "elastic_net", "gaussian"])
def test_every_start_leads_to_the_optimum_of_a_convex_problem(prior):
    given = problem("logit", prior)
    reference = Coordinate(tol=1e-10).run(given).info.objective
    ridge, mean = Em(tol=1e-8, start="ridge"), Em(tol=1e-8, start="mean")
    for method, start in ((ridge, None), (mean, None), (mean, start_at(np.ones(P)))):
        np.testing.assert_allclose(method.run(given, start).info.objective, reference, rtol=1e-9)


# -- plain EM -------------------------------------------------------------------------------------------------------
def test_plain_em_stops_short_of_zero_and_of_the_optimum():
    """As published it ends when the weights stand still, leaving small ones that the optimum sets to zero."""
    given = problem(scale=0.3)
    plain, exact = Em(tol=1e-3, max_iter=2000, plain=True).run(given), Em(tol=1e-9).run(given)
    assert plain.info.converged.all()
    assert (plain.mean != 0.0).sum() > (exact.mean != 0.0).sum()
    assert exact.info.objective[0] < plain.info.objective[0] < exact.info.objective[0] * 1.01


def test_plain_em_leaves_a_label_without_positives_alone():
    given = problem()
    given = given._replace(y=-np.ones_like(given.y))
    fit = Em(plain=True).run(given)
    np.testing.assert_array_equal(fit.mean, 0.0)
    assert special.ndtr(fit.intercept[0]) == pytest.approx(0.5 / (N + 1), rel=1e-4)


def test_plain_em_of_a_skewed_link_goes_on_where_weights_have_all_but_gone():
    """A weight of 1e-308 has a variance whose inverse is not a number; the others must go on to the optimum."""
    given = problem("skew_t:df=30,skew=1.5", scale=0.3)
    exact = Coordinate(1e-9, 1000).run(given)
    start = np.where(exact.mean[0] == 0.0, 1e-308, 1.0)
    assert (start < 1.0).any()
    plain = Em(tol=1e-7, max_iter=3000, plain=True).run(given, start_at(start))
    np.testing.assert_allclose(plain.mean, exact.mean, atol=1e-4)


# -- blocks ---------------------------------------------------------------------------------------------------------
def test_blocks_are_as_large_as_memory_allows():
    words = np.arange(100)
    parts = BlockEm(memory=24 * 30**2).blocks(words, n_docs=31)
    assert [len(part) for part in parts] == [25, 25, 25, 25]
    np.testing.assert_array_equal(np.concatenate(parts), words)
    assert len(BlockEm(memory=24 * 30**2).blocks(words, n_docs=30)) == 1, "the documents fit: solved by documents"
    assert len(BlockEm().blocks(words[:0], n_docs=30)) == 1, "the intercept moves even where no word does"
    with pytest.raises(InputError, match="at least 1024"):
        BlockEm(memory=10)


def test_fifty_thousand_words():
    rng = np.random.default_rng(5)
    X = sparse.random(400, 50_000, density=1e-3, random_state=6, format="csc")
    y = np.where(X[:, :200] @ rng.choice([-9.0, 9.0], 200) + rng.logistic(size=400) > 0.0, 1.0, -1.0)[:, None]
    given = problem("logit")._replace(X=columns(X), y=y, prior=make_prior("laplace", 1.0))
    fit = BlockEm(tol=1e-6, memory=24 * 40**2).run(given)
    assert fit.info.converged.all()
    np.testing.assert_allclose(fit.info.objective, Coordinate(tol=1e-8).run(given).info.objective, rtol=1e-6)


def test_em_refuses_a_system_that_would_not_fit(monkeypatch):
    monkeypatch.setattr(em, "_LARGEST", P - 1)
    with pytest.raises(NotSupportedError, match="use 'block_em'"):
        Em().run(problem(prior="gaussian"))


# -- acceleration ---------------------------------------------------------------------------------------------------
def test_anderson_solves_a_linear_map_in_as_many_steps_as_it_has_dimensions():
    rng = np.random.default_rng(7)
    A, c = np.diag([0.99, 0.9, 0.5]) + 0.001 * rng.normal(size=(3, 3)), rng.normal(size=3)
    memory, x = Anderson(), np.zeros(3)
    for _ in range(4):
        image = A @ x + c
        proposal = memory.propose(x, image)
        x = image if proposal is None else proposal
    np.testing.assert_allclose(x, np.linalg.solve(np.eye(3) - A, c), rtol=1e-7)
    memory.clear()
    assert memory.propose(x, x) is None
