"""How members become one model: weights fitted to what they said of texts that they were not trained on.

There are three ways, classes with the same methods. :class:`LabelWeights` has weights that differ by label, or takes
the best member for each; automatic training uses it. :class:`SharedWeights` has one weight for each member, for models
that are named: a log-linear pool, which averages their errors and calibrates them. :class:`PosteriorMixture` mixes the
draws of members that sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import optimize

from textbayes.categorizer.ensemble import Ensemble, Part, log_odds, merge_linear
from textbayes.categorizer.held_out import HeldOut
from textbayes.categorizer.stacking import Stack, fit_stacking
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.labels import LabelSpace, normalise_classes
from textbayes.core.protocols import Features
from textbayes.core.types import FloatArray
from textbayes.links import is_searched, make_link
from textbayes.links.base import BaseLink
from textbayes.models.base import TextModel
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.models.linear.model import LinearModel
from textbayes.posterior.intervals import mixture_standard_errors, pooled_draws

_PRIOR_SD = 2.0  # of the weights of a pool
_ENTRIES = 1 << 22  # of a block of rows: 32 MiB of numbers
_LOG_TEMPERATURE_SD = 0.5  # of the inverse temperature's logarithm: a few texts that are all right do not unbound it

Shrink = Callable[[LinearModel], None]
"""Leaves out small weights of a merged linear model, in place."""


@dataclass(frozen=True)
class LabelWeights:
    """Weights for every member and label, see ``stacking``; the members' log-odds are added.

    Parameters
    ----------
    space : LabelSpace
    best : bool
        Of labels that may go together each has one member alone, the one whose calibrated scores fit held-out texts
        best.
    """

    space: LabelSpace
    best: bool = False

    dtype: ClassVar[Any] = np.float32

    def member_scores(self, member: TextModel, features: Features) -> FloatArray:
        """Scores of documents by a fitted member, (n_docs, n_columns)."""
        return log_odds(member, member.scores(features))

    def fit(self, scores: FloatArray, held: HeldOut, expected: FloatArray | None = None) -> Stack:
        """Weights of the members, given their scores of held-out documents (n_members, n_held_out, n_columns)."""
        if not self.best:
            return fit_stacking(scores, held.indicator, self.space, held.label_seen, held.weight, expected)
        alone = [fit_stacking(one[None], held.indicator, self.space, held.label_seen, held.weight) for one in scores]
        losses = [
            held.label_losses(self.probabilities(one[None], stack)) for one, stack in zip(scores, alone, strict=True)
        ]
        chosen, columns = np.argmin(losses, axis=0), np.arange(self.space.n_columns)
        weights, bias = np.zeros((len(scores), len(columns))), np.array([stack.bias for stack in alone])
        weights[chosen, columns] = np.array([stack.weights[0] for stack in alone])[chosen, columns]
        return Stack(weights, bias[chosen, columns])

    def finish(self, stack: Stack, scores: FloatArray, held: HeldOut) -> Stack:
        """The stack as it is: biases and inverse temperature were fitted with the weights."""
        return stack

    def probabilities(self, scores: FloatArray, stack: Stack) -> FloatArray:
        """Probabilities of the ensemble, (n_docs, n_columns)."""
        return plug_in_proba(stack.scores(scores), make_link("logit"), self.space, is_softmax=True)

    def combine(
        self, parts: Sequence[Part], stack: Stack, features: Features, keep_draws: int, shrink: Shrink | None
    ) -> Ensemble:
        """The ensemble of the members fitted to all texts.

        Parameters
        ----------
        parts : sequence of Part
            The members, with the columns that they read; their weights are those of the stack.
        stack : Stack
        features : Features
            The training texts, all columns.
        keep_draws : int
            Draws kept of a mixture.
        shrink : function or None
        """
        temperature = stack.inverse_temperature or 1.0
        linear, others = [], []
        for part, weight in zip(parts, stack.weights, strict=True):
            if isinstance(part.model, LinearModel) and part.model.link_.name == "logit":
                linear.append(part._replace(weight=weight))
            else:
                others.append(part._replace(weight=weight / temperature))
        merged = merge_linear(self.space, make_link("logit"), linear, features.n_features, stack.bias)
        if shrink is not None:
            shrink(merged)
        merged = merged.scaled(1.0 / temperature)
        parts = [Part(merged, np.ones(self.space.n_columns)), *others]
        typical = typical_values(parts, features) if others else None
        return Ensemble(self.space, parts, inverse_temperature=temperature, typical=typical)


@dataclass(frozen=True)
class SharedWeights:
    """One weight for each member, none negative; scores are added.

    Parameters
    ----------
    space : LabelSpace
    link : BaseLink
        That of linear members that share one, whose predictors are added; of others log-odds are, and it is the logit.
    linear : bool
    is_softmax : bool
        Whether exclusive classes are normalised as a softmax of the scores.
    calibrate : bool
        Find the factor of the scores of a single member; several are calibrated by their weights.
    """

    space: LabelSpace
    link: BaseLink
    linear: bool
    is_softmax: bool = False
    calibrate: bool = False

    dtype: ClassVar[Any] = np.float64

    def member_scores(self, member: TextModel, features: Features) -> FloatArray:
        """Scores of documents by a fitted member, (n_docs, n_columns)."""
        if self.linear and isinstance(member, LinearModel):
            return member.predictor(features)
        return member.scores(features)

    def fit(self, scores: FloatArray, held: HeldOut, expected: FloatArray | None = None) -> Stack:
        """Weights of the members that fit held-out labels best, under w ~ N(1/n_members, 2²); 1 of a single one."""
        weights = np.ones(1) if len(scores) == 1 else self._weights(scores, held)
        return Stack.shared(weights, self.space.n_columns)

    def finish(self, stack: Stack, scores: FloatArray, held: HeldOut) -> Stack:
        """With the factor c of a single member, under c ~ N(1, 2²), whose probabilities fit held-out texts best."""
        if len(scores) > 1 or not self.calibrate:
            return stack
        return stack._replace(calibration=float(self._weights(scores, held)[0]))

    def probabilities(self, scores: FloatArray, stack: Stack) -> FloatArray:
        """Probabilities of the ensemble, (n_docs, n_columns)."""
        eta = np.tensordot(stack.calibration * stack.weights[:, 0], scores, axes=1)
        return plug_in_proba(eta, self.link, self.space, self.is_softmax)

    def combine(
        self, parts: Sequence[Part], stack: Stack, features: Features, keep_draws: int, shrink: Shrink | None
    ) -> Ensemble:
        """As :meth:`LabelWeights.combine`."""
        parts = [part._replace(weight=weight) for part, weight in zip(parts, stack.weights, strict=True)]
        if self.linear:
            models: list[Any] = [part.model for part in parts]
            merged = merge_linear(self.space, models[0].link_, parts, models[0].coef_.shape[1])
            return Ensemble(self.space, [Part(merged, np.ones(self.space.n_columns))], calibration=stack.calibration)
        typical = typical_values(parts, features) if len(parts) > 1 else None
        return Ensemble(self.space, parts, is_softmax=self.is_softmax, calibration=stack.calibration, typical=typical)

    def _weights(self, scores: FloatArray, held: HeldOut) -> FloatArray:
        """Mode of the posterior of the weights, given held-out labels."""
        equal = np.full(len(scores), 1.0 / len(scores))
        if not held.has_both():
            return equal

        def negative_log_posterior(pool: FloatArray) -> float:
            loss = 0.0
            for rows in row_blocks(held.indicator.shape):
                eta = np.tensordot(pool, scores[:, rows], axes=1)
                loss += held.total_loss(plug_in_proba(eta, self.link, self.space, self.is_softmax), rows)
            return loss + 0.5 * float((((pool - equal) / _PRIOR_SD) ** 2).sum())

        bounds = [(0.0, 10.0)] * len(scores)
        found = optimize.minimize(negative_log_posterior, equal, bounds=bounds, method="L-BFGS-B")
        return np.asarray(found.x if found.fun <= negative_log_posterior(equal) else equal)


@dataclass(frozen=True)
class PosteriorMixture:
    """A mixture of the posteriors of sampled linear models, with weights that add up to one.

    A mixture of draws is a set of draws, so the ensemble has a posterior as its members have, and one member alone
    keeps its own as it is: nothing is scaled. Weights maximise the likelihood of held-out documents.

    Classes that exclude each other have one regression each, against all others: together they are no model of the
    choice among them. Their probabilities are normalised as p_k^c / Σ_j p_j^c, with one number c, the inverse
    temperature, that fits held-out documents best. Of other labels the probabilities are the posterior's own.

    With ``posterior_predictive`` a member gives probabilities averaged over its draws, p = Σ_m a_m E_m[ψ(eta)];
    without, predictors at its posterior mean, p = ψ(Σ_m a_m E_m[eta]).

    References
    ----------
    Yao, Vehtari, Simpson & Gelman (2018), Using stacking to average Bayesian predictive distributions, Bayesian
    Analysis 13, 917–1007.
    """

    space: LabelSpace
    link: BaseLink
    posterior_predictive: bool = True

    dtype: ClassVar[Any] = np.float64

    def member_scores(self, member: TextModel, features: Features) -> FloatArray:
        """Scores of documents by a fitted member: probabilities of each label by itself, or predictors."""
        assert isinstance(member, LinearModel)
        draws = drawn(member)
        if not self.posterior_predictive:
            return member.predictor(features)
        return draws.probability(features.weights, self.link)

    def fit(self, scores: FloatArray, held: HeldOut, expected: FloatArray | None = None) -> Stack:
        """Weights of the members, none negative and one in sum."""
        n_members, n_columns = len(scores), self.space.n_columns
        equal = np.full(n_members, 1.0 / n_members)
        if n_members == 1 or not held.has_both():
            return Stack.shared(equal, n_columns)

        def loss(pool: FloatArray) -> float:
            return held.total_loss(self.probabilities(scores, Stack.shared(pool, n_columns)))

        whole = {"type": "eq", "fun": lambda pool: pool.sum() - 1.0}
        found = optimize.minimize(loss, equal, bounds=[(0.0, 1.0)] * n_members, constraints=[whole], method="SLSQP")
        pool = np.clip(found.x, 0.0, 1.0)
        pool /= pool.sum()
        corners = [equal, *np.eye(n_members)]
        return Stack.shared(min([pool, *corners], key=loss), n_columns)  # the search may stop short of a corner

    def finish(self, stack: Stack, scores: FloatArray, held: HeldOut) -> Stack:
        """With the inverse temperature that exclusive classes are normalised by."""
        if self.space.kind != "multiclass" or not (held.label_seen & held.indicator).any():
            return stack

        def loss(power: float) -> float:
            proba = self.probabilities(scores, stack._replace(inverse_temperature=float(np.exp(power))))
            return held.total_loss(proba) + 0.5 * (power / _LOG_TEMPERATURE_SD) ** 2

        found = optimize.minimize_scalar(loss, bounds=(-3.0, 3.0), method="bounded").x
        return stack._replace(inverse_temperature=float(np.exp(found)))

    def probabilities(self, scores: FloatArray, stack: Stack) -> FloatArray:
        """Probabilities of the ensemble, (n_docs, n_columns)."""
        mixed = np.tensordot(stack.weights[:, 0], scores, axes=1)
        temperature = stack.inverse_temperature or 1.0
        if not self.posterior_predictive:
            return plug_in_proba(mixed, self.link, self.space, inverse_temperature=temperature)
        if self.space.kind != "multiclass":
            return mixed
        return normalise_classes(np.log(np.maximum(mixed, 1e-300)), temperature)

    def combine(
        self, parts: Sequence[Part], stack: Stack, features: Features, keep_draws: int, shrink: Shrink | None
    ) -> Ensemble:
        """As :meth:`LabelWeights.combine`; the mean of a mixture is the mean of the means."""
        parts = [part._replace(weight=weight) for part, weight in zip(parts, stack.weights, strict=True)]
        models: list[Any] = [part.model for part in parts]
        merged = merge_linear(self.space, models[0].link_, parts, models[0].coef_.shape[1])
        draws = [drawn(model) for model in models]
        merged.standard_errors_ = mixture_standard_errors(stack.weights[:, 0], draws)
        merged.draws_ = pooled_draws(stack.weights[:, 0], draws, keep_draws)
        return Ensemble(
            self.space,
            [Part(merged, np.ones(self.space.n_columns))],
            inverse_temperature=stack.inverse_temperature or 1.0,
        )


Stacker = LabelWeights | SharedWeights | PosteriorMixture


def stacker_for(
    estimators: Sequence[Any],
    space: LabelSpace,
    posterior_predictive: bool,
    calibrate: bool | str = False,
    pool: str = "shared",
) -> Stacker:
    """The way to combine named models.

    Linear models of one link are added as linear models, those that all sample are mixed; others add their log-odds.

    Parameters
    ----------
    estimators : sequence of estimators
        The members, not fitted.
    space : LabelSpace
    posterior_predictive : bool
        Average probabilities over the draws of members that sample.
    calibrate : bool or str
        True calibrates the scores of a single member; a map of probabilities comes after the pool.
    pool : {"shared", "label", "best"}
    """
    if len(estimators) > 1 and pool != "shared":
        if any(getattr(one, "samples", False) for one in estimators):
            raise NotSupportedError(
                f"pool={pool!r} weighs scores label by label, and models that are sampled are mixed as a whole; leave "
                "out pool, or take another inference"
            )
        if pool == "best" and space.kind == "multiclass":
            raise NotSupportedError(
                "pool='best' takes one model for each label by itself, and classes that exclude each other are decided "
                "together; use pool='label'"
            )
        return LabelWeights(space, pool == "best")
    if all(isinstance(one, BayesLinearClassifier) for one in estimators):
        known = [one.link for one in estimators if not is_searched(one.link)]
        links = {make_link(link).spec for link in known} | ({"auto"} if len(known) < len(estimators) else set())
        link = make_link(known[0] if known else "logit")  # one that is looked for is not known yet
        sampled = [one.samples for one in estimators]
        if all(sampled) and len(links) == 1:
            if calibrate:
                raise NotSupportedError(
                    f"calibrate={calibrate!r} is for a model that has one set of weights; the probabilities of a "
                    "sampled model are those of its draws: leave out calibrate"
                )
            return PosteriorMixture(space, link, posterior_predictive)
        if not any(sampled) and len(links) == 1:
            return SharedWeights(space, link, True, False, calibrate is True)
    softmax = any(one.is_softmax_of(space) for one in estimators)
    return SharedWeights(space, make_link("logit"), False, softmax, calibrate is True)


def plug_in_proba(
    scores: FloatArray,
    link: BaseLink,
    space: LabelSpace,
    is_softmax: bool = False,
    inverse_temperature: float = 1.0,
) -> FloatArray:
    """Probability of every column at its predictor; those of exclusive classes add up to one.

    Parameters
    ----------
    scores : array (n_docs, n_columns)
    link : BaseLink
    space : LabelSpace
    is_softmax : bool
        Scores are logarithms of one distribution over exclusive classes, and not of each class by itself.
    inverse_temperature : float
        The power of each class's probability before they are normalised.
    """
    if space.kind != "multiclass":
        return link.probability(scores)
    own = scores if is_softmax else link.log_prob(scores, np.ones_like(scores))
    return normalise_classes(own, inverse_temperature)


def row_blocks(shape: tuple[int, ...]) -> list[slice]:
    """Rows of a large matrix in blocks, so that what is computed of a block hardly counts; all rows of a small one."""
    step = max(_ENTRIES // max(shape[1], 1), 1)
    return [slice(first, first + step) for first in range(0, shape[0], step)]


def typical_values(parts: Sequence[Part], features: Features) -> FloatArray:
    """Mean value of each word in the texts that have it, (n_parts, n_features): in counts, or in weights."""
    found = []
    for part in parts:
        matrix = (features.counts if part.model.reads == "counts" else features.weights).tocsc()
        n = np.maximum(np.diff(matrix.indptr), 1)
        found.append(np.asarray(matrix.sum(axis=0)).ravel() / n)
    return np.stack(found)


def drawn(member: LinearModel) -> Any:
    """The draws of a fitted member."""
    if member.draws_ is None:
        raise InputError(
            "inference 'gibbs' cannot sample the prior that was asked for (a sign, or a family that has no draws); "
            "leave the sign out, or use inference 'coordinate'"
        )
    return member.draws_
