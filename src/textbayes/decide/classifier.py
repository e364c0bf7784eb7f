"""Any scikit-learn classifier with a decision rule of your choice: binary, multi-class and multi-label."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, has_fit_parameter

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.fitting import all_or_nothing
from textbayes.core.folds import group_codes, stratified_folds
from textbayes.core.labels import LabelSpace, encode_labels
from textbayes.core.types import AnyArray, BoolArray, FloatArray, Matrix
from textbayes.core.validation import check_choice, check_same_length
from textbayes.decide._base import Rule, ThresholdRule, make_rule
from textbayes.decide.out_of_fold import (
    Target,
    fit_quietly,
    out_of_fold,
    positive_scores,
    prepared,
    without_weightless,
)


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
    cv : number of folds (positives of every label are spread over them), a scikit-learn splitter, or "prefit": the
        estimator is fitted already and the rule learns on the data given to ``fit``
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

    def _target(self, y: Any, classes: Any) -> Target:
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y")
        if kind in ("multilabel-indicator", "multiclass-multioutput"):
            Y, space = encode_labels(y if hasattr(y, "shape") else np.asarray(y))
            return Target(Y.astype(np.int64), Y, space)
        y = column_or_1d(y, warn=True)
        Y, space = encode_labels(y, classes)
        return Target(y, Y, LabelSpace(np.unique(y) if classes is None else np.asarray(classes), space.kind))

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
        self, rule: Rule, X: Matrix | ArrayLike, target: Target, fit_params: dict[str, Any], groups: Any
    ) -> None:
        if isinstance(self.cv, int):
            n_docs = len(target.Y)
            fold = stratified_folds(target.Y, min(self.cv, n_docs), self.random_state, groups)
            rows = np.arange(n_docs)
            splits = [(rows[fold != f], rows[fold == f]) for f in range(int(fold.max()) + 1)]
        else:
            splitter = check_cv(self.cv, target.given, classifier=True)
            splits = list(splitter.split(X, target.given, groups))
        data = out_of_fold(self.estimator, X, target, splits, self._use_scores, fit_params)
        if self.pool == "pooled":
            rule.fit(data.scores, data.Y)
        elif isinstance(rule, ThresholdRule):
            rule.fit_folds([(data.scores[part], data.Y[part]) for part in data.parts])
        else:
            raise NotSupportedError(f"rule {rule.name!r} has no thresholds to average; use pool='pooled'")
