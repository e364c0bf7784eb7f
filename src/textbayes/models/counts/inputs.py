"""Inputs of a count classifier, checked and brought into one form: counts, lengths, labels, model, and constants."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse, special
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from textbayes.core.cross_validation import Folds, over_folds
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.folds import label_seen
from textbayes.core.labels import LabelSpace, encode_labels
from textbayes.core.types import AnyArray, FloatArray, IntArray, Matrix
from textbayes.core.validation import as_numbers, canonical, check_choice, check_same_length, refuse_texts, writable
from textbayes.lexical.exposures import check_lengths
from textbayes.models.counts import make_count_model
from textbayes.models.counts.base import BaseCountModel
from textbayes.models.counts.hierarchy import Sampling

_SHORTEST = 1e-9  # ω of a document without a known word whose length was not given: it then says nothing


def checked_counts(estimator: Any, X: Matrix | ArrayLike, reset: bool) -> sparse.csr_matrix:
    """X as CSR of non-negative float64 without duplicates or stored zeros; what came in is not changed."""
    refuse_texts(X)
    checked = writable(validate_data(estimator, X, accept_sparse="csr", dtype=np.float64, reset=reset))
    rows: sparse.csr_matrix = canonical(sparse.csr_matrix(checked), zeros=False)
    if rows.nnz and rows.data.min() < 0.0:
        raise InputError(
            f"Negative values in data passed to {type(estimator).__name__}: the least is {rows.data.min():g}; pass "
            "counts"
        )
    return rows


def checked_lengths(X: sparse.csr_matrix, lengths: Any) -> FloatArray:
    """Lengths in thousands of words; 0 is an empty document, of which nothing may be counted."""
    if lengths is None:
        return np.maximum(np.asarray(X.sum(axis=1)).ravel() / 1000.0, _SHORTEST)
    return check_lengths(lengths, X)


def one_label_each(X: sparse.csr_matrix, y: Any) -> AnyArray:
    """Labels as a vector, one for each document; several per document are refused, and another number of them."""
    if y is None:
        raise InputError("requires y to be passed, but the target y is None; pass one label per document")
    several = (list, tuple, set, frozenset)
    if sparse.issparse(y) or (isinstance(y, (list, tuple)) and any(isinstance(label, several) for label in y)):
        raise NotSupportedError("several labels per document were given; a count model knows one class per document")
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind == "f":
        if np.isnan(labels).any():
            raise InputError("y has labels that are NaN; leave out documents without a label, or give them one")
        check_classification_targets(labels)
    check_same_length(X, "X", labels, "y")
    return np.asarray(labels)


def encode_classes(labels: AnyArray, classes: list[Any] | None) -> tuple[IntArray, LabelSpace]:
    """The position of each label among the classes; only different labels are looked at one by one."""
    try:
        found, codes = np.unique(labels, return_inverse=True)
    except TypeError:  # labels of several types do not sort: refused below, with a sentence
        found, codes = labels, np.arange(len(labels))
    space = encode_labels(found, classes)[1]
    position = {name: k for k, name in enumerate(space.classes.tolist())}
    places = np.array([position[name] for name in found.tolist()], dtype=np.int64)
    return places[codes.ravel()], space


def weighted_indicator(codes: IntArray, weight: FloatArray | None, n_classes: int) -> sparse.csr_matrix:
    """The indicator of the classes (n_docs, C) times the documents' weights."""
    n_docs = len(codes)
    data = np.ones(n_docs) if weight is None else weight
    Y = sparse.csr_matrix((data, codes, np.arange(n_docs + 1)), shape=(n_docs, n_classes))
    Y.eliminate_zeros()
    return Y


_PREDICTIONS = ("mode", "mean", "integrated")


def made_model(
    model: Any, beta: Any, prediction: str, random_state: Any, n_jobs: int | None
) -> BaseCountModel[Any, Any]:
    """The count model that the parameters of a classifier describe.

    Parameters
    ----------
    model, beta, prediction, random_state, n_jobs
        As of :class:`~textbayes.models.counts.classifier.BayesCountClassifier`.
    """
    check_choice("prediction", prediction, _PREDICTIONS)
    made = make_count_model(model)
    if beta is None and isinstance(model, str) and hasattr(made, "beta"):
        beta = "auto"
    changes: dict[str, Any] = {}
    if beta is not None:
        changes["beta"] = "auto" if isinstance(beta, str) and beta == "cv" else beta
    if prediction != "mode":
        given = getattr(made, "sampling", None) or Sampling(random_state=int(random_state), n_jobs=n_jobs)
        changes["sampling"] = replace(given, integrate=prediction == "integrated")
    unknown = [name for name in changes if not hasattr(made, name)]
    if unknown:
        what = "constants beta" if unknown[0] == "beta" else f"prediction={prediction!r}"
        raise NotSupportedError(
            f"count model {made.name!r} has no {what}; leave it out, or use one of the Dirichlet models"
        )
    return replace(made, **changes) if changes else made


def log_class_prior(class_prior: Any, count: FloatArray) -> FloatArray:
    """Logarithms of p(c): shares of the documents of each class, equal, or given.

    Parameters
    ----------
    class_prior : {"counts", "uniform"} or array (n_classes,)
    count : array (n_classes,)
        Documents of each class.
    """
    n_classes = len(count)
    if isinstance(class_prior, str):
        check_choice("class_prior", class_prior, ("counts", "uniform"))
        if class_prior == "uniform":
            return np.full(n_classes, -np.log(n_classes))
        if not count.all():  # half a document each, where a class has none yet
            count = count + 0.5
        return np.log(count / count.sum())
    given = as_numbers(class_prior, "class_prior")
    if given.shape != (n_classes,) or not (given > 0.0).all() or not np.isclose(given.sum(), 1.0):
        raise InputError(
            f"class_prior={class_prior!r} is not usable; pass {n_classes} positive numbers that add up to 1"
        )
    return np.log(given)


FIRST = (1.0, 3.0, 10.0, 30.0)
SECOND = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0)  # times the thousands of words of a class


def choose_beta(
    model: Any,
    X: sparse.csr_matrix,
    Y: Matrix,
    omega: FloatArray,
    log_prior: FloatArray,
    cv: int = 5,
    random_state: int = 0,
    groups: Iterable[Hashable] | None = None,
) -> BaseCountModel[Any, Any]:
    """The model with the β₁, β₂ of the least held-out log-loss: first β₂ along its grid, then β₁, then β₂ again.

    β₃ to β₅ keep their values. Statistics of the folds are added up, not read again. Y (n_docs, C) is an
    indicator times the documents' weights, ``log_prior`` (C,) what is known of the classes beforehand.

    Parameters
    ----------
    model : a Dirichlet count model
    X : sparse matrix (n_docs, n_features)
    Y : matrix (n_docs, n_classes)
        An indicator of the classes times the documents' weights.
    omega : array (n_docs,)
        Lengths in thousands of words.
    log_prior : array (n_classes,)
    cv, random_state : int
        Folds and how they are drawn.
    groups : sequence of n_docs values, optional
        Documents of one group share a fold.
    """
    if not hasattr(model, "beta"):
        raise NotSupportedError(f"count model {model.name!r} has no constants β to choose; leave beta at its default")
    weights = sparse.csr_matrix(Y)
    codes, weight = np.asarray(weights.argmax(axis=1)).ravel(), np.asarray(weights.sum(axis=1)).ravel()
    used = weight > 0.0
    sizes = np.bincount(codes[used])
    smallest = int(sizes[sizes > 0].min())  # a class that a fold of an outer cross-validation lacks tells nothing
    if smallest < 2:
        raise InputError("a class has fewer than two documents, so that β cannot be cross-validated; use beta='auto'")
    indicator = codes[:, None] == np.arange(weights.shape[1])
    folds = Folds.stratified(indicator, min(cv, smallest), random_state, groups)
    tests = [folds.split(k)[1] for k in range(folds.n)]
    # Documents of classes that the other folds lack do not count: nothing has been learnt of them.
    weight = weight * label_seen(indicator, folds.number)[np.arange(len(codes)), codes]
    plain = replace(model, sampling=None)
    parts = [plain.statistics(X[test], weights[test], omega[test]) for test in tests]
    others = [reduce(plain.combine, parts[:k] + parts[k + 1 :]) for k in range(folds.n)]
    exposure = float(np.asarray(weights.T @ omega).mean())
    rest = () if isinstance(plain.beta, str) else tuple(plain.beta)[2:]

    def held_out_loss(pair: tuple[float, float], k: int) -> float:
        """Σ weight·(−ln p(class | document)) of one fold, learnt from all others."""
        trial, test = replace(plain, beta=(pair[0], pair[1] * exposure, *rest)), tests[k]
        scores = trial.class_scores(X[test], omega[test], trial.estimate(others[k])) + log_prior
        log_proba = special.log_softmax(scores, axis=1)
        return float(-(weight[test] * log_proba[np.arange(len(scores)), codes[test]]).sum())

    known: dict[tuple[float, float], float] = {}

    def best_of(pairs: list[tuple[float, float]]) -> tuple[float, float]:
        new = [pair for pair in pairs if pair not in known]
        for pair, _, loss in over_folds(held_out_loss, folds, new):
            known[pair] = known.get(pair, 0.0) + loss
        return min(pairs, key=known.__getitem__)

    best = (10.0, 1.0)
    for _ in range(2):
        best = best_of([(best[0], two) for two in SECOND])
        best = best_of([(one, best[1]) for one in FIRST])
    return replace(model, beta=(best[0], best[1] * exposure, *rest))
