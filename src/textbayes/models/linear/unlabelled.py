"""Linear models of words that learn from texts without labels too.

What unlabelled texts say of words does not depend on labels: which occur together. :class:`MixtureWeights` is naive
Bayes whose classes are those of all texts, found by expectation–maximisation; :class:`LatentRegression` is a regression
on the directions in which unlabelled texts differ most. Both are linear in the words of a text.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds

from textbayes.core.errors import InputError
from textbayes.core.fitting import all_or_nothing
from textbayes.core.types import BoolArray, FloatArray
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.models.linear.word_sums import LinearScores

_LEAST_DIRECTIONS = 2


class UnlabelledTexts:
    """Weights of the words of texts without labels, and the directions in which these differ most.

    Parameters
    ----------
    weights : CSR matrix (n_texts, n_features)
    n_directions : int
        At most.
    """

    def __init__(self, weights: Any, n_directions: int = 100) -> None:
        self.weights = sparse.csr_matrix(weights)
        self.n_directions = n_directions

    def __repr__(self) -> str:
        return f"<UnlabelledTexts: {self.weights.shape[0]} texts, {self.weights.shape[1]} words>"

    def __deepcopy__(self, memo: Any) -> UnlabelledTexts:
        return self  # it never changes, and each fit is by a copy of an estimator

    @cached_property
    def by_word(self) -> Any:
        """The same weights, a row for each word."""
        return self.weights.T.tocsr()

    @cached_property
    def directions(self) -> FloatArray:
        """The first right singular vectors of the weights, (n_features, n_directions)."""
        n = min(self.n_directions, min(self.weights.shape) - 1)
        if n < _LEAST_DIRECTIONS:
            raise InputError(f"{self.weights.shape[0]:,} unlabelled texts are too few to learn directions from")
        start = np.random.default_rng(0).normal(size=min(self.weights.shape))  # the same in every run
        return np.ascontiguousarray(svds(self.weights, k=n, v0=start)[2].T)


class MixtureWeights(LinearScores):
    """Naive Bayes of exclusive classes that unlabelled texts belong to as well, by expectation–maximisation.

    A text of class k is a sample of words with probabilities θ_k, which are drawn to those of all texts, m; an
    unlabelled text is of a class that is not known. With x_d the weights of the words of text d, times κ their
    occurrences, EM finds the highest

        Σ_labelled v_d (ln π_k + κ x_d·ln θ_k) + λ Σ_unlabelled ln Σ_k π_k exp(κ x_d·ln θ_k)
            + a V Σ_k m·ln θ_k + Σ_k ln π_k,

    and no step lowers it. Since texts are much less certain of their class than independent words would be, κ is small.
    Classes that no labelled text has get no unlabelled one either.

    Parameters
    ----------
    unlabelled : UnlabelledTexts
    share : float
        λ, what an unlabelled text counts beside a labelled one.
    concentration : float
        κ, occurrences per unit of a word's weight.
    pseudo_count : float
        a, occurrences per word that each class has before any text.
    spread : float or None
        Largest standard deviation of the log-odds of unlabelled texts: those of long texts are far too sure. None for
        any.
    max_iter : int
    tol : float
        The steps end when the memberships of a text change by less than this on average.

    Attributes
    ----------
    objectives_ : list of the objective before each step, up to a constant
    word_shares_, class_shares_ : logarithms of θ, (n_classes, n_features), and of π

    References
    ----------
    Nigam, McCallum, Thrun & Mitchell (2000), Text classification from labeled and unlabeled documents using EM, Machine
    Learning 39, 103–134.
    """

    def __init__(
        self,
        unlabelled: UnlabelledTexts,
        share: float = 0.3,
        concentration: float = 3.0,
        pseudo_count: float = 0.1,
        spread: float | None = None,
        max_iter: int = 12,
        tol: float = 1e-3,
    ) -> None:
        self.unlabelled = unlabelled
        self.share = share
        self.concentration = concentration
        self.pseudo_count = pseudo_count
        self.spread = spread
        self.max_iter = max_iter
        self.tol = tol

    @all_or_nothing
    def fit(self, X: Any, indicator: BoolArray, sample_weight: FloatArray | None = None) -> Self:
        """Find the classes of labelled texts X (n_docs, n_features) and of the unlabelled ones.

        Parameters
        ----------
        X : CSR matrix (n_docs, n_features)
        indicator : boolean array (n_docs, n_columns)
            Of exclusive classes; one column is that of the second of two.
        sample_weight : array (n_docs,), optional
        """
        counts = np.ones(len(indicator)) if sample_weight is None else sample_weight
        of_class = (np.column_stack([~indicator, indicator]) if indicator.shape[1] == 1 else indicator).astype(float)
        of_class *= counts[:, None]
        words, texts = np.asarray(X.T @ of_class).T, of_class.sum(axis=0)
        U, total = self.unlabelled.weights, np.asarray(X.T @ counts).ravel()
        total = total + self.share * np.asarray(U.sum(axis=0)).ravel() + 1e-12
        prior = self.pseudo_count * len(total) * total / total.sum()
        known, columns = texts > 0.0, self.unlabelled.by_word
        shares, sizes = _word_shares(self.concentration * words, prior), _class_shares(texts)
        before, self.objectives_ = None, []
        for _ in range(self.max_iter):
            joint = self.concentration * _times(U, shares.T) + sizes
            joint[:, ~known] = -np.inf
            highest = joint.max(axis=1, keepdims=True)
            members = np.exp(joint - highest)
            total_of = members.sum(axis=1, keepdims=True)
            members /= total_of
            evidence = highest + np.log(total_of)
            labelled = texts @ sizes + self.concentration * float((words * shares).sum())
            self.objectives_.append(
                float(labelled + self.share * evidence.sum() + (shares @ prior).sum() + sizes.sum())
            )
            if before is not None and np.abs(members - before).sum(axis=1).mean() < self.tol:
                break
            before = members
            found = words + self.share * _times(columns, members).T
            shares = _word_shares(self.concentration * found, prior)
            sizes = _class_shares(texts + self.share * members.sum(axis=0))
        self.word_shares_, self.class_shares_ = shares, sizes
        if indicator.shape[1] == 1:
            self.coef_ = self.concentration * (shares[1:] - shares[:1])
            self.intercept_ = sizes[1:] - sizes[:1]
        else:
            self.coef_ = self.concentration * (shares - shares.mean(axis=0))
            self.intercept_ = sizes - sizes.mean()
        if self.spread is not None:
            deviation = float(np.asarray(U @ self.coef_.T).std(axis=0).max())
            factor = min(1.0, self.spread / max(deviation, 1e-300))
            self.coef_, self.intercept_ = factor * self.coef_, factor * self.intercept_
        return self


class LatentRegression(LinearScores):
    """Logistic regression on the directions in which unlabelled texts differ most (latent semantic analysis).

    Words that occur in the same texts get weights together, also those that no labelled text has.

    Parameters
    ----------
    unlabelled : UnlabelledTexts
    scale : float
        Standard deviation of the prior of the weights of directions.

    References
    ----------
    Deerwester, Dumais, Furnas, Landauer & Harshman (1990), Indexing by latent semantic analysis, JASIS 41, 391–407.
    """

    def __init__(self, unlabelled: UnlabelledTexts, scale: float = 7.0) -> None:
        self.unlabelled = unlabelled
        self.scale = scale

    @all_or_nothing
    def fit(self, X: Any, indicator: BoolArray, sample_weight: FloatArray | None = None) -> Self:
        """Fit the regression to labelled texts X (n_docs, n_features) and spread its weights over the words.

        Parameters
        ----------
        X : CSR matrix (n_docs, n_features)
        indicator : boolean array (n_docs, n_columns)
        sample_weight : array (n_docs,), optional
        """
        directions = self.unlabelled.directions
        one = BayesLinearClassifier(prior="gaussian", scale=self.scale, inference="dual", tol=1e-2)
        one.fit(sparse.csr_matrix(X @ directions), sparse.csr_matrix(indicator), sample_weight=sample_weight)
        self.coef_, self.intercept_ = one.coef_ @ directions.T, one.intercept_
        return self


def _times(A: Any, B: FloatArray) -> FloatArray:
    """``A @ B`` of a sparse and a dense matrix; two columns one by one, which takes half as long as both together."""
    if B.shape[1] > 2:
        return np.asarray(A @ B)
    return np.stack([A @ np.ascontiguousarray(column) for column in B.T], axis=1)


def _word_shares(occurrences: FloatArray, prior: FloatArray) -> FloatArray:
    """Logarithms of the probabilities of words, given occurrences (n_classes, n_features) and those before any text."""
    total = occurrences + prior
    return np.asarray(np.log(total) - np.log(total.sum(axis=1, keepdims=True)))


def _class_shares(texts: FloatArray) -> FloatArray:
    """Logarithms of the shares of classes, each of which has one text more."""
    return np.asarray(np.log(texts + 1.0) - np.log((texts + 1.0).sum()))
