"""Naive Bayes of weighted words, and lexicons: linear models that are computed from sums, without a search."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from textbayes.core.fitting import all_or_nothing
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import Features
from textbayes.core.types import BoolArray, FloatArray
from textbayes.links import make_link
from textbayes.models.base import FitOptions
from textbayes.models.counts.base import log_shares
from textbayes.models.counts.families.multinomial import complement_scores
from textbayes.models.linear.model import LinearModel


class LinearScores(LinearModel, BaseEstimator):
    """Base of linear models that are computed: ``fit`` gives weights ``coef_`` and ``intercept_`` of every column."""

    @abstractmethod
    def fit(self, X: Any, indicator: BoolArray, sample_weight: FloatArray | None = None) -> Self:
        """Compute the weights from documents (n_docs, n_features) and labels (n_docs, n_columns)."""

    def fit_features(
        self, features: Features, indicator: BoolArray, space: LabelSpace, options: FitOptions | None = None
    ) -> Self:
        """Fitted copy; parameters as for ``TextModel``."""
        one = self.unfitted().fit(features.weights, indicator, None if options is None else options.weight)
        one.label_space_, one.link_ = space, make_link("logit")
        return one


class NaiveBayesWeights(LinearScores):
    """Naive Bayes of weighted words as log-odds of every label, one label against the texts without it.

    Parameters
    ----------
    complement : bool
        Complement naive Bayes: a class is scored by how badly the other classes explain the words.
    pseudo_count : float
        Added to the sum of every word.

    References
    ----------
    Rennie, Shih, Teevan & Karger (2003), Tackling the poor assumptions of naive Bayes text classifiers, ICML.
    """

    def __init__(self, complement: bool = False, pseudo_count: float = 0.1) -> None:
        self.complement = complement
        self.pseudo_count = pseudo_count

    @all_or_nothing
    def fit(self, X: Any, indicator: BoolArray, sample_weight: FloatArray | None = None) -> Self:
        """Weights from the sums of words over the documents of each label.

        Parameters
        ----------
        X : CSR matrix (n_docs, n_features)
        indicator : boolean array (n_docs, n_columns)
        sample_weight : array (n_docs,), optional
        """
        counts = np.ones(len(indicator)) if sample_weight is None else sample_weight
        sums = np.ascontiguousarray(np.asarray(X.T @ (indicator * counts[:, None])).T)
        if self.complement:
            score = complement_scores(sums, self.pseudo_count)
            self.coef_ = score - score.mean(axis=0)
        else:
            others = np.asarray(X.T @ counts) - sums
            np.maximum(others, 0.0, out=others)  # a sum may be rounded to less than its part
            self.coef_ = log_shares(sums, self.pseudo_count)
            self.coef_ -= log_shares(others, self.pseudo_count)
        self.intercept_ = np.zeros(len(self.coef_))
        return self
