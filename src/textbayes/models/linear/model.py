"""Models whose log-odds, or predictors of another link, are sums over words: what all of them answer with."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import special

from textbayes.core.protocols import Contributions, Features, WordWeights
from textbayes.core.types import BoolArray, FloatArray
from textbayes.links import BaseLink
from textbayes.models.base import TextModel, shared_parts
from textbayes.posterior.intervals import Uncertainty

if TYPE_CHECKING:
    from textbayes.posterior.draws import Draws


class LinearModel(TextModel):
    """A weight for every word and label, an intercept for every label, and a link: p(y = 1 | x) = ψ(w·x + b).

    Attributes
    ----------
    coef_, intercept_ : arrays (n_columns, n_features), (n_columns,)
        Modes, or means of the posterior where it was sampled.
    link_ : link
    standard_errors_, intercept_errors_ : arrays like them, or None
        NaN for words that have none.
    mean_shifts_ : array like ``coef_``, or None
        Posterior mean − mode of the weights, for their intervals.
    draws_ : Draws or None
    held_scale_ : float
        Scale of the prior of words without an error, for learning on.
    """

    model_type = "linear"

    coef_: FloatArray
    intercept_: FloatArray
    link_: BaseLink
    standard_errors_: FloatArray | None = None
    intercept_errors_: FloatArray | None = None
    mean_shifts_: FloatArray | None = None
    approximation_: Any = None
    draws_: Draws | None = None
    held_scale_: float = 1.0

    def predictor(self, features: Features) -> FloatArray:
        """The linear predictors that probabilities are made of, (n_docs, n_columns)."""
        return np.asarray(np.asarray(features.weights @ self.coef_.T) + self.intercept_)

    def scaled(self, factor: float | FloatArray) -> Self:
        """The same with all weights and intercepts, and their errors, times a factor, which may differ by label."""
        after, factor = copy.copy(self), np.asarray(factor)
        after.coef_, after.intercept_ = (self.coef_.T * factor).T, factor * self.intercept_
        for name in ("standard_errors_", "mean_shifts_", "intercept_errors_"):
            if (own := getattr(self, name)) is not None:
                setattr(after, name, (own.T * factor).T)
        return after

    def scores(self, features: Features, posterior_predictive: bool = True) -> FloatArray:
        if self.draws_ is not None and posterior_predictive:
            return np.asarray(special.logit(self.draws_.probability(features.weights, self.link_)))
        return self.link_.log_odds(self.predictor(features))

    def own_proba(self, features: Features, posterior_predictive: bool = True) -> FloatArray:
        """Probability of each label by itself, (n_docs, n_columns)."""
        if self.draws_ is not None and posterior_predictive:
            return self.draws_.probability(features.weights, self.link_)
        return self.link_.probability(self.predictor(features))

    def log_proba(self, features: Features, posterior_predictive: bool = True) -> FloatArray:
        """Logarithm of the probability of each label by itself, (n_docs, n_columns)."""
        if self.draws_ is not None and posterior_predictive:
            return np.log(np.maximum(self.draws_.probability(features.weights, self.link_), 1e-300))
        eta = self.predictor(features)
        return self.link_.log_prob(eta, np.ones_like(eta))

    def contributions(self, document: Features) -> Contributions:
        base = self.link_.log_odds(self.intercept_)
        return shared_parts(document.weights, self.coef_, base, self.scores(document)[0])

    def word_weights(self) -> WordWeights:
        description = "weight" if self.draws_ is None else "posterior mean"
        return WordWeights(self.coef_, self.standard_errors_, description, self.mean_shifts_)

    def known_words(self) -> BoolArray:
        return np.asarray((self.coef_ != 0.0).any(axis=0))

    def word_totals(self, features: Features) -> FloatArray:
        X = features.weights
        read = np.asarray(X @ self.coef_.T)
        rise = self.link_.log_odds(self.intercept_ + read) - self.link_.log_odds(self.intercept_)
        # Log-odds per unit of eta in each text: 1 for the logit, the mean slope from the base to eta for other links.
        slopes = np.divide(rise, read, out=np.ones_like(read), where=read != 0.0)
        return np.asarray(self.coef_ * np.asarray(X.T @ slopes).T)

    def probability_interval(
        self, features: Features, level: float, inverse_temperature: float = 1.0
    ) -> tuple[FloatArray, FloatArray]:
        if self.draws_ is None:
            return super().probability_interval(features, level, inverse_temperature)
        if self.label_space_.kind == "multiclass":
            return self.draws_.class_probability_interval(
                features.weights, self.link_, level, inverse_temperature, drawn_apart=True
            )
        return self.draws_.probability_interval(features.weights, self.link_, level)

    def uncertainty(self, features: Features) -> Uncertainty:
        if self.draws_ is None:
            return super().uncertainty(features)
        return self.draws_.uncertainty(features.weights, self.link_)
