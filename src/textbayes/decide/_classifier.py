"""Any scikit-learn classifier with a decision rule of your choice: binary, multi-class and multi-label."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.metaestimators import _safe_split, available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, has_fit_parameter

from textbayes.core.cross_validation import Folds, out_of_fold
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.fitting import all_or_nothing
from textbayes.core.folds import group_codes
from textbayes.core.labels import LabelSpace, encode_labels
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray, Matrix
from textbayes.core.validation import check_choice, check_same_length
from textbayes.decide._base import Rule, ThresholdRule, make_rule


class LabelledTarget(NamedTuple):
    """The labels in both forms: ``given`` for the classifier, ``Y`` (n_docs, n_columns) for the rule."""

    given: AnyArray
    Y: BoolArray
    space: LabelSpace


def _estimator_has(method: str) -> Any:
    return lambda self: hasattr(getattr(self, "estimator_", self.estimator), method)


class ThresholdClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Fit a classifier, learn a decision rule on its out-of-fold probabilities, decide by the rule.

    scikit-learn's ``TunedThresholdClassifierCV`` does this for two classes; here every label has its own threshold.

    Parameters
    ----------
    estimator : a classifier with ``predict_proba`` or ``decision_function``; one that knows no multi-label is wrapped
        in ``OneVsRestClassifier`` for such targets
    rule : name of a decision rule, or a rule object
    cv : number of folds (positives of every label are spread over them), the fold of each document, a scikit-learn
        splitter, or "prefit": the estimator is fitted already and the rule learns on the data given to ``fit``
    pool : "pooled" fits the rule once on all out-of-fold scores, "folds" on each fold and averages the thresholds
    method : "auto" (probabilities where there are any), "predict_proba" or "decision_function"
    random_state : seed of the folds, for an integer ``cv``

    Attributes
    ----------
    estimator_ : the classifier fitted on all data
    rule_ : the fitted rule
    classes_ : as of the classifier; for an indicator matrix 0 … n_labels − 1
    kind_ : "binary", "multiclass" or "multilabel"

    Notes
    -----
    ``decide`` gives the rule's answer: one column for two classes, else one per label. ``predict`` gives classes: for
    several classes the most probable of those the rule says yes to, or of all when it says yes to none. Decision scores
    are mapped monotonically to (0, 1), where rules that believe probabilities refuse them. Rules that learn nothing
    ("fixed", "utility", …) need no folds and cost one fit. Keyword arguments of ``fit`` go to the classifier, cut to
    each fold where they have one entry per document; a ``sample_weight`` of 0 leaves the document out, otherwise
    the rule counts every document once.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, Y = make_multilabel_classification(n_samples=200, n_classes=4, random_state=0)
    >>> model = ThresholdClassifier(LogisticRegression(max_iter=1000), rule="max_f1").fit(X, Y)
    >>> model.predict(X[:2]).shape, model.rule_.thresholds_.shape
    ((2, 4), (4,))
    """

    def __init__(
        self,
        estimator: Any,
        rule: str | Rule = "max_f1",
        *,
        cv: Any = 5,
        pool: Literal["pooled", "folds"] = "pooled",
        method: Literal["auto", "predict_proba", "decision_function"] = "auto",
        random_state: int | None = 0,
    ) -> None:
        self.estimator = estimator
        self.rule = rule
        self.cv = cv
        self.pool = pool
        self.method = method
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Matrix | ArrayLike, y: Any, groups: Iterable[Hashable] | None = None, **fit_params: Any) -> Self:
        """Learn the classifier and the rule.

        Parameters
        ----------
        X : array or sparse matrix (n_docs, n_features), or whatever the classifier takes
        y : array (n_docs,), or (n_docs, n_labels) for multi-label
        groups : sequence of n_docs values, optional
            Documents of one group (an author, copies of one text) share a fold. A classifier whose ``fit`` takes groups
            is given them too.
        **fit_params
            Passed on to the classifier's ``fit``; ``sample_weight`` of 0 leaves a document out.
        """
        check_choice("pool", self.pool, ("pooled", "folds"))
        rule = make_rule(self.rule)
        prefit = isinstance(self.cv, str) and self.cv == "prefit"
        if y is None:
            raise InputError("ThresholdClassifier requires y to be passed, but the target y is None")
        X, y = indexable(X, y)
        check_same_length(X, "X", y, "y")
        if groups is not None:
            fit_params["groups"] = group_codes(groups, len(y))
        X, y, fit_params = without_weightless(X, y, fit_params)
        groups = fit_params.get("groups")
        if not has_fit_parameter(self.estimator, "groups"):
            fit_params.pop("groups", None)
        target = self._target(y, self.estimator.classes_ if prefit else None)
        self._use_scores = self._checked_method(rule) == "decision_function"
        if prefit:
            self.estimator_ = self.estimator
            scores = positive_scores(self.estimator_, X, target.space, self._use_scores)
            rule.fit(scores, target.Y)
        else:
            if rule.learns:
                self._learn_rule(rule, X, target, fit_params, groups)
            self.estimator_ = fit_quietly(prepared(self.estimator, target), X, target.given, fit_params)
            if not rule.learns:
                rule.fit(positive_scores(self.estimator_, X, target.space, self._use_scores))
        self.rule_ = rule
        self._space = target.space
        self.kind_ = target.space.kind
        self.classes_ = target.space.classes
        for attribute in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, attribute):
                setattr(self, attribute, getattr(self.estimator_, attribute))
        return self

    def decide(self, X: Matrix | ArrayLike) -> BoolArray:
        """The rule's decisions (n_docs, n_columns): one column for two classes, else one per label."""
        return self.rule_.decide(self._scores(X))

    def predict(self, X: Matrix | ArrayLike) -> AnyArray:
        """Classes as a vector, or for multi-label an indicator matrix of 0 and 1."""
        scores = self._scores(X)
        decisions = self.rule_.decide(scores)
        if self.kind_ == "multilabel":
            return decisions.astype(np.int64)
        if self.kind_ == "binary":
            return self.classes_[decisions[:, 0].astype(np.int64)]
        # Probabilities are at most 1, so adding 2 puts every class with a yes before every class without.
        return self.classes_[(scores + 2.0 * decisions).argmax(axis=1)]

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: Matrix | ArrayLike) -> FloatArray:
        """Probabilities of the classifier: (n_docs, n_classes), or (n_docs, n_labels) for multi-label."""
        check_is_fitted(self)
        if self.kind_ == "multilabel":
            return positive_scores(self.estimator_, X, self._space, use_scores=False)
        return self.estimator_.predict_proba(X)

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X: Matrix | ArrayLike) -> FloatArray:
        """Decision scores of the classifier, as they are."""
        check_is_fitted(self)
        return self.estimator_.decision_function(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.classifier_tags.multi_label = True
        return tags

    def _scores(self, X: Matrix | ArrayLike) -> FloatArray:
        check_is_fitted(self)
        return positive_scores(self.estimator_, X, self._space, self._use_scores)

    def _target(self, y: Any, classes: Any) -> LabelledTarget:
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y")
        if kind in ("multilabel-indicator", "multiclass-multioutput"):
            Y, space = encode_labels(y if hasattr(y, "shape") else np.asarray(y))
            return LabelledTarget(Y.astype(np.int64), Y, space)
        y = column_or_1d(y, warn=True)
        Y, space = encode_labels(y, classes)
        return LabelledTarget(y, Y, LabelSpace(np.unique(y) if classes is None else np.asarray(classes), space.kind))

    def _checked_method(self, rule: Rule) -> str:
        check_choice("method", self.method, ("auto", "predict_proba", "decision_function"))
        wanted = ("predict_proba", "decision_function") if self.method == "auto" else (self.method,)
        found = [name for name in wanted if hasattr(self.estimator, name)]
        name = type(self.estimator).__name__
        if not found:
            raise InputError(f"{name} has no {' or '.join(wanted)}; a decision rule needs one of them")
        if found[0] == "decision_function" and rule.needs_probabilities:
            raise NotSupportedError(
                f"rule {rule.name!r} believes probabilities but {name} gives decision scores; wrap it in "
                "scikit-learn's CalibratedClassifierCV, or choose a rule that only ranks, such as 'max_f1'"
            )
        return found[0]

    def _learn_rule(
        self, rule: Rule, X: Matrix | ArrayLike, target: LabelledTarget, fit_params: dict[str, Any], groups: Any
    ) -> None:
        """Fit the rule to scores of each document by a copy of the classifier that was trained without it.

        A label that the training part lacks (or that all of it carries) is scored 0 (or 1): nothing was learnt of it.
        Its positives in the test part are not shown to the rule: ranked last for want of a model, they would draw the
        threshold down until every document has the label.
        """
        folds = Folds.of(self.cv, target.Y, self.random_state, groups, X=X, y=target.given)
        if not folds.held_out.all():
            raise NotSupportedError(
                f"the cross-validation leaves {int((~folds.held_out).sum())} documents in no test part; use folds that "
                "cover all documents"
            )
        shares = np.array([target.Y[folds.split(k)[0]].mean(axis=0) for k in range(folds.n)])
        [(_, scores)] = out_of_fold(
            _fold_scores, folds, shared=(folds, self.estimator, X, target, self._use_scores, fit_params)
        )
        share = shares[folds.number]
        scores[share == 0] = 0.0
        scores[share == 1] = 1.0
        Y = target.Y & (share > 0)
        if self.pool == "pooled":
            rule.fit(scores, Y)
        elif isinstance(rule, ThresholdRule):
            tests = [folds.split(k)[1] for k in range(folds.n)]
            rule.fit_folds([(scores[test], Y[test]) for test in tests])
        else:
            raise NotSupportedError(f"rule {rule.name!r} has no thresholds to average; use pool='pooled'")


def _fold_scores(
    _: None,
    k: int,
    folds: Folds,
    estimator: Any,
    X: Any,
    target: LabelledTarget,
    use_scores: bool,
    fit_params: dict[str, Any],
) -> FloatArray:
    """Scores of the documents of a fold by a copy trained on the others; ``fit_params`` are cut to these."""
    train, test = (np.flatnonzero(part) for part in folds.split(k))
    copy = prepared(estimator, target)
    X_train, y_train = _safe_split(copy, X, target.given, train)
    X_test, _ = _safe_split(copy, X, target.given, test, train)
    params = {key: _rows(value, train, len(target.Y)) for key, value in fit_params.items()}
    return positive_scores(fit_quietly(copy, X_train, y_train, params), X_test, target.space, use_scores)


def prepared(estimator: Any, target: LabelledTarget) -> Any:
    """An unfitted copy that can learn the target: one-vs-rest around a classifier that knows no multi-label."""
    if target.space.kind == "multilabel" and not get_tags(estimator).classifier_tags.multi_label:
        return OneVsRestClassifier(clone(estimator))
    return clone(estimator)


def fit_quietly(estimator: Any, X: Matrix | ArrayLike, y: Any, fit_params: dict[str, Any]) -> Any:
    """Fit without the warning for a label that every document, or none, carries; see ``_learn_rule``."""
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


def without_weightless(X: Matrix | ArrayLike, y: Any, fit_params: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """The documents whose ``sample_weight``, if one is given, is not 0: weight 0 means absent, for the rule as well."""
    weight = fit_params.get("sample_weight")
    if weight is None or np.asarray(weight).all():
        return X, y, fit_params
    used = np.flatnonzero(np.asarray(weight))
    params = {key: _rows(value, used, len(np.asarray(weight))) for key, value in fit_params.items()}
    X, y = _safe_indexing(X, used), _safe_indexing(y, used)
    if np.ndim(y) == 1 and len(np.unique(y)) < 2:
        raise InputError("sample_weight is 0 for all documents but those of one class; a classifier needs two classes")
    return X, y, params


def _rows(value: Any, rows: IntArray, n_docs: int) -> Any:
    per_document = (isinstance(value, np.ndarray | list) or sparse.issparse(value)) and np.shape(value)[:1] == (n_docs,)
    if not per_document:
        return value
    return [value[i] for i in rows] if isinstance(value, list) else value[rows]
