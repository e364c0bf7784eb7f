"""The models that are sampled, and the words that their posterior means put first."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.inference import Posterior, Problem
from textbayes.inference.gibbs import Draws, Gibbs, SamplingProgress
from textbayes.links import make_link
from textbayes.links.base import BaseLink
from textbayes.priors.base import BasePrior
from textbayes.priors.laplace import Laplace
from textbayes.reproduce.gibbs.published import BURN_IN, ITERATIONS, LAMBDA, N_TOP

PROBIT = make_link("probit")
TARGET_ESS, MAX_R_HAT, WARMUP, MAX_DRAWS = 200.0, 1.05, 200, 4_000
_CHAINS, _NEVER = 2, 1e12


class Model(NamedTuple):
    """Priors of the weights and, unless None, of an intercept; the link; how many times a label is taken."""

    prior: BasePrior
    intercept: BasePrior | None
    link: BaseLink = PROBIT
    label_replicates: int = 1


PAPER = Model(Laplace(1.0 / np.sqrt(LAMBDA)), None)
"""η_j ~ Exp(λ/2) makes the prior of θ_j Laplace of rate √λ; the paper's predictor x'θ has no intercept."""


class Fit(NamedTuple):
    """A sampled posterior, the smallest effective sample size that was watched, and the largest R-hat."""

    link: BaseLink
    posterior: Posterior
    ess: float
    r_hat: float

    @property
    def mean(self) -> FloatArray:
        return self.posterior.mean[0]

    @property
    def draws(self) -> Draws:
        assert self.posterior.draws is not None
        return self.posterior.draws

    @property
    def n_draws(self) -> int:
        return int(self.draws.labels[0].intercept.size)

    def plug_in(self, X: Any) -> FloatArray:
        """p(y = 1) at the posterior means."""
        return self.link.probability(np.asarray(X @ self.mean + self.posterior.intercept[0]))

    def averaged(self, X: Any) -> FloatArray:
        """p(y = 1) averaged over the draws."""
        return self.draws.probability(X, self.link)[:, 0]


def sample(
    X: Any,
    y: BoolArray,
    random_state: int,
    draws: int | None = None,
    model: Model = PAPER,
    target_ess: float = TARGET_ESS,
    chains: int = _CHAINS,
) -> Fit:
    """The posterior of a model, by default the paper's.

    Without ``draws`` the chains run until every weight and predictor watched is worth ``target_ess`` draws. With
    ``draws`` so many are kept in all, after a burn-in that has the paper's share of the iterations: 40,000 of one chain
    are the last of 60,000 iterations.
    """
    columns = sparse.csc_matrix(X)
    columns.indices = columns.indices.astype(np.int32)
    problem = Problem(columns, np.where(y, 1.0, -1.0)[:, None], model.link, model.prior, model.intercept)
    rounds: list[tuple[float, float]] = []

    def note(progress: SamplingProgress) -> None:
        rounds.append((progress.min_ess, progress.max_r_hat))

    if draws is None:
        plan: dict[str, Any] = {
            "warmup": WARMUP, "target_ess": target_ess, "max_r_hat": MAX_R_HAT, "max_draws": MAX_DRAWS
        }  # fmt: skip
    else:
        each = max(4, -(-draws // chains))
        plan = {"warmup": each * BURN_IN // (ITERATIONS - BURN_IN), "max_draws": each, "target_ess": _NEVER}
    plan |= {"chains": chains, "random_state": random_state, "label_replicates": model.label_replicates}
    posterior = Gibbs(progress=note, **plan).run(problem)
    return Fit(model.link, posterior, *rounds[-1])


def top_words(mean: FloatArray, k: int = N_TOP) -> IntArray:
    """Return the k words of largest posterior mean in absolute value."""
    return np.argsort(-np.abs(mean), kind="stable")[:k].astype(np.int64)


def keep_top_words(mean: FloatArray, k: int = N_TOP) -> FloatArray:
    """Set the means of all but the top k words to zero.

    >>> keep_top_words(np.array([0.5, -2.0, 1.0]), 2)
    array([ 0., -2.,  1.])
    """
    kept = np.zeros_like(mean)
    top = top_words(mean, k)
    kept[top] = mean[top]
    return kept
