"""Linear models of many labels fitted to a matrix in files, a few labels at a time.

The solvers are those of matrices in memory and see the same numbers, so that weights are the same to the bit. What they
keep for every document (the predictor and its derivatives) is kept for the labels of one group only, and copies of the
matrix that are larger than ``limited_working_memory`` allows are files: memory hardly grows with the documents.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from textbayes.core.errors import NotSupportedError
from textbayes.core.machine import limited_working_memory, n_threads
from textbayes.core.progress import Progress, silent
from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.inference import samples
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.tune import BayesLinearClassifierCV

MEMORY = 1 << 30  # bytes for what a fit keeps of documents, and as many for copies that save time
_PER_DOCUMENT = 120  # bytes that a label takes for each document while it is fitted
_MOST_LABELS = 32
_BY_LABEL = ("scale", "mean", "sign", "intercept_scale", "intercept_mean")
_INFERENCES = ("coordinate", "newton")


def check_out_of_core(estimator: Any) -> None:
    """Refuse a linear model that cannot be fitted without the whole matrix in memory."""
    name = estimator.inference if isinstance(estimator.inference, str) else estimator.inference.name
    way = "train in memory (without --out-of-core)"
    if samples(estimator.inference) or name not in _INFERENCES:
        raise NotSupportedError(
            f"inference {name!r} keeps the matrix in memory; use inference 'coordinate' or 'newton', or {way}"
        )
    if isinstance(estimator, BayesLinearClassifierCV):
        raise NotSupportedError(f"a search for scales keeps the matrix in memory; give a scale, or {way}")
    for setting in ("intervals", "word_scales", "warm_start"):
        if getattr(estimator, setting):
            raise NotSupportedError(f"{setting} needs the matrix in memory; leave it out, or {way}")


def fit_in_groups(
    estimator: BayesLinearClassifier,
    X: Any,
    indicator: BoolArray,
    sample_weight: FloatArray | None = None,
    memory: int = MEMORY,
    report: Progress | None = None,
    folder: Path | None = None,
) -> BayesLinearClassifier:
    """A fitted copy of a linear classifier, one regression for each column of the indicator.

    Parameters
    ----------
    estimator : BayesLinearClassifier
    X : CSC matrix (n_docs, n_features) of float64
        In memory or in files (``columns_on_disk``).
    indicator : boolean array (n_docs, n_columns)
        In memory or mapped from a file.
    sample_weight : array (n_docs,), optional
    memory : int
        Bytes for what is kept of the documents, and as many for copies that save time.
    report : Progress, optional
    folder : Path, optional
        Where copies that take more are files; that of temporary files if not given.
    """
    check_out_of_core(estimator)
    n_docs, n_columns = indicator.shape
    n_jobs = n_threads(estimator.n_jobs)
    group = int(np.clip(memory // (_PER_DOCUMENT * n_docs), min(n_jobs, n_columns), _MOST_LABELS))
    n_groups = -(-n_columns // group)
    ends = [n_columns * k // n_groups for k in range(n_groups + 1)]
    fitted: list[BayesLinearClassifier] = []
    report = report or silent
    for first, last in pairwise(ends):
        report("labels", first, n_columns)
        own = clone(estimator).set_params(**_settings_of(estimator, slice(first, last), n_columns))
        labels = sparse.csr_matrix(indicator[:, first:last])  # not a vector, whatever their number
        with limited_working_memory(memory // n_jobs, folder):  # of each group, whose threads have files of their own
            fitted.append(own.fit(X, labels, sample_weight=sample_weight))
    report("labels", n_columns, n_columns)
    return _joined(fitted, estimator)


def _settings_of(estimator: BayesLinearClassifier, labels: slice, n_columns: int) -> dict[str, Any]:
    """Hyperparameters of some labels, where there is a row for each."""
    found = {}
    for name in _BY_LABEL:
        value = getattr(estimator, name)
        if isinstance(value, np.ndarray) and _one_per_label(value, name, n_columns):
            found[name] = value[labels]
    if not isinstance(estimator.prior, str):
        raise NotSupportedError("a prior given as an object is not taken out of core; name it, such as prior='laplace'")
    return found


def _one_per_label(value: AnyArray, name: str, n_columns: int) -> bool:
    rows = 1 if name.startswith("intercept") else 2
    return value.ndim == rows and len(value) == n_columns


def _joined(fitted: list[BayesLinearClassifier], estimator: BayesLinearClassifier) -> BayesLinearClassifier:
    """One classifier of the labels of several; its classes are the numbers of the columns."""
    whole: BayesLinearClassifier = clone(estimator)
    info = [one.fit_info_ for one in fitted]
    whole.fit_info_ = type(info[0])(*(np.concatenate(parts) for parts in zip(*info, strict=True)))
    coef = np.concatenate([one.coef_ for one in fitted])
    whole.coef_ = np.ascontiguousarray(coef.T).T  # word by word, as a fit leaves it
    whole.intercept_ = np.concatenate([one.intercept_ for one in fitted])
    whole.label_space_ = fitted[0].label_space_._replace(classes=np.arange(len(coef)))
    whole.classes_, whole.n_features_in_ = whole.label_space_.classes, fitted[0].n_features_in_
    whole.n_iter_ = max(one.n_iter_ for one in fitted)
    whole.link_, whole.held_scale_ = fitted[0].link_, whole._typical_scale()
    whole.draws_ = whole.approximation_ = whole.standard_errors_ = None
    return whole
