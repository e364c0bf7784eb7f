"""Probabilities of documents by a classifier that did not learn from them, for any scikit-learn classifier."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import clone
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metaestimators import _safe_split

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.labels import LabelSpace
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray, Matrix


class Target(NamedTuple):
    """The labels in both forms: ``given`` for the classifier, ``Y`` (n_docs, n_columns) for the rule."""

    given: AnyArray
    Y: BoolArray
    space: LabelSpace


class OutOfFold(NamedTuple):
    """Scores and positives a rule can learn from, (n_docs, n_columns), and the test part of each fold."""

    scores: FloatArray
    Y: BoolArray
    parts: list[IntArray]


def prepared(estimator: Any, target: Target) -> Any:
    """An unfitted copy that can learn the target: one-vs-rest around a classifier that knows no multi-label."""
    if target.space.kind == "multilabel" and not get_tags(estimator).classifier_tags.multi_label:
        return OneVsRestClassifier(clone(estimator))
    return clone(estimator)


def fit_quietly(estimator: Any, X: Matrix | ArrayLike, y: Any, fit_params: dict[str, Any]) -> Any:
    """Fit without the warning for a label that every document, or none, carries; ``out_of_fold`` scores it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Label .* is present in all training examples")
        return estimator.fit(X, y, **fit_params)


def positive_scores(estimator: Any, X: Matrix | ArrayLike, space: LabelSpace, use_scores: bool) -> FloatArray:
    """Probability of each column of the label space, or its decision score mapped into (0, 1).

    Scores s become ½ + ½ s/(1 + |s|): monotone, 0 at ½, and unlike the logistic function distinct far from 0.

    Parameters
    ----------
    estimator : fitted classifier
    X : array or sparse matrix (n_docs, n_features)
    space : LabelSpace
    use_scores : bool
        Decision scores in place of probabilities.
    """
    raw = estimator.decision_function(X) if use_scores else estimator.predict_proba(X)
    columns = _columns(raw, estimator, space, use_scores)
    return 0.5 + 0.5 * columns / (1.0 + np.abs(columns)) if use_scores else np.clip(columns, 0.0, 1.0)


def _columns(raw: Any, estimator: Any, space: LabelSpace, use_scores: bool) -> FloatArray:
    if isinstance(raw, list):  # trees and neighbours: one (n_docs, n_classes) array per label
        known = estimator.classes_
        return np.column_stack([_of_class(part, list(known[j]), 1) for j, part in enumerate(raw)])
    raw = np.asarray(raw, dtype=np.float64)
    if space.kind == "multilabel":
        return raw.reshape(len(raw), -1)
    classes = list(estimator.classes_)
    if raw.ndim == 1 or raw.shape[1] == 1:  # decision scores for two classes: of the second
        score = raw.reshape(-1)
        raw = np.column_stack([-score, score])
    names = space.classes[1:] if space.kind == "binary" else space.classes
    absent = -np.finfo(np.float64).max if use_scores else 0.0  # mapped to 0 either way
    return np.column_stack([_of_class(raw, classes, name, absent) for name in names])


def _of_class(raw: FloatArray, classes: Sequence[Any], name: Any, absent: float = 0.0) -> FloatArray:
    return raw[:, classes.index(name)] if name in classes else np.full(len(raw), absent)


def out_of_fold(
    estimator: Any,
    X: Matrix | ArrayLike,
    target: Target,
    splits: Iterable[tuple[IntArray, IntArray]],
    use_scores: bool,
    fit_params: dict[str, Any],
) -> OutOfFold:
    """Score each document by a copy trained without it.

    A label that the training part lacks (or that all of it carries) is scored 0 (or 1): nothing was learnt of it. Its
    positives in the test part are taken out of ``Y``: ranked last for want of a model, they would draw the threshold
    down until every document has the label.

    Parameters
    ----------
    estimator : classifier
    X : array or sparse matrix (n_docs, n_features)
    target : Target
    splits : iterable of (train, test)
        Row numbers; the test parts cover all documents.
    use_scores : bool
        Decision scores in place of probabilities.
    fit_params : dict
        Passed on to ``fit``, rows taken where there is one for each document.
    """
    scores = np.full(target.Y.shape, np.nan)
    Y = target.Y.copy()
    parts = []
    for train, test in splits:
        copy = prepared(estimator, target)
        X_train, y_train = _safe_split(copy, X, target.given, train)
        X_test, _ = _safe_split(copy, X, target.given, test, train)
        params = {key: _rows(value, train, len(target.Y)) for key, value in fit_params.items()}
        fit_quietly(copy, X_train, y_train, params)
        part = positive_scores(copy, X_test, target.space, use_scores)
        share = target.Y[train].mean(axis=0)
        part[:, share == 0] = 0.0
        part[:, share == 1] = 1.0
        Y[test] &= share > 0
        scores[test] = part
        parts.append(np.asarray(test))
    if np.isnan(scores).any():
        n_left = int(np.isnan(scores).any(axis=1).sum())
        raise NotSupportedError(
            f"the cross-validation leaves {n_left} documents in no test part; use folds that cover all documents"
        )
    return OutOfFold(scores, Y, parts)


def without_weightless(X: Matrix | ArrayLike, y: Any, fit_params: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """The documents whose ``sample_weight``, if one is given, is not 0: weight 0 means absent, for the rule as well."""
    weight = fit_params.get("sample_weight")
    if weight is None or np.asarray(weight).all():
        return X, y, fit_params
    kept = np.flatnonzero(np.asarray(weight))
    params = {key: _rows(value, kept, len(np.asarray(weight))) for key, value in fit_params.items()}
    X, y = _safe_indexing(X, kept), _safe_indexing(y, kept)
    if np.ndim(y) == 1 and len(np.unique(y)) < 2:
        raise InputError("sample_weight is 0 for all documents but those of one class; a classifier needs two classes")
    return X, y, params


def _rows(value: Any, rows: IntArray, n_docs: int) -> Any:
    per_document = (isinstance(value, np.ndarray | list) or sparse.issparse(value)) and np.shape(value)[:1] == (n_docs,)
    if not per_document:
        return value
    return [value[i] for i in rows] if isinstance(value, list) else value[rows]
