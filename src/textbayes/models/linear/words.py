"""The words that matter most, and a model of these alone: rank by the posterior, keep the first k, fit again.

Reference: the procedure is that of the Gibbs paper (Laplace prior, probit; 80 of 800 words), where words are ranked by
the size of their posterior means.

``ratio_scales`` are scales of a prior that follow the words: larger where a word is spread unevenly over a label and
the others.
"""

from __future__ import annotations

import copy
import numbers
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from textbayes.core.errors import InputError
from textbayes.core.types import BoolArray, FloatArray, Matrix
from textbayes.core.validation import check_choice

if TYPE_CHECKING:
    from textbayes.models.linear.classifier import BayesLinearClassifier


RANKINGS = ("mean", "sign", "inclusion")  # as ``Draws.ranking`` has them, whose module loads numba


def check_refit(k: Any, by: Any) -> None:
    """Refuse a number of words or a ranking that cannot be used."""
    if not isinstance(k, numbers.Integral) or isinstance(k, bool) or k < 1:
        raise InputError(f"k={k!r} is not usable; pass how many words a label keeps, a whole number from 1 on")
    check_choice("by", by, RANKINGS)


def top_words(model: BayesLinearClassifier, k: int, by: str = "mean", size: float = 0.1) -> BoolArray:
    """Mask of the first k words of each label, (n_columns, n_features), among those that the label may use.

    Parameters
    ----------
    model : fitted BayesLinearClassifier
    k : int
        Words a label keeps at most.
    by : {"mean", "sign", "inclusion"}
        The size of the posterior mean; how sure the sign is; how sure it is that the weight exceeds ``size``. The
        last two need draws (``inference="gibbs"``). Of a model that was not sampled, the mean is the mode, and words
        whose weight is 0 are never among the first.
    size : float
        For ``by="inclusion"``: a smaller weight is as good as none.
    """
    check_is_fitted(model)
    check_refit(k, by)
    selected = np.zeros(model.coef_.shape, dtype=np.bool_)
    if model.draws_ is None:
        if by != "mean":
            raise InputError(f"by={by!r} ranks words by their draws, and this model has none; fit it with 'gibbs'")
        for row, weights in zip(selected, np.abs(model.coef_), strict=True):
            order = np.argsort(-weights, kind="stable")
            row[order[weights[order] > 0.0][:k]] = True
        return selected
    for label, (row, one) in enumerate(zip(selected, model.draws_.labels, strict=True)):
        order = model.draws_.ranking(label, by, size)
        row[order[np.isin(order, one.columns)][:k]] = True
    return selected


def keep_words(model: BayesLinearClassifier, words: BoolArray) -> BayesLinearClassifier:
    """The model with the weights of some words of each label as they are, and 0 for the others: no second fit.

    The rule of the Gibbs paper, whose classifier has the posterior means of the 80 first of 800 words; of a sampled
    model each draw is cut to these words.

    Parameters
    ----------
    model : fitted BayesLinearClassifier
    words : boolean array (n_columns, n_features)
        As :func:`top_words` has them.

    Examples
    --------
    >>> from textbayes import BayesLinearClassifier
    >>> model = BayesLinearClassifier(prior="gaussian").fit([[1.0, 0.2], [0.0, 0.1], [0.9, 0.0]], [1, 0, 1])
    >>> few = keep_words(model, top_words(model, 1))
    >>> few.coef_[0].tolist() == [model.coef_[0, 0], 0.0]
    True
    """
    after = copy.copy(model)
    after.coef_ = np.where(words, model.coef_, 0.0)
    if model.standard_errors_ is not None:
        after.standard_errors_ = np.where(words, model.standard_errors_, np.nan)
    after.mean_shifts_ = after.approximation_ = None
    if model.draws_ is not None:
        after.draws_ = model.draws_.cut_to(words)
    return after


def refit_top_words(
    model: BayesLinearClassifier,
    X: Matrix | ArrayLike,
    y: Any,
    k: int,
    by: str = "mean",
    size: float = 0.1,
    sample_weight: ArrayLike | None = None,
) -> BayesLinearClassifier:
    """A new model of the same settings that has the first k words of each label alone; see :func:`top_words`.

    Parameters
    ----------
    model : fitted BayesLinearClassifier
    X : array or sparse matrix (n_docs, n_features)
    y : labels, as for ``BayesLinearClassifier.fit``
    k, by, size
        As for :func:`top_words`.
    sample_weight : array (n_docs,), optional
        How much each document counts.

    Examples
    --------
    >>> from textbayes import BayesLinearClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 6))
    >>> y = (X[:, 2] - X[:, 4] + 0.5 * rng.normal(size=200) > 0.0).astype(int)
    >>> first = BayesLinearClassifier("probit", prior="gaussian", inference="newton").fit(X, y)
    >>> np.flatnonzero(refit_top_words(first, X, y, k=2).coef_[0]).tolist()
    [2, 4]
    """
    fresh: BayesLinearClassifier = clone(model)
    return fresh.fit(X, y, sample_weight=sample_weight, words=top_words(model, k, by, size))


_PSEUDO_TEXTS = 2.0  # at the base rate of the label, for every word: without them rare words have wild ratios
_BLOCK = 8  # labels at a time: there are as many numbers of each as words
_LEAST = 0.25  # of a word that is spread evenly, so that none is shut out


def ratio_scales(X: Any, indicator: BoolArray, sample_weight: FloatArray | None = None) -> FloatArray:
    """Scale of each word in each label, (n_labels, n_features), by the log odds ratio of the label given the word.

    r_jk is the log-odds of label k among the documents that have word j, less that among all; the scale is
    ¼ + ¾ |r_jk|, times a number for each label that makes x'Vx one on average, for documents of length one. Naive Bayes
    says which words matter, and the regression how much: the idea of NB-SVM as a prior.

    Parameters
    ----------
    X : sparse matrix (n_docs, n_features)
    indicator : boolean array (n_docs, n_labels)
    sample_weight : array (n_docs,), optional

    References
    ----------
    Wang & Manning (2012), Baselines and bigrams: simple, good sentiment and topic classification, ACL.
    """
    weight = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    n_docs = weight.sum()
    present, squares = X.copy(), X.copy()
    present.data, squares.data = (X.data != 0.0).astype(np.float64), X.data**2
    with_word = np.asarray(present.T @ weight)
    mean_square = np.asarray(squares.T @ weight) / max(n_docs, 1e-300)
    out = np.empty((indicator.shape[1], X.shape[1]))
    for start in range(0, len(out), _BLOCK):
        labels = slice(start, start + _BLOCK)
        positive = indicator[:, labels] * weight[:, None]
        rate = ((positive.sum(axis=0) + 0.5) / (n_docs + 1.0))[:, None]
        with_both = np.asarray(present.T @ positive).T
        yes = with_both + _PSEUDO_TEXTS * rate
        no = with_word - with_both + _PSEUDO_TEXTS * (1.0 - rate)
        scale = _LEAST + (1.0 - _LEAST) * np.abs(np.log(yes / no) - np.log(rate / (1.0 - rate)))
        length = scale**2 @ mean_square
        out[labels] = scale / np.sqrt(np.where(length > 0.0, length, 1.0))[:, None]
    return out
