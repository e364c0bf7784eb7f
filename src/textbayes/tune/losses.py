"""Held-out losses with their standard errors, per label and of all labels together, and the choice among points."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from textbayes.core.types import FloatArray, IntArray
from textbayes.links.base import BaseLink

Scoring = Literal["log_loss", "f1"]
Rule = Literal["best", "one_se"]
Errors = Literal["documents", "folds"]


class Losses(NamedTuple):
    """Mean loss and standard error of each label (n_labels,), and of all labels together."""

    loss: FloatArray
    error: FloatArray
    common_loss: float
    common_error: float


def log_losses(eta: FloatArray, y: FloatArray, link: BaseLink, weight: FloatArray) -> Losses:
    """Log-loss of each label, the mean of −log p(y | eta) over documents; together, the sum over labels of it.

    Documents are drawn independently, so that the error of a mean is √(Σ_i w_i²(l_i − l̄)²)/Σ_i w_i; labels of one
    document are not, so that the error of the sum is that of the documents' sums.

    Parameters
    ----------
    eta : array (n_docs, n_labels)
        Linear predictors.
    y : array (n_docs, n_labels)
        Outcomes, −1 or +1.
    link : BaseLink
    weight : array (n_docs,)
        How much each document counts.
    """
    per_document = -link.log_prob(eta, y)
    loss, error = _mean_and_error(per_document, weight)
    together, its_error = _mean_and_error(per_document.sum(axis=1, keepdims=True), weight)
    return Losses(loss, error, float(together[0]), float(its_error[0]))


def f1_losses(eta: FloatArray, y: FloatArray, link: BaseLink, weight: FloatArray) -> Losses:
    """F1 loss of each label, 1 − F1 of saying yes where yes is likelier than no; together, 1 − macro F1.

    With F = 2A/B, A = TP and B = 2TP + FP + FN, document i moves F by (2a_i − F b_i)/B to first order, and the error is
    the root of the sum of squares of these (the delta method). A label without positives and without a yes has F = 0,
    as in scikit-learn.

    Parameters
    ----------
    eta, y, link, weight
        As for :func:`log_losses`.
    """
    yes, positive = link.log_odds(eta) > 0.0, y > 0.0
    right = weight[:, None] * (yes & positive)
    both = weight[:, None] * (yes.astype(np.float64) + positive)
    below = both.sum(axis=0)
    f1 = np.divide(2.0 * right.sum(axis=0), below, out=np.zeros(len(below)), where=below > 0.0)
    moves = np.divide(2.0 * right - f1 * both, below, out=np.zeros_like(both), where=below > 0.0)
    error, common_error = np.sqrt((moves**2).sum(axis=0)), np.sqrt((moves.mean(axis=1) ** 2).sum())
    return Losses(1.0 - f1, error, float(1.0 - f1.mean()), float(common_error))


def held_out_losses(
    eta: FloatArray, y: FloatArray, link: BaseLink, weight: FloatArray, fold: IntArray, scoring: Scoring, errors: Errors
) -> Losses:
    """Losses of documents in some fold (≥ 0), with errors over documents or over folds.

    Over folds, the error is the standard deviation of the folds' own losses divided by the root of their number
    (Breiman, Friedman, Olshen & Stone 1984, section 3.4.3).

    Parameters
    ----------
    eta, y, link, weight
        As for :func:`log_losses`.
    fold : array (n_docs,)
        The fold that tests each document, −1 for none.
    scoring : {"log_loss", "f1"}
    errors : {"documents", "folds"}
    """
    measure = log_losses if scoring == "log_loss" else f1_losses
    seen = fold >= 0
    pooled = measure(eta[seen], y[seen], link, weight[seen])
    if errors == "documents":
        return pooled
    parts = [measure(eta[fold == f], y[fold == f], link, weight[fold == f]) for f in np.unique(fold[seen])]
    root = np.sqrt(len(parts))
    of_labels = np.std([part.loss for part in parts], axis=0, ddof=1) / root
    return Losses(
        pooled.loss, of_labels, pooled.common_loss, float(np.std([part.common_loss for part in parts], ddof=1) / root)
    )


def choose(loss: FloatArray, error: FloatArray, rule: Rule) -> IntArray:
    """Choose the point of each column (n_points, n_columns): of lowest loss, or the first within one standard error.

    Points run from the narrowest prior to the widest, so the one-standard-error rule takes the simplest model that is
    not clearly worse than the best (Breiman et al. 1984). Of equal losses the first is taken.

    Parameters
    ----------
    loss, error : arrays (n_points, n_columns)
        Held-out losses, and their standard errors.
    rule : {"best", "one_se"}
    """
    best = loss.argmin(axis=0)
    if rule == "best":
        return best
    columns = np.arange(loss.shape[1])
    return (loss <= loss[best, columns] + error[best, columns]).argmax(axis=0)


def _mean_and_error(values: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    total = max(float(weight.sum()), float(np.finfo(float).tiny))
    mean = weight @ values / total
    return mean, np.sqrt((weight**2) @ (values - mean) ** 2) / total
