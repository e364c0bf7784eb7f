"""Base of all count models: statistics that add up, an estimate from them, a likelihood of documents.

Statistics are sums, or the documents themselves; both add up exactly. Sums of whole numbers are exact in floating
point, those of other numbers are not and depend on the order. What is summed is therefore rounded to multiples of 2⁻²⁴
first: such sums are exact up to 5·10⁸, so that learning in parts, in any order and on any number of machines gives the
same bits as learning all at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from scipy import sparse, special

from textbayes.core.array_fields import LARGEST, Array, Csr, Hyper
from textbayes.core.codec import TINY, Field, Flag, List, Null, Number, Text, Whole
from textbayes.core.errors import InputError
from textbayes.core.state import with_fields
from textbayes.core.types import AnyArray, FloatArray, IntArray, Matrix
from textbayes.core.validation import as_numbers, check_choice

GRID = 2.0**24


def on_grid(values: FloatArray) -> FloatArray:
    """Rounded to multiples of 2⁻²⁴, sums of which are exact.

    >>> values = on_grid(np.array([0.1, 0.2, 0.3]))
    >>> float(values[0] + values[1] + values[2]) == float(values[2] + values[1] + values[0])
    True
    """
    return np.rint(values * GRID) / GRID


def sums_by(places: AnyArray, values: FloatArray, n_places: int) -> FloatArray:
    """The sum of the values at each place."""
    return np.bincount(places, values, minlength=n_places).astype(np.float64, copy=False)


_NUMBER = Number(infinite=True)


def per_class_field(least: float = -LARGEST) -> Array:
    """The field of an estimate for every class and word (C, V), or of several such."""
    return Array(np.float64, (..., "n_classes", "n_features"), least=least)


class CountSums(NamedTuple):
    """Sums over the documents of each class.

    ``documents`` (C,) their number, ``words`` (C,) their length in words, ``counts`` (C, V) occurrences of each word,
    ``with_word`` (V,) the number of documents that have it, ``words_squared`` (C,) Σ ω² in thousands of words squared,
    ``squares`` (C, V) Σ x²/ω. The last three are empty where a model does not need them.
    """

    documents: FloatArray
    words: FloatArray
    counts: FloatArray
    with_word: FloatArray
    words_squared: FloatArray
    squares: FloatArray

    @property
    def exposure(self) -> FloatArray:
        """Thousands of words per class, (C,)."""
        return self.words / 1000.0


@with_fields(
    {
        "n_classes": Whole(1),
        "code": Array(np.int64, ("n_docs",), least=0, most=lambda sizes: sizes["n_classes"] - 1),
        "weight": Array(np.float64, ("n_docs",), least=0.0),
        "omega": Array(np.float64, ("n_docs",), least=0.0),
        "X": Csr(("n_docs", "n_features"), least=0.0, in_order=False),
    }
)
class DocumentStore(NamedTuple):
    """The documents themselves: rows of counts (CSR) with class, weight and length ω each, in order of arrival."""

    X: sparse.csr_matrix
    code: IntArray
    weight: FloatArray
    omega: FloatArray
    n_classes: int


def no_sums(n_classes: int, n_features: int, presence: bool = False, second: bool = False) -> CountSums:
    """The sums of no document."""
    per_class, table = np.zeros(n_classes), np.zeros((n_classes, n_features))
    return CountSums(
        per_class,
        per_class.copy(),
        table,
        np.zeros(n_features if presence else 0),
        np.zeros(n_classes if second else 0),
        np.zeros(table.shape if second else (0, 0)),
    )


def sums_of(
    X: sparse.csr_matrix, Y: Matrix, omega: FloatArray, presence: bool = False, second: bool = False
) -> CountSums:
    """The sums of documents X with weights Y (n_docs, C) and lengths ω in thousands of words.

    O(non-zeros of X × classes per document): Y is taken as a sparse matrix.
    """
    weights = sparse.csc_matrix(Y, dtype=np.float64)
    plain = bool((weights.data == 1.0).all())
    if plain and not _whole(X.data):
        X = sparse.csr_matrix((on_grid(X.data), X.indices, X.indptr), shape=X.shape)
    with_word, squares, words_squared = np.zeros(0), np.zeros((0, 0)), np.zeros(0)
    if presence:
        per_row = on_grid(np.asarray(weights.sum(axis=1)).ravel())
        with_word = sums_by(X.indices, np.repeat(per_row, np.diff(X.indptr)), X.shape[1])
    if second:
        per_row = np.repeat(1.0 / omega, np.diff(X.indptr))
        scaled = sparse.csr_matrix((X.data**2 * per_row, X.indices, X.indptr), shape=X.shape)
        squares, words_squared = _by_class(scaled, weights, True), _weighted(weights, omega**2)
    return CountSums(
        _weighted(weights, np.ones(X.shape[0])),
        _weighted(weights, 1000.0 * omega),
        _by_class(X, weights, not plain),
        with_word,
        words_squared,
        squares,
    )


def add_sums(first: CountSums, second: CountSums) -> CountSums:
    """The sums of the documents of both."""
    _check_shapes(first.counts.shape, second.counts.shape)
    return CountSums(*(a + b for a, b in zip(first, second, strict=True)))


def store_of(X: sparse.csr_matrix, Y: Matrix, omega: FloatArray) -> DocumentStore:
    """The documents with one row for each class that has weight in Y (n_docs, C)."""
    weights = sparse.csr_matrix(Y, dtype=np.float64)
    weights.eliminate_zeros()
    rows = np.repeat(np.arange(X.shape[0]), np.diff(weights.indptr))
    selected = X if len(rows) == X.shape[0] and (rows == np.arange(len(rows))).all() else X[rows]
    return DocumentStore(selected, weights.indices.astype(np.int64), weights.data, omega[rows], weights.shape[1])


def no_documents(n_classes: int, n_features: int) -> DocumentStore:
    """A store without a document."""
    X = sparse.csr_matrix((0, n_features), dtype=np.float64)
    return DocumentStore(X, np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0), n_classes)


def join_stores(first: DocumentStore, second: DocumentStore) -> DocumentStore:
    """The documents of both, the first's before the second's."""
    _check_shapes((first.n_classes, first.X.shape[1]), (second.n_classes, second.X.shape[1]))
    X = sparse.vstack([first.X, second.X], format="csr")
    code = np.concatenate([first.code, second.code])
    weight, omega = np.concatenate([first.weight, second.weight]), np.concatenate([first.omega, second.omega])
    return DocumentStore(X, code, weight, omega, first.n_classes)


def _weighted(weights: sparse.csc_matrix, values: FloatArray) -> FloatArray:
    """Σ_d weight·value per class, on the grid."""
    products = on_grid(weights.data * values[weights.indices])
    return np.asarray(sparse.csc_matrix((products, weights.indices, weights.indptr), weights.shape).sum(axis=0)).ravel()


def _by_class(X: sparse.csr_matrix, weights: sparse.csc_matrix, round_products: bool) -> FloatArray:
    """Σ_d weight·x per class and word, (C, V)."""
    if not round_products:
        return np.asarray((weights.T @ X).toarray())
    totals = np.zeros((weights.shape[1], X.shape[1]))
    lengths = np.diff(X.indptr)
    for c in range(weights.shape[1]):
        dense = np.zeros(X.shape[0])
        start, stop = weights.indptr[c], weights.indptr[c + 1]
        dense[weights.indices[start:stop]] = weights.data[start:stop]
        products = on_grid(X.data * np.repeat(dense, lengths))
        totals[c] = sums_by(X.indices, products, X.shape[1])
    return totals


def _whole(values: FloatArray) -> bool:
    return bool((values == np.rint(values)).all())


def _check_shapes(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    if first != second:
        raise InputError(
            f"statistics of {first[0]} classes and {first[1]} words cannot be combined with those of {second[0]} "
            f"classes and {second[1]} words; learn both with the same classes and the same vocabulary"
        )


Statistics = TypeVar("Statistics", bound=NamedTuple)
Estimate = TypeVar("Estimate", bound=NamedTuple)


class BaseCountModel(ABC, Generic[Statistics, Estimate]):
    """Counts of words in documents of known length, given the class of the document.

    A model is settings (a frozen dataclass) and pure functions. Statistics form a monoid: ``empty`` is its zero,
    ``combine`` its addition, and learning in parts, on several machines, or all at once is the same to the bit.
    Documents are CSR matrices of counts x (n_docs, V) with lengths ω (n_docs,) in thousands of words.
    """

    name: ClassVar[str]
    undeclared: ClassVar[Field] = (  # of a setting, as a model file keeps it
        Hyper(infinite=True) | Text(100) | Flag() | List(_NUMBER | List(_NUMBER), make=tuple) | Null()
    )
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


@with_fields({"rates": per_class_field(TINY)})
class Rates(NamedTuple):
    """Occurrences per thousand words, (C, V)."""

    rates: FloatArray


@with_fields({"rates": per_class_field(TINY), "deltas": per_class_field(0.0)})
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


def log_shares(counts: FloatArray, pseudo_counts: float | FloatArray) -> FloatArray:
    """Logarithms of the smoothed share of each word in the text of each class, ln[(N_wc + α)/Σ_v (N_vc + α)], (C, V).

    Naive Bayes: of a label against all others it is the difference of two of these, of its counts and of theirs.

    Parameters
    ----------
    counts : array (C, V)
        How often, or with what weight in sum, each class has each word.
    pseudo_counts : float or array (C, V)
    """
    shares = counts + pseudo_counts
    total = shares.sum(axis=1, keepdims=True)
    np.log(shares, out=shares)  # in place: classes × words may be many
    shares -= np.log(total)
    return shares


def pooled_rates(counts: FloatArray, exposure: FloatArray) -> FloatArray:
    """Each word's rate over all classes, with half an occurrence added so that no rate is zero, (V,)."""
    total = exposure.sum()
    if not total > 0.0:
        raise InputError("no document with words was learnt; a count model needs at least one")
    return (counts.sum(axis=0) + 0.5) / total


def row_sums(X: sparse.csr_matrix, values: FloatArray) -> FloatArray:
    """Per document the sum of one value for each of its words."""
    return sums_by(np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), values, X.shape[0])


class SummedModel(BaseCountModel[CountSums, Estimate]):
    """A model of Σ_d x_d and Σ_d ω_d per class; ``presence`` where it also needs how many documents have each word."""

    @property
    def presence(self) -> bool:
        return False

    def empty(self, n_classes: int, n_features: int) -> CountSums:
        return no_sums(n_classes, n_features, presence=self.presence)

    def statistics(self, X: sparse.csr_matrix, Y: Matrix, omega: FloatArray) -> CountSums:
        return sums_of(X, Y, omega, presence=self.presence)

    def combine(self, first: CountSums, second: CountSums) -> CountSums:
        return add_sums(first, second)


WEIGHTINGS = ("counts", "tfidf")


def check_weighting(weighting: str) -> None:
    """Refuse a weighting that there is not."""
    check_choice("weighting", weighting, WEIGHTINGS)


class WeighedModel(SummedModel[Estimate]):
    """A model with pseudo-counts that may weigh the evidence of words; both are fields of the models themselves."""

    pseudo_counts: Any
    weighting: str

    def __post_init__(self) -> None:
        check_weighting(self.weighting)
        positive(self.pseudo_counts, "pseudo_counts")

    @property
    def presence(self) -> bool:
        return self.weighting == "tfidf"


def word_weights(weighting: str, stats: CountSums) -> FloatArray:
    """1 for ``"counts"``; for ``"tfidf"`` ln((N + 1)/(n_w + 1)), n_w of N documents having the word; (V,).

    Counts times this are the TF-IDF weights of "scaled" naive Bayes. They need no second reading of the documents, so a
    model that learns in parts has them too. For weights of unit length, weigh the counts with ``TermWeighting`` first.
    """
    if weighting == "counts":
        return np.ones(stats.counts.shape[1])
    return np.log((stats.documents.sum() + 1.0) / (stats.with_word + 1.0))
