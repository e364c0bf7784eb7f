"""The words that matter most, and a model of these alone: rank by the posterior, keep the first k, fit again.

Reference: the procedure is that of the Gibbs paper (Laplace prior, probit; 80 of 800 words), where words are ranked by
the size of their posterior means.
"""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from textbayes.core.errors import InputError
from textbayes.core.types import BoolArray, Matrix
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
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 6))
    >>> y = (X[:, 2] - X[:, 4] + 0.5 * rng.normal(size=200) > 0.0).astype(int)
    >>> first = BayesLinearClassifier("probit", prior="gaussian", inference="newton").fit(X, y)
    >>> np.flatnonzero(refit_top_words(first, X, y, k=2).coef_[0]).tolist()
    [2, 4]
    """
    fresh: BayesLinearClassifier = clone(model)
    return fresh.fit(X, y, sample_weight=sample_weight, words=top_words(model, k, by, size))
