"""Base of all count models: statistics that add up, an estimate from them, a likelihood of documents."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from scipy import sparse, special

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, FloatArray, Matrix
from textbayes.core.validation import as_numbers
from textbayes.models.counts.statistics import sums_by

Statistics = TypeVar("Statistics", bound=NamedTuple)
Estimate = TypeVar("Estimate", bound=NamedTuple)


class BaseCountModel(ABC, Generic[Statistics, Estimate]):
    """Counts of words in documents of known length, given the class of the document.

    A model is settings (a frozen dataclass) and pure functions. Statistics form a monoid: ``empty`` is its zero,
    ``combine`` its addition, and learning in parts, on several machines, or all at once is the same to the bit.
    Documents are CSR matrices of counts x (n_docs, V) with lengths ω (n_docs,) in thousands of words.
    """

    name: ClassVar[str]
    estimate_class: ClassVar[type]
    __dataclass_fields__: ClassVar[dict[str, Any]]

    @abstractmethod
    def empty(self, n_classes: int, n_features: int) -> Statistics:
        """Statistics of no document."""

    @abstractmethod
    def statistics(self, X: sparse.csr_matrix, Y: Matrix, omega: FloatArray) -> Statistics:
        """Statistics of documents with weights Y (n_docs, C), an indicator of the classes times the documents' weights.

        Parameters
        ----------
        X : sparse matrix (n_docs, V)
        Y : matrix (n_docs, C)
        omega : array (n_docs,)
            Lengths in thousands of words.
        """

    @abstractmethod
    def combine(self, first: Statistics, second: Statistics) -> Statistics:
        """Statistics of the documents of both."""

    def accumulate(self, stats: Statistics, X: sparse.csr_matrix, Y: Matrix, omega: FloatArray) -> Statistics:
        """Statistics after more documents."""
        return self.combine(stats, self.statistics(X, Y, omega))

    @abstractmethod
    def estimate(self, stats: Statistics) -> Estimate:
        """The parameters of every class and word."""

    @abstractmethod
    def class_scores(self, X: sparse.csr_matrix, omega: FloatArray, estimate: Estimate) -> FloatArray:
        """Scores ln p(document | class) up to a constant of the document, (n_docs, C): what a prediction needs.

        Parameters
        ----------
        X : sparse matrix (n_docs, V)
        omega : array (n_docs,)
            Lengths in thousands of words.
        estimate : Estimate
            The model's parameters.
        """

    def log_likelihood(self, X: sparse.csr_matrix, omega: FloatArray, estimate: Estimate) -> FloatArray:
        """Log-likelihood ln p(document | class), (n_docs, C), for models that are distributions of whole counts.

        Parameters
        ----------
        X, omega, estimate
            As for :meth:`class_scores`.
        """
        return self.class_scores(X, omega, estimate) + self.constant(X, omega)[:, None]

    def constant(self, X: sparse.csr_matrix, omega: FloatArray) -> FloatArray:
        """Terms of the log-likelihood that ``class_scores`` leaves out; for rates Σ_w [x ln ω − ln x!]."""
        per_value = X.data * np.repeat(np.log(omega), np.diff(X.indptr)) - special.gammaln(X.data + 1.0)
        return row_sums(X, per_value)


class Rates(NamedTuple):
    """Occurrences per thousand words, (C, V)."""

    rates: FloatArray


class Dispersed(NamedTuple):
    """Occurrences per thousand words and extra variability, both (C, V): variance ωμ(1 + ωδ)."""

    rates: FloatArray
    deltas: FloatArray


def rate_scores(X: sparse.csr_matrix, omega: FloatArray, rates: FloatArray) -> FloatArray:
    """Σ_w [x ln μ − ωμ], the Poisson's log-likelihood up to a constant of the document; O(non-zeros × classes)."""
    return np.asarray(X @ np.log(rates).T) - omega[:, None] * rates.sum(axis=1)


def positive(values: Any, name: str, zero: bool = False) -> FloatArray:
    """Numbers above zero, or from zero on, as a float array."""
    array = as_numbers(values, name)
    low = array.min() if array.size else 1.0
    if not np.isfinite(array).all() or low < 0.0 or (low == 0.0 and not zero):
        raise InputError(f"{name}={values!r} is not usable; pass {'numbers from 0 on' if zero else 'positive numbers'}")
    return array


def per_class_and_word(values: Any, name: str, n_classes: int, n_features: int, zero: bool = False) -> FloatArray:
    """A scalar, one value per word (V,) or a row per class (C, V) or (C, 1) as an array (C, V)."""
    array = positive(values, name, zero)
    try:
        return np.broadcast_to(array, (n_classes, n_features))
    except ValueError:
        raise InputError(
            f"{name} has shape {array.shape}; pass a number, one per word ({n_features},) or one row per class "
            f"{(n_classes, n_features)}"
        ) from None


def pooled_rates(counts: FloatArray, exposure: FloatArray) -> FloatArray:
    """Each word's rate over all classes, with half an occurrence added so that no rate is zero, (V,)."""
    total = exposure.sum()
    if not total > 0.0:
        raise InputError("no document with words was learnt; a count model needs at least one")
    return (counts.sum(axis=0) + 0.5) / total


def settings_of(model: BaseCountModel[Any, Any]) -> dict[str, Any]:
    """The settings of a model, as they were given."""
    return {name: getattr(model, name) for name in model.__dataclass_fields__}


def estimate_arrays(estimate: Any) -> dict[str, AnyArray]:
    """The arrays of an estimate by name."""
    return {name: np.asarray(value) for name, value in estimate._asdict().items() if value is not None}


def row_sums(X: sparse.csr_matrix, values: FloatArray) -> FloatArray:
    """Per document the sum of one value for each of its words."""
    return sums_by(np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), values, X.shape[0])
