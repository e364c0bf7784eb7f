"""Members of the automatic pool: linear scores of every label from one or several views of the texts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone

from textbayes.core.types import BoolArray, FloatArray
from textbayes.knowledge import MatchedPriors
from textbayes.knowledge.strength import DEFAULT_STRENGTH
from textbayes.models.counts.families.complement import complement_scores
from textbayes.models.linear.classifier import BayesLinearClassifier


class Weights(NamedTuple):
    """A fitted member: weights (n_columns, n_features) of the words of its views, and intercepts (n_columns,)."""

    coef: FloatArray
    intercept: FloatArray

    def scores(self, X: Any) -> FloatArray:
        """Scores of documents, (n_docs, n_columns)."""
        return np.asarray(X @ self.coef.T) + self.intercept


@dataclass(frozen=True)
class Regression:
    """A regression for each label.

    Parameters
    ----------
    name : str
    views : tuple of int
        The views that it reads, side by side.
    estimator : BayesLinearClassifier
    fold_tol : float
        Tolerance of fits that score held-out texts and are forgotten.
    """

    name: str
    views: tuple[int, ...]
    estimator: BayesLinearClassifier
    fold_tol: float

    def fit(self, X: Any, indicator: BoolArray, weight: FloatArray | None, n_jobs: int | None) -> Weights:
        """Weights that fit some documents best.

        Parameters
        ----------
        X : CSR matrix (n_docs, n_features)
        indicator : boolean array (n_docs, n_columns)
        weight : array (n_docs,) or None
        n_jobs : int or None
        """
        one = clone(self.estimator).set_params(n_jobs=n_jobs)
        one.fit(X, sparse.csr_matrix(indicator), sample_weight=weight)
        return Weights(one.coef_, one.intercept_)

    def scaled(self, scale: float) -> Regression:
        """The same with another scale of its prior."""
        return replace(self, estimator=clone(self.estimator).set_params(scale=scale))

    def for_folds(self) -> Regression:
        """The same for fits that score held-out texts."""
        return replace(self, estimator=clone(self.estimator).set_params(tol=self.fold_tol))


@dataclass(frozen=True)
class _WordSums:
    """A count model of weighted words, fitted by sums over the documents of each label.

    Parameters
    ----------
    name : str
    views : tuple of int
    pseudo_count : float
        Added to the sum of every word.
    """

    name: str
    views: tuple[int, ...]
    pseudo_count: float = 0.1

    def for_folds(self) -> Self:
        """As :meth:`Regression.for_folds`."""
        return self


class Complement(_WordSums):
    """Complement naive Bayes: a class is scored by how badly the others explain the words.

    References
    ----------
    Rennie, Shih, Teevan & Karger (2003), Tackling the poor assumptions of naive Bayes text classifiers, ICML.
    """

    def fit(self, X: Any, indicator: BoolArray, weight: FloatArray | None, n_jobs: int | None) -> Weights:
        """As :meth:`Regression.fit`."""
        Y = indicator.astype(np.float64) if weight is None else indicator * weight[:, None]
        score = complement_scores(np.asarray(X.T @ Y).T, self.pseudo_count)
        return Weights(score - score.mean(axis=0), np.zeros(len(score)))


class NaiveBayes(_WordSums):
    """Multinomial naive Bayes: each label against all texts without it."""

    def fit(self, X: Any, indicator: BoolArray, weight: FloatArray | None, n_jobs: int | None) -> Weights:
        """As :meth:`Regression.fit`."""
        counts = np.ones(len(indicator)) if weight is None else weight
        ratio = np.ascontiguousarray(np.asarray(X.T @ (indicator * counts[:, None])).T)
        others = np.asarray(X.T @ counts) - ratio
        np.maximum(others, 0.0, out=others)  # a sum may be rounded to less than its part
        for sums in (ratio, others):  # in place: labels × words may be many
            sums += self.pseudo_count
            total = sums.sum(axis=1, keepdims=True)
            np.log(sums, out=sums)
            sums -= np.log(total)
        ratio -= others
        return Weights(ratio, np.zeros(len(ratio)))


@dataclass(frozen=True)
class Told:
    """What is known of words beforehand: a score that learns nothing but how far to follow it, in the pool.

    Parameters
    ----------
    name : str
    views : tuple of int
        One view.
    matched : MatchedPriors
        Words of the view and the labels that they speak for.
    """

    name: str
    views: tuple[int, ...]
    matched: MatchedPriors

    def fit(self, X: Any, indicator: BoolArray, weight: FloatArray | None, n_jobs: int | None) -> Weights:
        """As :meth:`Regression.fit`; the labels of ``indicator`` are not looked at."""
        X = X if weight is None else X[weight > 0.0]
        coef = np.zeros((self.matched.n_labels, X.shape[1]))
        coef[self.matched.label, self.matched.column] = DEFAULT_STRENGTH.means(self.matched, X)
        return Weights(coef, np.zeros(len(coef)))

    def for_folds(self) -> Told:
        """As :meth:`Regression.for_folds`."""
        return self


Member = Regression | Complement | NaiveBayes | Told
