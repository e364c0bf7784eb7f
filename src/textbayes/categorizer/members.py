"""Members of an ensemble: a name, the views of the texts that it reads, and an estimator."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from textbayes.categorizer.knowledge import Knowledge
from textbayes.core.errors import NotSupportedError
from textbayes.core.fitting import all_or_nothing
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import Features
from textbayes.core.types import BoolArray, FloatArray
from textbayes.inference import inferences
from textbayes.knowledge import MatchedPriors
from textbayes.knowledge.informative_prior import DEFAULT_STRENGTH
from textbayes.links import is_searched, make_link
from textbayes.models.base import FitOptions, TextModel
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.models.linear.word_sums import LinearScores
from textbayes.priors import make_prior

# Inferences whose work a card can do, and what its tolerance is as a share of theirs: the duality gap that ``dual``
# ends by is of the whole objective, and says less of single words.
_ON_CARD = {"coordinate": 1.0, "newton": 1.0, "dual": 0.1}


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
    estimator : TextModel
        Not fitted.
    in_folds : dict
        Parameters of fits that score held-out texts and are forgotten.
    share : float
        Of the weight that all members are expected to have together, beside 1 of each other one that learns.
    """

    name: str
    views: tuple[int, ...]
    estimator: Any
    in_folds: dict[str, Any] = field(default_factory=dict)
    share: float = 1.0

    @property
    def learns(self) -> bool:
        """Whether it learns from labels; the weight of one that does not is expected to be 0."""
        return not isinstance(self.estimator, Lexicon)

    @property
    def scale(self) -> float | None:
        """Scale of the prior of a regression, if it has one."""
        scale: Any = getattr(self.estimator, "scale", None)
        return None if scale is None or np.ndim(scale) else float(scale)

    def fit(
        self, features: Features, indicator: BoolArray, space: LabelSpace, options: FitOptions,
        knowledge: Knowledge | None = None,
    ) -> TextModel:  # fmt: skip
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
        estimator = self.estimator if knowledge is None else knowledge.with_prior(self.estimator, features, self.views)
        return estimator.fit_features(features, indicator, space, options)

    def with_params(self, **parameters: Any) -> Member:
        """The same with other parameters of its estimator; those that it does not have are left out."""
        known = inspect.signature(type(self.estimator)).parameters
        own = {name: value for name, value in parameters.items() if name in known}
        return replace(self, estimator=self.estimator.unfitted(**own)) if own else self

    def on_card(self) -> Member:
        """The same with its regressions fitted on a graphics card; unchanged where it has none that can be."""
        one, share = self.estimator, _ON_CARD.get(str(getattr(self.estimator, "inference", None)))
        if not isinstance(one, BayesLinearClassifier) or share is None or is_searched(one.link):
            return self
        try:
            inferences.get("gpu").check(make_link(one.link), make_prior(one.prior, 1.0, 0.0, one.sign))
        except NotSupportedError:
            return self
        folds = {name: share * value if name == "tol" else value for name, value in self.in_folds.items()}
        return replace(self.with_params(inference="gpu", tol=share * one.tol), in_folds=folds)

    def for_folds(self) -> Member:
        """The same for fits that score held-out texts."""
        return self.with_params(**self.in_folds)
