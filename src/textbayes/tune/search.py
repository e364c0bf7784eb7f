"""Choose the scale of a prior by cross-validation: one path per fold, guided by the path on all documents."""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import check_cv

from textbayes.core.errors import InputError
from textbayes.core.executor import in_parallel
from textbayes.core.folds import group_codes, stratified_folds
from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.core.validation import check_choice
from textbayes.inference import BaseInference, Problem
from textbayes.models.weights import as_columns
from textbayes.tune.losses import Errors, Rule, Scoring, choose, held_out_losses
from textbayes.tune.path import Path, check_factors, regularisation_path

Split = tuple[IntArray, IntArray]


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
    cv : int, array of fold numbers, splitter or iterable of (train, test)
        An int makes that many folds with the positives of every label spread evenly. One split is validation on its
        test part.
    scoring : "log_loss" or "f1"
        Log-loss, or F1 of deciding at probability ½.
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
    splits = make_splits(cv, positive, random_state, weight > 0.0, groups)
    if errors == "folds" and len(splits) < 2:
        raise InputError("errors over folds need two folds or more; use errors='documents' or more folds")
    settings: dict[str, Any] = {
        "inference": inference, "tol": tol, "max_iter": max_iter, "n_jobs": n_jobs, "tie_intercept": tie_intercept,
    }  # fmt: skip
    path = regularisation_path(problem, factors, **settings)
    eta, fold = held_out_predictors(problem, splits, factors, path, settings)
    losses = [held_out_losses(row, problem.y, problem.link, weight, fold, scoring, errors) for row in eta]
    loss, error, common, common_error = (np.array(part) for part in zip(*losses, strict=True))
    if per_label:
        point = choose(loss, error, rule)
    else:
        point = np.repeat(choose(common[:, None], common_error[:, None], rule), factors.shape[1])
    labels = np.arange(factors.shape[1])
    return ScaleSearch(
        factors, loss, error, common, common_error, point, factors[point, labels], eta[point, :, labels].T, fold, path
    )


def held_out_predictors(
    problem: Problem, splits: Sequence[Split], factors: FloatArray, guide: Path, settings: dict[str, Any]
) -> tuple[FloatArray, IntArray]:
    """Linear predictors (n_points, n_docs, n_labels) by the fits of the folds, and the fold that tests each document.

    The documents of a fold are copied out of the matrix: nothing then reads the documents that are held out, as weights
    of 0 and 1 on the whole matrix would. Folds run side by side, and the blocks of labels within each as well, so that
    no core waits for the last fold; what a fold finds does not depend on that.
    """
    rows = problem.X.tocsr()
    eta = np.full((len(factors), *problem.y.shape), np.nan)
    fold = np.full(len(problem.y), -1, dtype=np.int64)

    def solve(split: Split) -> FloatArray:
        train, test = split
        weight = None if problem.sample_weight is None else problem.sample_weight[train]
        part = problem._replace(
            X=as_columns(rows[train]), y=np.ascontiguousarray(problem.y[train]), sample_weight=weight
        )
        return regularisation_path(part, factors, guide=guide, **settings).linear_predictor(rows[test])

    for number, ((_, test), found) in enumerate(
        zip(splits, in_parallel(solve, splits, settings["n_jobs"]), strict=True)
    ):
        eta[:, test], fold[test] = found, number
    return eta, fold


def make_splits(
    cv: Any,
    positive: BoolArray,
    random_state: int | None,
    counted: BoolArray | None = None,
    groups: Iterable[Hashable] | None = None,
) -> list[Split]:
    """Make pairs of training and test documents, tests that do not overlap, from whatever says how to fold.

    Where ``cv`` is a number of folds, documents that are not ``counted`` (of weight 0) are tested in none: they fold no
    other way than if they were not there.

    Parameters
    ----------
    cv : int, array (n_docs,) of fold numbers, splitter or iterable of (train, test)
    positive : boolean array (n_docs, n_labels)
    random_state : int or None
    counted : boolean array (n_docs,), optional
    groups : sequence of n_docs values, optional
        Documents of one group share a fold; a splitter is given them.
    """
    n_docs = len(positive)
    documents = np.arange(n_docs)
    codes = None if groups is None else group_codes(groups, n_docs)
    if isinstance(cv, numbers.Integral) and not isinstance(cv, bool):
        if cv < 2:
            raise InputError(f"cv={cv} is not usable; pass 2 folds or more")
        kept = documents if counted is None else np.flatnonzero(counted)
        n_folds, cv = min(int(cv), len(kept)), np.full(n_docs, -1)
        cv[kept] = stratified_folds(positive[kept], n_folds, random_state, None if codes is None else codes[kept])
    if isinstance(cv, np.ndarray) and cv.ndim == 1 and cv.dtype.kind in "iu":
        if len(cv) != n_docs:
            raise InputError(f"cv holds {len(cv)} fold numbers for {n_docs} documents; pass one for each")
        splits = [(documents[cv != f], documents[cv == f]) for f in np.unique(cv[cv >= 0])]
    else:
        target = positive.argmax(axis=1) if positive.shape[1] > 1 else positive[:, 0]
        splitter = check_cv(cv, target, classifier=True)
        splits = [(np.asarray(train), np.asarray(test)) for train, test in splitter.split(documents, target, codes)]
    tested = np.concatenate([test for _, test in splits]) if splits else documents[:0]
    if not len(tested) or len(np.unique(tested)) != len(tested):
        raise InputError("every document may be tested once: the test parts of cv overlap or are empty; use k folds")
    return splits
