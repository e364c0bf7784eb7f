"""Members of an ensemble: a name, the views of the texts that it reads, and an estimator."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from textbayes.categorizer.knowledge import Knowledge
from textbayes.core.fitting import all_or_nothing
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import Features, FittedModel
from textbayes.core.types import BoolArray, FloatArray
from textbayes.kinds import FitOptions, kind_of
from textbayes.kinds.linear import FittedLinear
from textbayes.knowledge import MatchedPriors
from textbayes.knowledge.strength import DEFAULT_STRENGTH
from textbayes.links import make_link
from textbayes.models.linear.word_sums import LinearScores


class Lexicon(LinearScores):
    """Words that are known to speak for labels: a score that is not learnt, but weighed in the ensemble.

    Parameters
    ----------
    matched : MatchedPriors
        Words of one view and the labels that they speak for.
    """

    def __init__(self, matched: MatchedPriors) -> None:
        self.matched = matched

    @all_or_nothing
    def fit(self, X: Any, indicator: BoolArray, sample_weight: FloatArray | None = None) -> Lexicon:
        """The mean prior weight of each word, given its typical value; labels are not looked at.

        Parameters
        ----------
        X : CSR matrix (n_docs, n_features)
        indicator : boolean array (n_docs, n_columns)
        sample_weight : array (n_docs,), optional
        """
        X = X if sample_weight is None else X[sample_weight > 0.0]
        self.coef_ = np.zeros((self.matched.n_labels, X.shape[1]))
        self.coef_[self.matched.label, self.matched.column] = DEFAULT_STRENGTH.means(self.matched, X)
        self.intercept_ = np.zeros(len(self.coef_))
        return self


@dataclass(frozen=True)
class Member:
    """One model of an ensemble.

    Parameters
    ----------
    name : str
    views : tuple of int
        The views of the texts that it reads, side by side.
    estimator : estimator
        Not fitted.
    in_folds : dict
        Parameters of fits that score held-out texts and are forgotten.
    """

    name: str
    views: tuple[int, ...]
    estimator: Any
    in_folds: dict[str, Any] = field(default_factory=dict)

    @property
    def learns(self) -> bool:
        """Whether it learns from labels; the weight of one that does not is expected to be 0."""
        return not isinstance(self.estimator, Lexicon)

    @property
    def reads(self) -> str:
        """What the estimator reads: "weights" or "counts"."""
        return "weights" if self._is_sum else kind_of(self.estimator).reads

    @property
    def uses_lengths(self) -> bool:
        """Whether the lengths of documents matter to it."""
        return not self._is_sum and kind_of(self.estimator).uses_lengths

    @property
    def samples(self) -> bool:
        """Whether a fit draws from the posterior."""
        return not self._is_sum and kind_of(self.estimator).samples(self.estimator)

    @property
    def _is_sum(self) -> bool:
        return isinstance(self.estimator, LinearScores)

    @property
    def scale(self) -> float | None:
        """Scale of the prior of a regression, if it has one."""
        scale: Any = getattr(self.estimator, "scale", None)
        return None if scale is None or np.ndim(scale) else float(scale)

    def fit(
        self, features: Features, indicator: BoolArray, space: LabelSpace, options: FitOptions,
        knowledge: Knowledge | None = None,
    ) -> FittedModel:  # fmt: skip
        """The member fitted to some documents.

        Parameters
        ----------
        features : Features
        indicator : boolean array (n_docs, n_columns)
        space : LabelSpace
        options : FitOptions
        knowledge : Knowledge, optional
            A prior file, and how far to follow it.
        """
        if self._is_sum:
            one = clone(self.estimator).fit(features.weights, indicator, options.weight)
            return FittedLinear(space, make_link("logit"), coef=one.coef_, intercept=one.intercept_)
        estimator = self.estimator if knowledge is None else knowledge.inform(self.estimator, features)
        return kind_of(self.estimator).fit(estimator, features, indicator, space, options)

    def with_params(self, **parameters: Any) -> Member:
        """The same with other parameters of its estimator; those that it does not have are left out."""
        known = self.estimator.get_params(deep=False)
        own = {name: value for name, value in parameters.items() if name in known}
        return replace(self, estimator=clone(self.estimator).set_params(**own)) if own else self

    def for_folds(self) -> Member:
        """The same for fits that score held-out texts."""
        return self.with_params(**self.in_folds)
