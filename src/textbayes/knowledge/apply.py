"""A table of word priors as the prior of a model, and how far to follow it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import clone

from textbayes.core.cross_validation import Folds, out_of_fold
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.folds import label_seen
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray, Matrix
from textbayes.core.validation import check_indicator, check_same_length
from textbayes.inference import make_inference
from textbayes.knowledge.match import MatchedPriors
from textbayes.knowledge.strength import DEFAULT_STRENGTH, Strength
from textbayes.links import BaseLink, make_link
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.priors import BasePrior, make_prior
from textbayes.priors.by_word import ByWord

GRID = (0.0, 0.25, 0.5, 1.0)


def table_prior(
    matched: MatchedPriors,
    default: BasePrior,
    X: Any = None,
    weight: ArrayLike = 1.0,
    *,
    link: str | BaseLink = "logit",
    strength: Strength = DEFAULT_STRENGTH,
) -> BasePrior:
    """The prior of a model that knows what a table says.

    Parameters
    ----------
    matched : MatchedPriors
        The table in terms of the model, from :func:`match_priors`.
    default : BasePrior
        That of the model without knowledge, which holds for every other word and wherever a row is blank.
    X : array or sparse matrix (n_docs, n_features), optional
        The training documents; needed for rows that say "for" or "against".
    weight : float or array (n_labels,)
        How far to follow the table, from 0 to 1: mean = weight·mean + (1 − weight)·default and likewise the logarithm
        of the scale, with family and sign as in the table. At 0 a label has the default prior, exactly.
    link, strength : str or BaseLink, Strength
        The size of "for" and "against".

    Examples
    --------
    >>> from textbayes.knowledge import WordPrior, match_priors
    >>> from textbayes.priors.gaussian import Gaussian
    >>> table = [WordPrior("wheat", "grain", mean=2.0, scale=0.25), WordPrior("rye", "grain", mean=1.0)]
    >>> prior = table_prior(match_priors(table, ["bank", "wheat"], ["grain"]), Gaussian(scale=1.0), weight=0.5)
    >>> prior.mean.tolist(), prior.scale.tolist()
    ([[0.0, 1.0]], [[1.0, 0.5]])
    """
    shape = (matched.n_labels, matched.n_features)
    weights = _checked_weight(weight, matched.n_labels)
    followed = np.flatnonzero(weights[matched.label] > 0.0)
    if not len(followed):
        return default
    means = strength.means(matched, X, link)
    values = {name: _in_full(value, name, shape) for name, value in vars(default).items()}
    at = matched.label[followed], matched.column[followed]
    share, means, sign = weights[at[0]], means[followed], matched.sign[followed]
    default_mean, default_scale = values["mean"][at], values["scale"][at]
    means = np.where(np.isnan(means), default_mean, means)
    values["sign"][at] = sign = np.where(np.isnan(sign), values["sign"][at], sign)
    mixed = np.where(share == 1.0, means, share * means + (1.0 - share) * default_mean)
    values["mean"][at] = np.where(mixed * sign < 0.0, 0.0, mixed)  # a default mean may lie where a sign forbids it
    scales = strength.scales(matched, means, default_scale, followed)
    values["scale"][at] = _between(default_scale, scales, share)
    families = matched.family[followed]
    if ((families == "") | (families == default.name)).all():
        return type(default)(**values)
    return _by_word(default, values, at, families)


def with_prior(
    classifier: BayesLinearClassifier,
    matched: MatchedPriors,
    X: Any,
    weight: ArrayLike = 1.0,
    strength: Strength = DEFAULT_STRENGTH,
) -> BayesLinearClassifier:
    """Copy a classifier, not fitted, with the prior that a table gives; at weight 0 a plain copy.

    Where its inference cannot work with the prior that results (a sign, or another family among the words), the copy
    has ``coordinate``, which can.

    Parameters
    ----------
    classifier : BayesLinearClassifier
    matched : MatchedPriors
    X : array or sparse matrix (n_docs, n_features)
        The training documents.
    weight : float or array (n_labels,)
        How far to follow the table, from 0 to 1.
    strength : Strength
        The size of "for" and "against".
    """
    default = make_prior(classifier.prior, classifier.scale, classifier.mean, classifier.sign)
    link = make_link(classifier.link)
    prior = table_prior(matched, default, X, weight, link=link, strength=strength)
    copy = clone(classifier)
    if prior is default:
        return copy
    copy.set_params(prior=prior, scale=1.0, mean=0.0, sign=0)
    try:
        make_inference(copy.inference, copy.tol, copy.max_iter, 1).check(link, prior)
    except NotSupportedError:
        copy.set_params(inference="coordinate")
    return copy


def _checked_weight(weight: Any, n_labels: int) -> FloatArray:
    try:
        weights = np.broadcast_to(np.asarray(weight, dtype=np.float64), (n_labels,))
    except ValueError:
        raise InputError(
            f"weight has shape {np.shape(weight)}; pass a number or one for each of {n_labels} labels"
        ) from None
    if not ((weights >= 0.0) & (weights <= 1.0)).all():
        raise InputError(f"weight={weight!r} is not usable; it lies between 0 (the default prior) and 1 (the table)")
    return weights


def _in_full(value: Any, name: str, shape: tuple[int, int]) -> Any:
    try:
        return np.array(np.broadcast_to(value, shape))
    except ValueError:
        raise InputError(f"the default prior's {name} has shape {value.shape}; the model has {shape}") from None


def _between(default: FloatArray, scale: FloatArray, share: FloatArray) -> FloatArray:
    """exp(share·ln scale + (1 − share)·ln default), exactly ``scale`` at share 1; free if either is."""
    return np.where(scale == default, default, scale**share * default ** (1.0 - share))


def _by_word(default: BasePrior, values: dict[str, Any], at: tuple[Any, Any], families: AnyArray) -> ByWord:
    """The prior that has families of its own where the table names them."""
    if not isinstance(default, ByWord):
        values["family"] = np.full(values["mean"].shape, ByWord(family=default.name).family)
    named = families != ""
    numbers = ByWord(family=np.where(named, families, "laplace")).family
    values["family"][at] = np.where(named, numbers, values["family"][at])
    remaining = ByWord(family=values["family"]).families
    if default.name not in remaining and not isinstance(default, ByWord):  # every word has a family of its own
        values = {name: values[name] for name in ("scale", "mean", "sign", "family")}
    return ByWord(**values)


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
        From :func:`match_priors`.
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
        model = with_prior(classifier, matched, X[train], weight, strength)
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
