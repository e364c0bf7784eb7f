"""The models that are sampled, and the words that their posterior means put first.

Beside the paper's model stands one of ours, for the same 800 words: which of them a document has, and certain labels.
Four things differ from the paper's. A word counts by its presence, not by its weight: in unit-length TF-IDF a rare word
of a short document outweighs everything else. The prior is Gaussian with a scale of spread/(√p·s_j), s_j the standard
deviation of the word's column, so that no word has the larger say for being frequent, and the predictor of a document
has a prior standard deviation of about ``spread``, however many the words. There is an intercept. And a label is taken
for what it is: nobody doubts whether a book is one of chemistry, so it counts as what ``JUDGES`` who decide by the same
words would all say (``Gibbs(label_replicates=…)``). Without this the posterior of few documents says of every new one
that it may be anything, and averaged probabilities are too cautious.

As in the paper, the words of largest posterior mean, here in units of 1/s_j, are kept, and their model is fitted again.
A document is accepted at a probability of ``THRESHOLD``. All settings were chosen on ``systems.OTHER_DOCUMENTS``.
"""

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
from textbayes.priors.gaussian import Gaussian
from textbayes.priors.laplace import Laplace

# The paper's settings.
N_TOP = 80
LAMBDA = 0.2
ITERATIONS, BURN_IN = 60_000, 20_000

PROBIT = make_link("probit")
TARGET_ESS, MAX_R_HAT, WARMUP, MAX_DRAWS = 200.0, 1.05, 200, 4_000
_CHAINS, _NEVER = 2, 1e12


class SampledModel(NamedTuple):
    """Priors of the weights and, unless None, of an intercept; the link; how many times a label is taken."""

    prior: BasePrior
    intercept: BasePrior | None
    link: BaseLink = PROBIT
    label_replicates: int = 1


PAPER = SampledModel(Laplace(1.0 / np.sqrt(LAMBDA)), None)
"""η_j ~ Exp(λ/2) makes the prior of θ_j Laplace of rate √λ; the paper's predictor x'θ has no intercept."""


class SampledFit(NamedTuple):
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
    model: SampledModel = PAPER,
    target_ess: float = TARGET_ESS,
    chains: int = _CHAINS,
) -> SampledFit:
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
    return SampledFit(model.link, posterior, *rounds[-1])


def top_words(mean: FloatArray, k: int = N_TOP) -> IntArray:
    """Return the k words of largest posterior mean in absolute value."""
    return np.argsort(-np.abs(mean), kind="stable")[:k].astype(np.int64)


def keep_top_words(mean: FloatArray, k: int = N_TOP) -> FloatArray:
    """Set the means of all but the top k words to zero.

    >>> keep_top_words(np.array([0.5, -2.0, 1.0]), 2)
    array([ 0., -2.,  1.])
    """
    weights = np.zeros_like(mean)
    top = top_words(mean, k)
    weights[top] = mean[top]
    return weights


THRESHOLD = 0.8  # accepting a document wrongly costs as much as missing four
RANKING_SPREAD, RANKING_INTERCEPT = 3.0, 30.0  # of a probit model of all words
JUDGES, SPREAD = 50, 2.0
PRESENCE_ESS = 100.0
_LOGIT = make_link("logit")


def column_spread(X: Any) -> FloatArray:
    """Standard deviation of each column of 0 and 1; at least that of a word that one document has."""
    n = X.shape[0]
    share = np.asarray(X.mean(axis=0)).ravel()
    return np.sqrt(np.maximum(share * (1.0 - share), (1.0 - 1.0 / n) / n) * n / (n - 1.0))


def even_prior(X: Any, spread: float) -> Gaussian:
    """Every word has the same say, and all of them together ``spread``."""
    return Gaussian(spread / (np.sqrt(X.shape[1]) * column_spread(X)))


def fit_presence_model(
    X: Any, y: BoolArray, random_state: int, draws: int | None = None
) -> tuple[IntArray, SampledFit]:
    """Find the top words of training documents X (presence of words), and sample the model of these alone."""
    by_presence = SampledModel(even_prior(X, RANKING_SPREAD), Gaussian(RANKING_INTERCEPT))
    ranking = sample(X, y, random_state, draws, by_presence, PRESENCE_ESS)
    top = top_words(ranking.mean * column_spread(X))
    few = X[:, top]
    agreed = SampledModel(even_prior(few, SPREAD), Gaussian(SPREAD), _LOGIT, JUDGES)
    return top, sample(few, y, random_state, draws, agreed, PRESENCE_ESS)
