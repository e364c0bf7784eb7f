"""A linear support vector machine per label, the papers' baseline, with probabilities fitted to held-out margins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from scipy import special
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from textbayes.core.codec import Choice, Fields, Null, Number, Whole, written
from textbayes.core.cross_validation import Folds
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import Features
from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.core.validation import check_choice, check_positive, check_whole
from textbayes.links import make_link
from textbayes.models import model_types
from textbayes.models.base import FitOptions
from textbayes.models.linear.model import LinearModel
from textbayes.models.saved_weights import WEIGHTS, read_weights

_LOSSES = ("squared_hinge", "hinge")
_LEAST_SLOPE = 1e-3  # margins of a few held-out texts can point the wrong way


@model_types.register("svm")
class LinearSvm(LinearModel, BaseEstimator):
    """Linear support vector machine (scikit-learn's LinearSVC), one per label, with probabilities by Platt's method.

    The margin m of a text becomes the log-odds a·m + b, fitted to margins of texts that the machine was not trained on.
    Weights are kept in these units, so that they are explained, pooled and exported like those of a regression.

    Parameters
    ----------
    C : float
        Weight of the losses against ½‖w‖²: the larger, the closer the fit.
    loss : {"squared_hinge", "hinge"}
    tol, max_iter
        Of liblinear.
    cv : int
        Folds that give the margins of Platt's method.
    random_state : int
        Of liblinear and the folds.

    References
    ----------
    Fan et al. (2008), LIBLINEAR: a library for large linear classification, JMLR 9; Joachims (1998), Text
    categorization with support vector machines, ECML. Platt (1999), Probabilistic outputs for support vector machines.

    Examples
    --------
    >>> from textbayes import TextCategorizer
    >>> texts = ["corn harvest", "bank loan", "corn farm", "bank rate"] * 5
    >>> model = TextCategorizer(model="svm:C=2", cv=2).fit(texts, ["grain", "money"] * 10)
    >>> model.predict(["a corn loan for corn"]).tolist()
    ['grain']
    """

    model_type = "svm"
    gives_intervals = False
    fields: ClassVar[Fields] = {
        "C": Number(above=0.0),
        "loss": Choice(*_LOSSES),
        "tol": Number(above=0.0),
        "max_iter": Whole(1, 10**9),
        "cv": Whole(2, 2**31),
        "random_state": Whole(0, 2**63 - 1) | Null(),
    }

    def __init__(
        self,
        C: float = 1.0,
        loss: str = "squared_hinge",
        tol: float = 1e-4,
        max_iter: int = 10_000,
        cv: int = 3,
        random_state: int = 0,
    ) -> None:
        self.C = C
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.cv = cv
        self.random_state = random_state

    def fit_features(
        self, features: Features, indicator: BoolArray, space: LabelSpace, options: FitOptions | None = None
    ) -> Self:
        """Fitted copy; parameters as for ``TextModel``."""
        options, X = options or FitOptions(), features.weights
        self.check_shapes(indicator.shape[1], X.shape[1])
        weight = np.ones(X.shape[0]) if options.weight is None else options.weight
        margins = np.zeros(indicator.shape)
        folds = Folds.stratified(indicator, self.cv, self.random_state, options.groups)
        for k in range(folds.n):
            train, test = folds.split(k)
            coef, intercept = self._machines(X[train], indicator[train], weight[train])
            margins[test] = np.asarray(X[test] @ coef.T) + intercept
        coef, intercept = self._machines(X, indicator, weight)
        for label, (row, margin) in enumerate(zip(indicator.T, margins.T, strict=True)):
            slope, base = platt(margin, row, weight)
            coef[label], intercept[label] = slope * coef[label], slope * intercept[label] + base
        one = self.unfitted()
        one.coef_, one.intercept_, one.link_ = coef, intercept, make_link("logit")
        return one.with_labels(space)

    def _machines(self, X: Any, indicator: BoolArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weights and intercepts of all labels; 0 for one that no text has, or that every text has."""
        coef, intercept = np.zeros((indicator.shape[1], X.shape[1])), np.zeros(indicator.shape[1])
        for label, row in enumerate(indicator.T):
            if row.any() and not row.all():
                machine = LinearSVC(
                    C=self.C, loss=self.loss, tol=self.tol, max_iter=self.max_iter, random_state=self.random_state,
                    dual=True if self.loss == "hinge" else "auto",
                ).fit(X, row, sample_weight=weight)  # fmt: skip
                coef[label], intercept[label] = machine.coef_[0], machine.intercept_[0]
        return coef, intercept

    def check_shapes(self, n_columns: int, n_features: int) -> None:
        """Refuse parameters that cannot be used."""
        check_positive("C", self.C, "1.0")
        check_choice("loss", self.loss, _LOSSES)
        check_positive("tol", self.tol, "1e-4")
        check_whole("max_iter", self.max_iter)
        check_whole("cv", self.cv, 2)

    def description(self) -> str:
        """The method in a word."""
        return "support vector machine"

    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """Weights as a JSON-able description and arrays."""
        return written({name: getattr(self, name) for name in WEIGHTS}, WEIGHTS)

    @classmethod
    def from_state(
        cls, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], space: LabelSpace, n_features: int
    ) -> Self:
        """The machines of a file; parameters as for ``TextModel``."""
        made = cls()
        for name, value in read_weights(meta, arrays, space.n_columns, n_features).items():
            setattr(made, name, value)
        return made.with_labels(space)


def platt(margin: FloatArray, positive: BoolArray, weight: FloatArray) -> tuple[float, float]:
    """Slope and intercept of the log-odds given the margins of texts that were held out, by maximum likelihood.

    Platt's targets (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2) stand for yes and no: separable margins too have a finite slope.

    Parameters
    ----------
    margin : array (n_docs,)
    positive : boolean array (n_docs,)
    weight : array (n_docs,)
        How much each document counts.
    """
    yes, no = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (yes + 1.0) / (yes + 2.0), 1.0 / (no + 2.0))
    twice, answer = np.concatenate([margin, margin])[:, None], np.repeat([1, 0], len(margin))
    share = np.concatenate([weight * target, weight * (1.0 - target)])
    fit = LogisticRegression(C=1e10, tol=1e-8, max_iter=1_000).fit(twice, answer, sample_weight=share)
    slope = float(fit.coef_[0, 0])
    if slope < _LEAST_SLOPE:  # the margins tell nothing, so the base is that of all texts
        expected = float(weight @ target) / float(weight.sum())
        return _LEAST_SLOPE, float(special.logit(expected)) - _LEAST_SLOPE * float(weight @ margin / weight.sum())
    return slope, float(fit.intercept_[0])
