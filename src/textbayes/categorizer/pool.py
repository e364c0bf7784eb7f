"""Several linear models of one link, pooled into one: eta = Σ_m weight_m · eta_m, or a mixture of their posteriors.

A log-linear pool averages the members' errors. Its weights maximise the likelihood of texts that the members did not
see, under a weak prior that they share one unit equally, so the pool is calibrated as well. One member alone is no
pool: its weight is 1, what it says is left as it is, and calibration is a step of its own (``fit_calibration``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import optimize, special

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.labels import LabelSpace
from textbayes.core.types import BoolArray, FloatArray
from textbayes.inference import make_inference
from textbayes.links import make_link
from textbayes.links.base import BaseLink
from textbayes.models.linear.classifier import BayesLinearClassifier, one_of_many

if TYPE_CHECKING:  # loads numba, which is slow
    from textbayes.posterior.draws import Draws

_PRIOR_SD = 2.0  # of the weights of a pool
_SHARPNESS_SD = 0.5  # of the logarithm of the sharpness: a few texts that are all right do not make it boundless


def probabilities(eta: FloatArray, link: BaseLink, space: LabelSpace) -> FloatArray:
    """Probability of every column; those of one-of-many classes add up to one."""
    return one_of_many(eta, link) if space.kind == "multiclass" else link.probability(eta)


def pooled_probabilities(eta: FloatArray, pool: FloatArray, link: BaseLink, space: LabelSpace) -> FloatArray:
    """Probabilities of the pool of members' predictors ``eta`` (n_members, n_docs, n_columns)."""
    return probabilities(np.tensordot(pool, eta, axes=1), link, space)


def fit_pool(
    eta: FloatArray,
    indicator: BoolArray,
    link: BaseLink,
    space: LabelSpace,
    learnable: BoolArray | None = None,
    weight: FloatArray | None = None,
) -> FloatArray:
    """Non-negative weights of the members that fit held-out labels best, under w ~ N(1/n_members, 2²).

    Only entries that are ``learnable`` (n_docs, n_columns) count, documents by their ``weight`` (n_docs,); where there
    are none, members share equally. One member has weight 1.
    """
    if len(eta) == 1:
        return np.ones(1)
    return _fitted_weights(eta, indicator, link, space, learnable, weight)


def fit_calibration(
    eta: FloatArray,
    indicator: BoolArray,
    link: BaseLink,
    space: LabelSpace,
    learnable: BoolArray | None = None,
    weight: FloatArray | None = None,
) -> float:
    """The factor c, under c ~ N(1, 2²), with which probabilities of c·eta fit held-out labels best.

    ``eta`` (n_docs, n_columns) are predictors of texts that the model did not see: one that is too sure of itself has a
    factor below 1. It is 1 where no other fits better.
    """
    return float(_fitted_weights(eta[None], indicator, link, space, learnable, weight)[0])


def _fitted_weights(
    eta: FloatArray,
    indicator: BoolArray,
    link: BaseLink,
    space: LabelSpace,
    learnable: BoolArray | None,
    weight: FloatArray | None,
) -> FloatArray:
    """Where the posterior of the weights, given held-out labels, is highest."""
    n_members = len(eta)
    equal = np.full(n_members, 1.0 / n_members)
    use = np.ones(indicator.shape, dtype=np.bool_) if learnable is None else learnable
    right = indicator & use
    if not (right.any() and (use & ~indicator).any()):
        return equal

    def negative_log_posterior(pool: FloatArray) -> float:
        strain = 0.5 * float((((pool - equal) / _PRIOR_SD) ** 2).sum())
        return _loss(pooled_probabilities(eta, pool, link, space), indicator, space, use, weight) + strain

    bounds = [(0.0, 10.0)] * n_members
    found = optimize.minimize(negative_log_posterior, equal, bounds=bounds, method="L-BFGS-B")
    return np.asarray(found.x if found.fun <= negative_log_posterior(equal) else equal)


def _loss(
    proba: FloatArray, indicator: BoolArray, space: LabelSpace, learnable: BoolArray, weight: FloatArray | None
) -> float:
    """−Σ log p of the labels, over the entries that are ``learnable``, documents by their weight."""
    proba = np.clip(proba, 1e-300, 1.0)
    counts = learnable & indicator if space.kind == "multiclass" else learnable
    losses = -np.log(np.where(indicator, proba, np.maximum(1.0 - proba, 1e-300))[counts])
    if weight is not None:
        losses = losses * np.broadcast_to(weight[:, None], counts.shape)[counts]
    return float(losses.sum())


class PredictorPool(NamedTuple):
    """How models that have one set of weights each are pooled: their predictors are added, see above."""

    link: BaseLink
    space: LabelSpace
    weight: FloatArray | None = None
    calibrate: bool = False

    def of(self, member: BayesLinearClassifier, X: Any) -> FloatArray:
        """What a fitted member says of documents, (n_docs, n_columns)."""
        return member.linear_predictor(X)

    def fit(self, said: FloatArray, indicator: BoolArray, learnable: BoolArray) -> FloatArray:
        """Weights of the members, given what they said of held-out documents (n_members, n_docs, n_columns)."""
        return fit_pool(said, indicator, self.link, self.space, learnable, self.weight)

    def sharpness(self, said: FloatArray, pool: FloatArray, indicator: BoolArray, learnable: BoolArray) -> float:
        """One: predictors are not shared out by a power."""
        return 1.0

    def calibration(self, said: FloatArray, pool: FloatArray, indicator: BoolArray, learnable: BoolArray) -> float:
        """The factor of the predictors of one member, if asked for; 1 of several, whose weights have it in them."""
        if len(said) > 1 or not self.calibrate:
            return 1.0
        return fit_calibration(said[0], indicator, self.link, self.space, learnable, self.weight)

    def probabilities(self, said: FloatArray, pool: FloatArray, sharpness: float = 1.0) -> FloatArray:
        """Those of the pool."""
        return pooled_probabilities(said, pool, self.link, self.space)

    def loss(self, said: FloatArray, pool: FloatArray, indicator: BoolArray, learnable: BoolArray) -> float:
        """−Σ log p of the labels by the pool."""
        return _loss(self.probabilities(said, pool), indicator, self.space, learnable, self.weight)


class PosteriorPool(NamedTuple):
    """How models that sample are pooled: their posteriors are mixed, with weights that add up to one (stacking).

    A mixture of draws is a set of draws, so the pool has a posterior as its members have, and one member alone keeps
    its own as it is: nothing is scaled. Weights maximise the likelihood of held-out documents.

    Classes that exclude each other have one regression each, against all others: together they are no model of the
    choice among them. Their probabilities are shared out as p_k^c / Σ_j p_j^c, with one number c, the sharpness, that
    fits held-out documents best. Of other labels the probabilities are the posterior's own.

    With ``average`` a member says probabilities averaged over its draws, p = Σ_m a_m E_m[ψ(eta)]; without, predictors
    at its posterior mean, p = ψ(Σ_m a_m E_m[eta]).

    References
    ----------
    Yao, Vehtari, Simpson & Gelman (2018), Using stacking to average Bayesian predictive distributions, Bayesian
    Analysis 13, 917–1007.
    """

    link: BaseLink
    space: LabelSpace
    average: bool = True
    weight: FloatArray | None = None

    def of(self, member: BayesLinearClassifier, X: Any) -> FloatArray:
        """What a fitted member says of documents: probabilities of each label by itself, or predictors."""
        draws = drawn(member)
        return draws.probability(X, self.link) if self.average else member.linear_predictor(X)

    def fit(self, said: FloatArray, indicator: BoolArray, learnable: BoolArray) -> FloatArray:
        """Weights of the members, none negative and one in sum."""
        n_members = len(said)
        equal = np.full(n_members, 1.0 / n_members)
        if n_members == 1 or not (learnable & indicator).any() or not (learnable & ~indicator).any():
            return equal

        def loss(pool: FloatArray) -> float:
            return self.loss(said, pool, indicator, learnable)

        whole = {"type": "eq", "fun": lambda pool: pool.sum() - 1.0}
        found = optimize.minimize(loss, equal, bounds=[(0.0, 1.0)] * n_members, constraints=[whole], method="SLSQP")
        pool = np.clip(found.x, 0.0, 1.0)
        pool /= pool.sum()
        corners = [equal, *np.eye(n_members)]
        return np.asarray(min([pool, *corners], key=loss))  # the search may stop short of a corner

    def sharpness(self, said: FloatArray, pool: FloatArray, indicator: BoolArray, learnable: BoolArray) -> float:
        """The power that classes which exclude each other are shared out by; 1 where they do not."""
        if self.space.kind != "multiclass" or not (learnable & indicator).any():
            return 1.0

        def loss(power: float) -> float:
            proba = self.probabilities(said, pool, np.exp(power))
            strain = 0.5 * (power / _SHARPNESS_SD) ** 2
            return _loss(proba, indicator, self.space, learnable, self.weight) + strain

        return float(np.exp(optimize.minimize_scalar(loss, bounds=(-3.0, 3.0), method="bounded").x))

    def calibration(self, said: FloatArray, pool: FloatArray, indicator: BoolArray, learnable: BoolArray) -> float:
        """One: how sure a posterior is, its draws say."""
        return 1.0

    def probabilities(self, said: FloatArray, pool: FloatArray, sharpness: float = 1.0) -> FloatArray:
        """Those of the pool."""
        mixed = np.tensordot(pool, said, axes=1)
        if self.average:
            return shared_out(mixed, self.space, sharpness)
        return at_the_mean(mixed, self.link, self.space, sharpness)

    def loss(self, said: FloatArray, pool: FloatArray, indicator: BoolArray, learnable: BoolArray) -> float:
        """−Σ log p of the labels by the pool."""
        return _loss(self.probabilities(said, pool), indicator, self.space, learnable, self.weight)


Pooling = PredictorPool | PosteriorPool


def make_pooling(
    members: Sequence[BayesLinearClassifier],
    space: LabelSpace,
    average: bool,
    weight: FloatArray | None = None,
    calibrate: bool = False,
) -> Pooling:
    """The way to pool these members; those that sample and those that do not cannot be told as one.

    ``weight`` is how much each document counts, all alike where it is None; ``calibrate`` is for one member alone.
    """
    link = make_link(members[0].link)
    sampled = [samples(member) for member in members]
    if not any(sampled):
        return PredictorPool(link, space, weight, calibrate)
    if not all(sampled):
        raise InputError("some of the classifiers sample and others do not; give them all inference='gibbs', or none")
    if calibrate:
        raise NotSupportedError(
            "calibrate=True scales a model that has one set of weights; the probabilities of a sampled model are those "
            "of its draws: leave out calibrate=True"
        )
    return PosteriorPool(link, space, average, weight)


def samples(member: BayesLinearClassifier) -> bool:
    """Whether a classifier draws from its posterior."""
    return make_inference(member.inference, 1e-4, 100, 1).samples


def drawn(member: BayesLinearClassifier) -> Draws:
    """The draws of a fitted member."""
    if member.draws_ is None:
        raise InputError(
            "inference 'gibbs' cannot sample the prior that was asked for (a sign, or a family that has no draws); "
            "leave the sign out, or use inference 'coordinate'"
        )
    return member.draws_


def shared_out(own: FloatArray, space: LabelSpace, sharpness: float = 1.0) -> FloatArray:
    """Each label's own probability; those of one-of-many classes shared out, p_k^c / Σ_j p_j^c."""
    if space.kind != "multiclass":
        return own
    return np.asarray(special.softmax(sharpness * np.log(np.maximum(own, 1e-300)), axis=1))


def at_the_mean(eta: FloatArray, link: BaseLink, space: LabelSpace, sharpness: float = 1.0) -> FloatArray:
    """The same for predictors at the posterior mean; with logarithms, so that classes stay apart where all are rare."""
    if space.kind != "multiclass":
        return link.probability(eta)
    return np.asarray(special.softmax(sharpness * link.log_prob(eta, np.ones_like(eta)), axis=1))
