"""Choose the scale of a prior by cross-validation: one path per fold, guided by the path on all documents.

Scales to try are a grid from where the prior holds every weight to where it hardly holds any, or BBR's default.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from textbayes.core.cross_validation import Folds, out_of_fold
from textbayes.core.errors import InputError
from textbayes.core.types import BoolArray, FloatArray, IntArray, Matrix
from textbayes.core.validation import check_choice
from textbayes.inference import BaseInference, Problem
from textbayes.inference._path import null_gradient
from textbayes.links.base import BaseLink
from textbayes.models.weights import as_columns
from textbayes.tune.path import Path, check_factors, regularisation_path

Scoring = Literal["log_loss", "f1"]
Rule = Literal["best", "one_se"]
Errors = Literal["documents", "folds"]


class ScaleSearch(NamedTuple):
    """Scales tried and the scale chosen; points run from the narrowest prior to the widest.

    Attributes
    ----------
    factors : array (n_points, n_labels)
        Multiples of the prior's own scale.
    loss, standard_error : arrays (n_points, n_labels)
        Held-out log-loss or 1 − F1 of each label.
    common_loss, common_standard_error : arrays (n_points,)
        Of all labels together: the sum of the log-losses, or 1 − macro F1.
    point, factor : arrays (n_labels,)
        The choice.
    log_loss : array (n_points, n_labels)
        Held-out log-loss of each label, which settles ties where the choice is by F1.
    held_out : array (n_docs, n_labels)
        Linear predictors at the choice, by models that did not see the document; NaN where no fold tests it.
    fold : array (n_docs,)
        The fold that tests each document, −1 for none.
    path : Path
        The fits on all documents.
    """

    factors: FloatArray
    loss: FloatArray
    standard_error: FloatArray
    common_loss: FloatArray
    common_standard_error: FloatArray
    point: IntArray
    factor: FloatArray
    log_loss: FloatArray
    held_out: FloatArray
    fold: IntArray
    path: Path


def search_scale(
    problem: Problem,
    factors: ArrayLike,
    cv: Any = 5,
    scoring: Scoring = "log_loss",
    rule: Rule = "best",
    per_label: bool = True,
    errors: Errors = "documents",
    inference: str | BaseInference = "coordinate",
    tol: float = 1e-2,
    max_iter: int = 100,
    n_jobs: int = 1,
    random_state: int | None = 0,
    tie_intercept: bool = False,
    groups: Iterable[Hashable] | None = None,
) -> ScaleSearch:
    """Cross-validate every one of ``factors`` times the scale of the problem's prior.

    Parameters
    ----------
    problem : Problem
    factors : array (n_points,) or (n_points, n_labels), growing
    cv : int, share, array of fold numbers, splitter or iterable of (train, test)
        An int makes that many folds with the positives of every label spread evenly. A share between 0 and 1 of the
        documents is a validation set, drawn in the same way; one split is validation on its test part.
    scoring : "log_loss" or "f1"
        Log-loss, or F1 of deciding at probability ½; of equal F1 the lower log-loss.
    rule : "best" or "one_se"
        The lowest loss, or the narrowest prior within one standard error of it.
    per_label : bool
        Choose for each label, or one point for all by the sum of the log-losses or the macro F1.
    errors : "documents" or "folds"
        What the standard errors are over.
    inference, tol, max_iter, n_jobs, tie_intercept :
        As in ``regularisation_path``.
    random_state : int or None
        Of the folds.
    groups : sequence of n_docs values, optional
        Documents of one group share a fold.

    References
    ----------
    Breiman, Friedman, Olshen & Stone (1984), Classification and regression trees, section 3.4.3 (one standard error).
    """
    for name, value, options in (
        ("scoring", scoring, ("log_loss", "f1")),
        ("rule", rule, ("best", "one_se")),
        ("errors", errors, ("documents", "folds")),
    ):
        check_choice(name, value, options)
    factors = check_factors(factors, problem.y.shape[1])
    positive = problem.y > 0.0
    weight = np.ones(len(positive)) if problem.sample_weight is None else problem.sample_weight
    folds = Folds.of(cv, positive, random_state, groups, weight > 0.0)
    if errors == "folds" and folds.n < 2:
        raise InputError("errors over folds need two folds or more; use errors='documents' or more folds")
    settings: dict[str, Any] = {
        "inference": inference, "tol": tol, "max_iter": max_iter, "n_jobs": n_jobs, "tie_intercept": tie_intercept,
    }  # fmt: skip
    path = regularisation_path(problem, factors, **settings)
    eta = held_out_predictors(problem, folds, factors, path, settings)
    tested = folds.held_out
    y, fold = problem.y[tested], folds.number[tested]
    losses = [held_out_losses(row, y, problem.link, weight[tested], fold, scoring, errors) for row in eta]
    loss, error, common, common_error = (np.array(part) for part in zip(*losses, strict=True))
    by_log_loss = losses
    if scoring == "f1":
        by_log_loss = [log_losses(row, y, problem.link, weight[tested]) for row in eta]
    ties, common_ties = (
        np.array([one.loss for one in by_log_loss]),
        np.array([[one.common_loss] for one in by_log_loss]),
    )
    if per_label:
        point = choose(loss, error, rule, ties)
    else:
        point = np.repeat(choose(common[:, None], common_error[:, None], rule, common_ties), factors.shape[1])
    labels = np.arange(factors.shape[1])
    held_out = np.full(problem.y.shape, np.nan)
    held_out[tested] = eta[point, :, labels].T
    return ScaleSearch(
        factors, loss, error, common, common_error, point, factors[point, labels], ties, held_out, folds.number, path
    )


def held_out_predictors(
    problem: Problem, folds: Folds, factors: FloatArray, guide: Path, settings: dict[str, Any]
) -> FloatArray:
    """Linear predictors (n_points, n_held_out, n_labels) of the held-out documents by the fits of the folds.

    The documents of a fold are copied out of the matrix: nothing then reads the documents that are held out, as weights
    of 0 and 1 on the whole matrix would. Folds run side by side, and the blocks of labels within each as well, so that
    no core waits for the last fold; what a fold finds does not depend on that.
    """
    rows = problem.X.tocsr()

    def solve(_: None, k: int) -> FloatArray:
        train, test = folds.split(k)
        weight = None if problem.sample_weight is None else problem.sample_weight[train]
        part = problem._replace(
            X=as_columns(rows[train]), y=np.ascontiguousarray(problem.y[train]), sample_weight=weight
        )
        return regularisation_path(part, factors, guide=guide, **settings).linear_predictor(rows[test])

    [(_, eta)] = out_of_fold(solve, folds, n_jobs=settings["n_jobs"])
    return eta


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
    return f1_of_decisions(link.log_odds(eta) > 0.0, y > 0.0, weight)


def f1_of_decisions(yes: BoolArray, positive: BoolArray, weight: FloatArray) -> Losses:
    """F1 losses of decisions, with errors by the delta method as in :func:`f1_losses`.

    Parameters
    ----------
    yes, positive : boolean arrays (n_docs, n_labels)
        What was decided, and what holds.
    weight : array (n_docs,)
    """
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
    """Losses of held-out documents, with errors over documents or over folds.

    Over folds, the error is the standard deviation of the folds' own losses divided by the root of their number
    (Breiman, Friedman, Olshen & Stone 1984, section 3.4.3).

    Parameters
    ----------
    eta, y, link, weight
        As for :func:`log_losses`.
    fold : array (n_docs,)
        The fold that tests each document.
    scoring : {"log_loss", "f1"}
    errors : {"documents", "folds"}
    """
    measure = log_losses if scoring == "log_loss" else f1_losses
    pooled = measure(eta, y, link, weight)
    if errors == "documents":
        return pooled
    parts = [measure(eta[fold == f], y[fold == f], link, weight[fold == f]) for f in np.unique(fold)]
    root = np.sqrt(len(parts))
    of_labels = np.std([part.loss for part in parts], axis=0, ddof=1) / root
    return Losses(
        pooled.loss, of_labels, pooled.common_loss, float(np.std([part.common_loss for part in parts], ddof=1) / root)
    )


def choose(loss: FloatArray, error: FloatArray, rule: Rule, ties: FloatArray | None = None) -> IntArray:
    """Choose the point of each column (n_points, n_columns): of lowest loss, or the first within one standard error.

    Points run from the narrowest prior to the widest, so the one-standard-error rule takes the simplest model that is
    not clearly worse than the best (Breiman et al. 1984). Of equal losses the first is taken, or that of the least
    ``ties``: many points have the same F1.

    Parameters
    ----------
    loss, error : arrays (n_points, n_columns)
        Held-out losses, and their standard errors.
    rule : {"best", "one_se"}
    ties : array (n_points, n_columns), optional
        What settles between equal losses.
    """
    best = loss.argmin(axis=0)
    if ties is not None:
        best = np.where(loss == loss.min(axis=0), ties, np.inf).argmin(axis=0)
    if rule == "best":
        return best
    columns = np.arange(loss.shape[1])
    return (loss <= loss[best, columns] + error[best, columns]).argmax(axis=0)


def _mean_and_error(values: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    total = max(float(weight.sum()), float(np.finfo(float).tiny))
    mean = weight @ values / total
    return mean, np.sqrt((weight**2) @ (values - mean) ** 2) / total


_WIDEST = {False: 2e3, True: 1e3}  # of the narrowest scale, of a prior with a kink and of a smooth one
_MOVE = 0.1  # how far a smooth prior's narrowest scale lets a linear predictor move


def narrowest_factor(problem: Problem) -> FloatArray:
    """Per label the largest multiple of its prior's scale at which every weight stays at its prior mean.

    A kink of slope l1_j = 1/scale_j holds the weight of word j while |g_j| ≤ l1_j, with g the gradient of the
    log-likelihood at the prior means and the best intercept for them; multiplying the scale by f divides l1 by f, so
    that f = min_j l1_j/|g_j| (the λ_max of Friedman, Hastie & Tibshirani 2010). A smooth prior holds no weight; its
    narrowest scale is the one at which, to first order, no document's linear predictor moves by more than 0.1:
    w = f²·g/l2 gives f² = 0.1/max_i |x_i'(g/l2)|. Words without a prior are left out, and a label that no word tells
    anything of gets 1.

    References
    ----------
    Friedman, Hastie & Tibshirani (2010), Regularization paths for generalized linear models via coordinate descent,
    Journal of Statistical Software 33(1).
    """
    gradient = null_gradient(problem)
    n_labels, n_features = gradient.shape
    factor = np.ones(n_labels)
    for label in range(n_labels):
        _, l1, l2 = problem.prior.for_label(label, n_features).local(np.zeros(n_features))
        g = gradient[label]
        if (l1 > 0.0).any():
            held = (l1 > 0.0) & (g != 0.0)
            if held.any():
                factor[label] = (l1[held] / np.abs(g[held])).min()
        else:
            moved = np.divide(g, l2, out=np.zeros_like(g), where=l2 > 0.0)
            most = np.abs(problem.X @ moved).max(initial=0.0)
            if most > 0.0:
                factor[label] = np.sqrt(_MOVE / most)
    return factor


def factor_grid(problem: Problem, n_points: int = 10, per_label: bool = True) -> FloatArray:
    """Make a grid of factors (n_points, n_labels) of the prior's scale, evenly spaced in their logarithm.

    Each label's run from its narrowest (see ``narrowest_factor``) to 2,000 times that for a prior with a kink and
    1,000 times for a smooth one. Without ``per_label`` all share one grid, from the narrowest of all
    labels to the widest of the label in the middle: labels with many documents need narrow scales, those with few wide.

    Parameters
    ----------
    problem : Problem
    n_points : int
    per_label : bool
    """
    if n_points < 1:
        raise InputError(f"{n_points} scales were asked for; pass 1 or more")
    narrowest = narrowest_factor(problem)
    widest = narrowest * _WIDEST[problem.prior.smooth]
    if not per_label:
        narrowest, widest = np.full_like(narrowest, narrowest.min()), np.full_like(widest, np.median(widest))
    if n_points == 1:
        return np.sqrt(narrowest * widest)[None, :]
    return np.geomspace(narrowest, widest, n_points)


def norm_variance(X: Matrix | ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """BBR's default prior variance: the number of features divided by the mean squared length of the documents.

        σ² = d / ( (1/n) Σ_i |x_i|² )

    Under it the linear predictor of an average document, Σ_j x_ij w_j, has variance Σ_j x_ij² σ² = d a priori if the
    weights are independent: a wide prior, whatever the units of X. A column that is always zero counts as a feature, as
    in BBR; the intercept does not.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
    sample_weight : array (n_docs,), optional
        How much each document counts.

    References
    ----------
    Genkin, Lewis & Madigan (2007), Large-scale Bayesian logistic regression for text categorization, Technometrics 49,
    291–304, and the authors' program BBR (``NormBasedDefaultVar``: dim / average squared norm, constant term left out).

    >>> norm_variance([[3.0, 4.0], [0.0, 5.0]])  # two features, both documents of length 5
    0.08
    """
    squares = sparse.csr_matrix(X, dtype=np.float64).power(2).sum(axis=1)
    lengths = np.asarray(squares).ravel()
    mean = float(np.average(lengths, weights=None if sample_weight is None else np.asarray(sample_weight)))
    if not mean > 0.0:
        raise InputError("all documents are empty: no scale follows from their lengths; check the features")
    return float(np.shape(X)[1]) / mean


def norm_scale(X: Matrix | ArrayLike, prior: str = "laplace", sample_weight: ArrayLike | None = None) -> float:
    """Scale of a prior with variance ``norm_variance(X)``.

    A Gaussian prior of scale s has variance s²; a Laplace prior of scale b, density exp(−|w|/b)/(2b), has variance
    2b², so that b = √(σ²/2): the inverse of BBR's λ = √(2/σ²).

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
    prior : {"laplace", "gaussian"}
    sample_weight : array (n_docs,), optional
        How much each document counts.

    Examples
    --------
    >>> norm_scale([[3.0, 4.0], [0.0, 5.0]]), norm_scale([[3.0, 4.0], [0.0, 5.0]], "gaussian") ** 2
    (0.2, 0.08)
    """
    check_choice("prior", prior, ("laplace", "gaussian"))
    variance = norm_variance(X, sample_weight)
    return float(np.sqrt(variance / 2.0 if prior == "laplace" else variance))
