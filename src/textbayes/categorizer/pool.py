"""Pools of several models: scores = Σ_m weight_m · scores_m, or a mixture of their posteriors.

Scores are log-odds; those of linear models of one link are their predictors, so that their pool is linear too. A
log-linear pool averages the members' errors. Its weights maximise the likelihood of texts that the members did not see,
under a weak prior that they share one unit equally, so the pool is calibrated as well. One member alone is no pool: its
weight is 1, what it says is left as it is, and calibration is a step of its own (``fit_calibration``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.labels import LabelSpace, normalise_classes
from textbayes.core.protocols import Features, FittedModel
from textbayes.core.types import BoolArray, FloatArray
from textbayes.kinds import kind_of
from textbayes.kinds.linear import FittedLinear, LinearKind
from textbayes.links import make_link
from textbayes.links.base import BaseLink

_PRIOR_SD = 2.0  # of the weights of a pool
_ENTRIES = 1 << 22  # of a block of rows: 32 MiB of numbers
_SHARPNESS_SD = 0.5  # of the logarithm of the sharpness: a few texts that are all right do not make it boundless


def plug_in_proba(
    scores: FloatArray, link: BaseLink, space: LabelSpace, joint: bool = False, sharpness: float = 1.0
) -> FloatArray:
    """Probability of every column at its predictor; those of exclusive classes add up to one.

    ``joint`` scores of such classes are logarithms of one distribution over them; others are of each class by itself.

    Parameters
    ----------
    scores : array (n_docs, n_columns)
    link : BaseLink
    space : LabelSpace
    joint : bool
        Scores are logarithms of one distribution over exclusive classes.
    sharpness : float
        The power that probabilities of exclusive classes are raised to before they are normalised.
    """
    if space.kind != "multiclass":
        return link.probability(scores)
    return normalise_classes(scores if joint else link.log_prob(scores, np.ones_like(scores)), sharpness)


def row_blocks(shape: tuple[int, ...]) -> list[slice]:
    """Rows of a large matrix in blocks, so that what is computed of a block hardly counts; all rows of a small one."""
    step = max(_ENTRIES // max(shape[1], 1), 1)
    return [slice(first, first + step) for first in range(0, shape[0], step)]


def fit_pool(
    scores: FloatArray,
    indicator: BoolArray,
    link: BaseLink,
    space: LabelSpace,
    learnable: BoolArray | None = None,
    weight: FloatArray | None = None,
    joint: bool = False,
) -> FloatArray:
    """Non-negative weights of the members that fit held-out labels best, under w ~ N(1/n_members, 2²).

    Parameters
    ----------
    scores : array (n_members, n_docs, n_columns)
        What members say of documents that they did not see.
    indicator : array (n_docs, n_columns)
    learnable : array (n_docs, n_columns) or None
        Only these entries count; where there are none, members share equally.
    weight : array (n_docs,) or None
        How much each document counts.
    """
    if len(scores) == 1:
        return np.ones(1)
    return _fitted_weights(scores, indicator, link, space, learnable, weight, joint)


def fit_calibration(
    scores: FloatArray,
    indicator: BoolArray,
    link: BaseLink,
    space: LabelSpace,
    learnable: BoolArray | None = None,
    weight: FloatArray | None = None,
    joint: bool = False,
) -> float:
    """The factor c, under c ~ N(1, 2²), with which probabilities of c·scores fit held-out labels best.

    ``scores`` (n_docs, n_columns) are of texts that the model did not see: one that is too sure of itself has a factor
    below 1. It is 1 where no other fits better.

    Parameters
    ----------
    scores : array (n_docs, n_columns)
        Those of held-out documents.
    indicator : boolean array (n_docs, n_columns)
    link : BaseLink
    space : LabelSpace
    learnable : boolean array (n_docs, n_columns), optional
        False where a score means nothing, since the other folds lacked the label.
    weight : array (n_docs,), optional
        How much each document counts.
    joint : bool
        Scores are logarithms of one distribution over exclusive classes.
    """
    return float(_fitted_weights(scores[None], indicator, link, space, learnable, weight, joint)[0])


def _fitted_weights(
    scores: FloatArray,
    indicator: BoolArray,
    link: BaseLink,
    space: LabelSpace,
    learnable: BoolArray | None,
    weight: FloatArray | None,
    joint: bool,
) -> FloatArray:
    """Mode of the posterior of the weights, given held-out labels."""
    n_members = len(scores)
    equal = np.full(n_members, 1.0 / n_members)
    use = np.ones(indicator.shape, dtype=np.bool_) if learnable is None else learnable
    right = indicator & use
    if not (right.any() and (use & ~indicator).any()):
        return equal

    def negative_log_posterior(pool: FloatArray) -> float:
        loss = 0.0
        for rows in row_blocks(indicator.shape):
            proba = plug_in_proba(np.tensordot(pool, scores[:, rows], axes=1), link, space, joint)
            loss += _loss(proba, indicator[rows], space, use[rows], None if weight is None else weight[rows])
        return loss + 0.5 * float((((pool - equal) / _PRIOR_SD) ** 2).sum())

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


class ScorePool(NamedTuple):
    """Pool of models that adds their scores: for models with one set of weights each, or of different kinds.

    ``link`` is that of linear members that share one, whose predictors are added; of others log-odds are, and it is the
    logit.
    """

    link: BaseLink
    space: LabelSpace
    linear: bool
    joint: bool = False
    weight: FloatArray | None = None
    calibrate: bool = False

    def member_scores(self, member: FittedModel, features: Features) -> FloatArray:
        """Scores of documents by a fitted member, (n_docs, n_columns)."""
        if self.linear and isinstance(member, FittedLinear):
            return member.predictor(features)
        return member.scores(features)

    def fit(self, held_out: FloatArray, indicator: BoolArray, learnable: BoolArray) -> FloatArray:
        """Weights of the members, given their scores of held-out documents (n_members, n_docs, n_columns).

        Parameters
        ----------
        held_out : array (n_members, n_docs, n_columns)
            Scores by members that did not see the document.
        indicator : boolean array (n_docs, n_columns)
        learnable : boolean array (n_docs, n_columns)
            False where a score means nothing, since the other folds lacked the label.
        """
        return fit_pool(held_out, indicator, self.link, self.space, learnable, self.weight, self.joint)

    def sharpness(self, held_out: FloatArray, pool: FloatArray, indicator: BoolArray, learnable: BoolArray) -> float:
        """Sharpness of the pool: 1, as scores are not normalised by a power."""
        return 1.0

    def calibration(self, held_out: FloatArray, pool: FloatArray, indicator: BoolArray, learnable: BoolArray) -> float:
        """The factor of the scores of one member, if asked for; 1 of several, whose weights have it in them."""
        if len(held_out) > 1 or not self.calibrate:
            return 1.0
        return fit_calibration(held_out[0], indicator, self.link, self.space, learnable, self.weight, self.joint)

    def probabilities(self, held_out: FloatArray, pool: FloatArray, sharpness: float = 1.0) -> FloatArray:
        """Probabilities of the pool, (n_docs, n_columns)."""
        return plug_in_proba(np.tensordot(pool, held_out, axes=1), self.link, self.space, self.joint)

    def loss(self, held_out: FloatArray, pool: FloatArray, indicator: BoolArray, learnable: BoolArray) -> float:
        """Log-loss of the pool, −Σ log p of the labels."""
        return _loss(self.probabilities(held_out, pool), indicator, self.space, learnable, self.weight)


class PosteriorPool(NamedTuple):
    """Pool of sampled linear models that mixes their posteriors, with weights that add up to one (stacking).

    A mixture of draws is a set of draws, so the pool has a posterior as its members have, and one member alone keeps
    its own as it is: nothing is scaled. Weights maximise the likelihood of held-out documents.

    Classes that exclude each other have one regression each, against all others: together they are no model of the
    choice among them. Their probabilities are normalised as p_k^c / Σ_j p_j^c, with one number c, the sharpness, that
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

    def member_scores(self, member: FittedModel, features: Features) -> FloatArray:
        """Scores of documents by a fitted member: probabilities of each label by itself, or predictors."""
        assert isinstance(member, FittedLinear)
        draws = drawn(member)
        return draws.probability(features.weights, self.link) if self.average else member.predictor(features)

    def fit(self, held_out: FloatArray, indicator: BoolArray, learnable: BoolArray) -> FloatArray:
        """Weights of the members, none negative and one in sum."""
        n_members = len(held_out)
        equal = np.full(n_members, 1.0 / n_members)
        if n_members == 1 or not (learnable & indicator).any() or not (learnable & ~indicator).any():
            return equal

        def loss(pool: FloatArray) -> float:
            return self.loss(held_out, pool, indicator, learnable)

        whole = {"type": "eq", "fun": lambda pool: pool.sum() - 1.0}
        found = optimize.minimize(loss, equal, bounds=[(0.0, 1.0)] * n_members, constraints=[whole], method="SLSQP")
        pool = np.clip(found.x, 0.0, 1.0)
        pool /= pool.sum()
        corners = [equal, *np.eye(n_members)]
        return np.asarray(min([pool, *corners], key=loss))  # the search may stop short of a corner

    def sharpness(self, held_out: FloatArray, pool: FloatArray, indicator: BoolArray, learnable: BoolArray) -> float:
        """The power that classes which exclude each other are normalised by; 1 where they do not."""
        if self.space.kind != "multiclass" or not (learnable & indicator).any():
            return 1.0

        def loss(power: float) -> float:
            proba = self.probabilities(held_out, pool, np.exp(power))
            penalty = 0.5 * (power / _SHARPNESS_SD) ** 2
            return _loss(proba, indicator, self.space, learnable, self.weight) + penalty

        return float(np.exp(optimize.minimize_scalar(loss, bounds=(-3.0, 3.0), method="bounded").x))

    def calibration(self, held_out: FloatArray, pool: FloatArray, indicator: BoolArray, learnable: BoolArray) -> float:
        """Calibration factor of the pool: 1, as its draws say how sure a posterior is."""
        return 1.0

    def probabilities(self, held_out: FloatArray, pool: FloatArray, sharpness: float = 1.0) -> FloatArray:
        """Probabilities of the pool, (n_docs, n_columns)."""
        mixed = np.tensordot(pool, held_out, axes=1)
        if not self.average:
            return plug_in_proba(mixed, self.link, self.space, sharpness=sharpness)
        if self.space.kind != "multiclass":
            return mixed
        return normalise_classes(np.log(np.maximum(mixed, 1e-300)), sharpness)

    def loss(self, held_out: FloatArray, pool: FloatArray, indicator: BoolArray, learnable: BoolArray) -> float:
        """Log-loss of the pool, −Σ log p of the labels."""
        return _loss(self.probabilities(held_out, pool), indicator, self.space, learnable, self.weight)


Pooling = ScorePool | PosteriorPool


def make_pooling(
    estimators: Sequence[Any],
    space: LabelSpace,
    average: bool,
    weight: FloatArray | None = None,
    calibrate: bool = False,
) -> Pooling:
    """The way to pool these members.

    Linear models of one link are pooled as linear models, those that all sample as posteriors; others by log-odds.
    ``weight`` is how much each document counts, all alike where it is None; ``calibrate`` is for one member alone.

    Parameters
    ----------
    estimators : sequence of estimators
        The members, not fitted.
    space : LabelSpace
    average : bool
        Average probabilities over the draws of members that sample.
    weight : array (n_docs,), optional
        How much each document counts.
    calibrate : bool
        Calibrate the scores of a single member.
    """
    members = [kind_of(estimator) for estimator in estimators]
    if all(isinstance(kind, LinearKind) for kind in members):
        links = {make_link(estimator.link).spec for estimator in estimators}
        sampled = [kind.samples(estimator) for kind, estimator in zip(members, estimators, strict=True)]
        if all(sampled) and len(links) == 1:
            if calibrate:
                raise NotSupportedError(
                    "calibrate=True scales a model that has one set of weights; the probabilities of a sampled model "
                    "are those of its draws: leave out calibrate=True"
                )
            return PosteriorPool(make_link(estimators[0].link), space, average, weight)
        if not any(sampled) and len(links) == 1:
            return ScorePool(make_link(estimators[0].link), space, True, False, weight, calibrate)
    joint = any(kind.joint(estimator, space) for kind, estimator in zip(members, estimators, strict=True))
    return ScorePool(make_link("logit"), space, False, joint, weight, calibrate)


def drawn(member: FittedLinear) -> Any:
    """The draws of a fitted member."""
    if member.draws is None:
        raise InputError(
            "inference 'gibbs' cannot sample the prior that was asked for (a sign, or a family that has no draws); "
            "leave the sign out, or use inference 'coordinate'"
        )
    return member.draws
