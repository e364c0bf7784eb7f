"""Gaussian posteriors of all labels: standard errors, variances of predictors, state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from textbayes.core.errors import InputError, ModelFileError, NotSupportedError
from textbayes.core.state import part_of, under
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.posterior.gaussian_forms import DualForm, PrimalForm, form_from_state, form_state

LARGEST = 2000  # rows of a label's matrix: a second or two of work


class GaussianApproximation:
    """Per label a Gaussian for the active words and the intercept; the other words stay at their prior means.

    Attributes
    ----------
    forms : the covariance of each label, see ``_gaussian_forms.py``
    n_features : int
    log_det : array (n_labels,)
        Logarithm of the determinant of each precision matrix.
    exact : array (n_labels,) of bool
        False where there were too many documents and some are summed up by their mean and the spread around it.
    """

    def __init__(self, forms: list[PrimalForm | DualForm], n_features: int) -> None:
        self.forms, self.n_features = forms, n_features

    def __repr__(self) -> str:
        sizes = [len(form.columns) for form in self.forms]
        return f"GaussianApproximation({len(sizes)} labels, {min(sizes)} to {max(sizes)} active words)"

    @property
    def log_det(self) -> FloatArray:
        return np.array([form.log_det for form in self.forms])

    @property
    def exact(self) -> BoolArray:
        return np.array([form.exact for form in self.forms])

    def standard_errors(self) -> tuple[FloatArray, FloatArray]:
        """Posterior standard deviations of the weights (n_labels, n_features) and of the intercepts (n_labels,).

        NaN for a word that is held, by a kink at its prior mean, by a sign at 0 or because the label may not use it: no
        Gaussian describes it. 0 for an intercept that is held or not there.
        """
        words, intercepts = np.full((len(self.forms), self.n_features), np.nan), np.empty(len(self.forms))
        for label, form in enumerate(self.forms):
            words[label, form.columns], intercepts[label] = form.standard_errors()
        return words, intercepts

    def mean_shifts(self) -> tuple[FloatArray, FloatArray]:
        """Estimates of mean − mode of the weights (n_labels, n_features) and of the intercepts (n_labels,).

        0 where none was asked for, or none can be had, see ``laplace_approximation``.
        """
        words, intercepts = np.zeros((len(self.forms), self.n_features)), np.zeros(len(self.forms))
        for label, form in enumerate(self.forms):
            if isinstance(form, PrimalForm):
                size = len(form.columns)
                words[label, form.columns] = form.shift[:size]
                intercepts[label] = form.shift[size:].sum()
        return words, intercepts

    def variance(self, X: Any) -> FloatArray:
        """Variance of eta = x'w + b, (n_docs, n_labels), for documents X (n_docs, n_features), sparse or dense.

        A document costs its active words times the size of a label's matrix.
        """
        columns = sparse.csc_matrix(X, dtype=np.float64)
        if columns.shape[1] != self.n_features:
            raise InputError(f"X has {columns.shape[1]} features; the approximation is of {self.n_features}")
        out = np.empty((columns.shape[0], len(self.forms)))
        for label, form in enumerate(self.forms):
            out[:, label] = form.variance(columns)
        return np.maximum(out, 0.0)  # rounding

    def covariance(self, label: int) -> tuple[IntArray, FloatArray]:
        """The active words of a label, and the covariance (1 + n_words, 1 + n_words), the intercept first.

        What ``online.full_from_batch`` goes on from.
        """
        form = self.forms[label]
        if len(form.columns) > LARGEST:
            raise NotSupportedError(
                f"label {label} has {len(form.columns)} active words, too many for a matrix of all pairs; use "
                "standard_errors, or variance of the documents in question"
            )
        return form.columns, form.covariance()

    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """A JSON-able description and named arrays."""
        described: list[dict[str, Any]] = []
        arrays: dict[str, AnyArray] = {}
        for label, form in enumerate(self.forms):
            meta, parts = form_state(form)
            described.append(meta)
            arrays |= under(str(label), parts)
        return {"n_features": self.n_features, "labels": described}, arrays

    @classmethod
    def from_state(cls, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> GaussianApproximation:
        """The approximation a state was taken from; what does not fit together is refused."""
        n_features, forms = int(meta["n_features"]), []
        try:
            for label, described in enumerate(meta["labels"]):
                forms.append(form_from_state(described, part_of(arrays, str(label)), n_features))
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"the model's intervals are damaged ({error}); was the file altered?") from error
        return cls(forms, n_features)
