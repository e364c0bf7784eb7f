"""How far to follow a table of word priors, label by label: chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from textbayes.core.cross_validation import Folds, out_of_fold
from textbayes.core.errors import InputError
from textbayes.core.folds import label_seen
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray, Matrix
from textbayes.core.validation import check_indicator, check_same_length
from textbayes.knowledge.informative_prior import DEFAULT_STRENGTH, Strength
from textbayes.knowledge.match import MatchedPriors
from textbayes.links import make_link
from textbayes.models.linear.classifier import BayesLinearClassifier

GRID = (0.0, 0.25, 0.5, 1.0)


class WeightChoice(NamedTuple):
    """The weight of the knowledge for each label, and the figures behind it, one row for each weight of the grid.

    ``loss`` is the mean held-out log-loss; ``change`` what it is lower (−) or higher (+) than at weight 0, as a share
    of it, and ``error`` the standard error of that, infinite where no held-out document tests the advice.
    """

    weight: FloatArray
    grid: FloatArray
    loss: FloatArray
    change: FloatArray
    error: FloatArray


def choose_weight(
    classifier: BayesLinearClassifier,
    X: Matrix | ArrayLike,
    Y: Matrix | ArrayLike,
    matched: MatchedPriors,
    *,
    grid: Sequence[float] = GRID,
    n_folds: int = 5,
    caution: float = 1.0,
    random_state: int = 0,
    strength: Strength = DEFAULT_STRENGTH,
    sample_weight: FloatArray | None = None,
    groups: Iterable[Hashable] | None = None,
    copies: IntArray | None = None,
) -> WeightChoice:
    """Weigh the knowledge of each label by cross-validation.

    Parameters
    ----------
    classifier : BayesLinearClassifier
        The model without knowledge.
    X, Y : documents (n_docs, n_features) and indicator (n_docs, n_labels)
    matched : MatchedPriors
        From :func:`textbayes.knowledge.match_priors`.
    grid : weights to try; 0 is always among them
    n_folds, random_state : of the cross-validation
    caution : float
        Standard errors by which the loss must be lower than without the knowledge.
    strength : Strength
    sample_weight : array (n_docs,) or None
        How much each document counts in training; held-out documents count alike.
    groups : one value per document, optional
        Documents of one group share a fold.
    copies : array (n_docs,), optional
        The place of the first document that each is a copy of; see ``textbayes.core.folds.stratified_folds``.

    Notes
    -----
    Every weight of the grid is tried in a k-fold cross-validation: as many fits as the grid has weights, times
    ``n_folds``. The change of the log-loss against weight 0 is measured document by document. A label takes, of the
    weights whose loss is lower by ``caution`` standard errors at least, that with the lowest loss, and weight 0 where
    there is none: bad advice is turned down, and so is advice that does not prove itself. A label that no held-out
    document tests (none has its words, or too few documents have the label) takes the weight that the tested labels
    together would: their mean change, as a share of the loss, is judged in the same way.

    A caution of 1 and the separate judgement of labels were chosen on training parts, with right, wrong and mixed
    descriptions (``benchmarks/tune_knowledge.py``). Less caution gains more from right advice and loses more to wrong
    advice. One weight for all labels often gains a little more where all advice is right, and loses it where some of it
    is wrong.
    """
    weights = _checked_grid(grid)
    Y = check_indicator(Y)
    X = sparse.csr_matrix(X)
    check_same_length(X, "X", Y, "Y")
    if (X.shape[1], Y.shape[1]) != (matched.n_features, matched.n_labels):
        raise InputError(
            f"X and Y have {X.shape[1]} words and {Y.shape[1]} labels; the table was matched to {matched.n_features} "
            f"and {matched.n_labels}"
        )
    folds = Folds.stratified(Y, n_folds, random_state, groups, copies)
    losses = _held_out_losses(classifier, X, Y, matched, weights, folds, strength, sample_weight)
    loss, change, error = _changes(losses)
    advised = np.zeros(Y.shape[1], dtype=np.bool_)
    advised[matched.label] = True
    tested = advised & np.isfinite(error).all(axis=0)
    best = best_weight(change, error, caution)
    if tested.any():
        together = change[:, tested].mean(axis=1), np.sqrt((error[:, tested] ** 2).sum(axis=1)) / tested.sum()
        best[~tested] = best_weight(*together, caution)
    best[~advised] = 0
    return WeightChoice(weights[best], weights, loss, change, error)


def best_weight(change: FloatArray, error: FloatArray, caution: float) -> AnyArray:
    """Place in the grid of the lowest loss among weights that are better by enough; 0 is always one of them.

    Parameters
    ----------
    change, error : arrays (n_weights, …)
        The change of the held-out loss against weight 0, and its standard error.
    caution : float
        Standard errors that a gain must exceed.
    """
    tested = np.isfinite(error)
    accepted = tested & (change < -caution * np.where(tested, error, 0.0))
    accepted[0] = True
    return np.asarray(np.where(accepted, change, np.inf).argmin(axis=0))


def _checked_grid(grid: Sequence[float]) -> FloatArray:
    weights = np.unique(np.append(np.asarray(grid, dtype=np.float64), 0.0))
    if not ((weights >= 0.0) & (weights <= 1.0)).all():
        raise InputError(f"grid={grid!r} is not usable; weights lie between 0 and 1")
    return weights


def _held_out_losses(
    classifier: BayesLinearClassifier,
    X: Any,
    Y: BoolArray,
    matched: MatchedPriors,
    weights: FloatArray,
    folds: Folds,
    strength: Strength,
    sample_weight: FloatArray | None,
) -> FloatArray:
    """−log p(y) of each document by a model that did not see it, (n_weights, n_docs, n_labels).

    NaN where the other folds hold no document of a label, or none without it: the model says nothing there.
    """
    link = make_link(classifier.link)

    def loss(weight: float, k: int) -> FloatArray:
        train, test = folds.split(k)
        own = None if sample_weight is None else sample_weight[train]
        model = classifier.with_prior(matched, X[train], weight, strength)
        model.fit(X[train], sparse.csr_matrix(Y[train]), own)
        return -link.log_prob(model.linear_predictor(X[test]), np.where(Y[test], 1.0, -1.0))

    losses = [found for _, found in out_of_fold(loss, folds, weights)]
    return np.where(label_seen(Y, folds.number), losses, np.nan)


def _changes(losses: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean loss, its change relative to that at weight 0, and the standard error, (n_weights, n_labels).

    Without evidence (no document of a label that was seen in training, or none whose loss changes) the error is
    infinite.
    """
    seen = ~np.isnan(losses[0])
    n_seen = seen.sum(axis=0)
    loss = np.where(seen, losses, 0.0).sum(axis=1) / np.maximum(n_seen, 1)
    difference = np.where(seen, losses - losses[0], 0.0)
    mean = difference.sum(axis=1) / np.maximum(n_seen, 1)
    spread = (np.where(seen, difference - mean[:, None, :], 0.0) ** 2).sum(axis=1) / np.maximum(n_seen - 1, 1)
    unit = np.maximum(loss[0], np.finfo(float).tiny)
    error = np.sqrt(spread / np.maximum(n_seen, 1)) / unit
    error[1:, ~difference.any(axis=(0, 1))] = np.inf
    return loss, mean / unit, error
