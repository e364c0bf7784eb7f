"""No step of any inference lowers the log-posterior, for any link and prior, convex or not, on random problems."""

from __future__ import annotations

import importlib.util

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from references.optimality import slope_of
from textbayes.inference import Problem, inferences
from textbayes.inference.em import BlockEm, Em
from textbayes.links import links, make_link
from textbayes.priors import make_prior, priors

METHODS = {
    name: (lambda name=name: inferences.get(name)(tol=1e-8, max_iter=3))
    for name in inferences.names()
    if not inferences.get(name).samples
    if name != "gpu" or importlib.util.find_spec("torch") is not None
    if name not in ("newton", "block_em")  # newton keeps no trace; its line search is the one of coordinate
} | {
    "block_em": lambda: BlockEm(tol=1e-8, max_iter=3, memory=1024),
    "plain em": lambda: Em(tol=1e-8, max_iter=15, plain=True),
    "plain block_em": lambda: BlockEm(tol=1e-8, max_iter=15, plain=True, memory=1024),
}
LINKS = [links.get(name)(**given) for name in links.names() for given in ({}, *links.get(name).examples)]


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, p = draw(st.integers(4, 25)), draw(st.integers(1, 12))
    X = sparse.random(n, p, density=draw(st.sampled_from([0.2, 0.6])), random_state=rng, format="csc")
    X = sparse.csc_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int64)), shape=(n, p))
    X.data *= draw(st.sampled_from([1.0, 10.0]))
    y = np.where(rng.random((n, 1)) < 0.4, 1.0, -1.0)
    scale = draw(st.sampled_from([0.1, 1.0, 10.0])) * rng.choice([1.0, 3.0, np.inf], p, p=[0.6, 0.3, 0.1])
    name = draw(st.sampled_from(priors.names()))
    intercept = draw(st.sampled_from([None, np.inf, 1.0]))
    return Problem(
        X,
        y,
        draw(st.sampled_from(LINKS)),
        make_prior(name, scale, rng.choice([0.0, 0.3], p)),
        None if intercept is None else make_prior(name, intercept),
        rng.choice([0.0, 1.0, 2.5], n) if draw(st.booleans()) else None,
        rng.random((1, p)) < 0.8 if draw(st.booleans()) else None,
    )


def objective(problem, step, counted, count_intercept):
    """−log likelihood and the −log prior of the words that are counted, and the size of what was added up."""
    eta = problem.X @ step.w + step.b
    log_prob = problem.link.log_prob(eta, problem.y[:, 0])
    weight = 1.0 if problem.sample_weight is None else problem.sample_weight
    parts = [weight * log_prob, -problem.prior.neg_log(step.w)[counted]]
    if count_intercept:
        parts.append(-problem.intercept_prior.neg_log(np.array([step.b])))
    together = np.concatenate([np.atleast_1d(part) for part in parts])
    return -together.sum(), np.abs(together).sum()


@settings(max_examples=100, deadline=None)
@given(problems(), st.sampled_from(sorted(METHODS)))
def test_no_step_lowers_the_log_posterior(problem, method):
    if method in ("clg", "dual", "gpu"):
        problem = problem._replace(link=make_link("logit"))
    if method in ("dual", "gpu"):  # they refuse others
        own, intercept = problem.prior, problem.intercept_prior
        family = "gaussian" if method == "dual" else "elastic_net"
        problem = problem._replace(
            prior=make_prior(family, own.scale, own.mean),
            intercept_prior=None if intercept is None else make_prior(family, intercept.scale),
        )
    inference = METHODS[method]()
    inference.trace = []
    inference.run(problem)
    assert inference.trace
    for before, after in zip(inference.trace, inference.trace[1:], strict=False):
        counted, slack = np.ones(len(after.w), dtype=bool), 0.0
        count_intercept = problem.intercept_prior is not None
        if problem.prior.pole:
            # A word that reaches the pole gains infinitely. Among the others the step may lose what the local penalty
            # l1·|w − mean| of that word was, and no more.
            offset = before.w - problem.prior.mean
            held = np.isfinite(problem.prior.scale)
            counted = (after.w != problem.prior.mean) | ~held
            assert (offset[counted & held] != 0.0).all(), "a word has left the pole"
            gone = ~counted & (offset != 0.0)
            slack = (offset * slope_of(problem.prior, before.w))[gone].sum()
            if count_intercept and after.b == 0.0:
                count_intercept, slack = False, slack + float(before.b != 0.0)
        old, size = objective(problem, before, counted, count_intercept)
        new, _ = objective(problem, after, counted, count_intercept)
        assert new <= old + slack + 1e-12 * size
