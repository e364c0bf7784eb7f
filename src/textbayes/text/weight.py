"""Term weighting: counts to the numbers that models see."""

from __future__ import annotations

import operator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from textbayes.core.array_fields import Array
from textbayes.core.codec import Fields, Null
from textbayes.core.errors import InputError
from textbayes.core.fitting import all_or_nothing
from textbayes.core.types import FloatArray, IntArray, Matrix
from textbayes.core.validation import check_choice
from textbayes.text import weightings
from textbayes.text.base import SparseOutput, as_configured, check_sparse
from textbayes.text.term_weights import (
    SCHEMES,
    TELLING,
    WEIGHED,
    WEIGHTING,
    Entries,
    check_idf,
    frequencies_of,
    idf_of,
    weigh,
)


@weightings.register("words")
class TermWeighting(SparseOutput, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Weigh counts: a term weight times an inverse document frequency, then each document to length one or not.

    ========== ===================== ====================================
    scheme     weight of count tf    idf of a word in n_i of N documents
    ========== ===================== ====================================
    "raw"      tf                    1
    "binary"   1                     1
    "log"      1 + ln tf             1
    "ltc"      1 + log₂ tf           log₂(N / n_i), 0 if n_i = 0
    "tfidf"    1 + ln tf             ln((N + 1) / (n_i + 1))
    "tfidf1"   1 + ln tf             1 + ln((N + 1) / (n_i + 1))
    ========== ===================== ====================================

    N and n_i are those of the training documents, so new documents do not move the weights of old ones.

    Parameters
    ----------
    scheme : {"raw", "binary", "log", "ltc", "tfidf", "tfidf1"}, default="log"
    norm : {"cosine", None}, default="cosine"
        "cosine" divides each document by its Euclidean length; a document without weight stays zero.

    Attributes
    ----------
    idf_ : ndarray of shape (n_features,)
        Ones for the schemes without one.
    n_docs_ : int
        N, the number of training documents.
    document_frequency_ : ndarray of shape (n_features,) or None
        n_i, the number of them that have each word; None of a model file that does not say.

    Notes
    -----
    No idf is negative, as n_i ≤ N. It is 0, and the word gone from every document, when all training documents have the
    word, in "ltc" and "tfidf"; in "ltc" also when none has. In "tfidf" a word that no training document has weighs
    most, ln(N + 1). "tfidf1" keeps common words: it is scikit-learn's ``TfidfVectorizer(sublinear_tf=True)``. Zero
    weights are not stored.

    Counts must be finite and not negative. A tf below 1, which no count is, has the weight the formula gives: less
    than 1, and negative below 1/e (1/2 in "ltc").

    O(non-zeros) time; the input is not changed.

    References
    ----------
    "ltc": Salton & Buckley (1988), Term-weighting approaches in automatic text retrieval. "tfidf": the smoothed form of
    the fully Bayesian sparse probit paper (gibbs), \|R\| = N.

    Examples
    --------
    >>> from scipy import sparse
    >>> counts = sparse.csr_matrix([[4, 1, 0], [0, 1, 1]])
    >>> TermWeighting("ltc", norm=None).fit_transform(counts).toarray().tolist()
    [[3.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """

    name: ClassVar[str] = "words"
    fields: ClassVar[Fields] = WEIGHTING

    def __init__(self, scheme: str = "log", norm: str | None = "cosine") -> None:
        self.scheme = scheme
        self.norm = norm

    @all_or_nothing
    def fit(self, X: Matrix | ArrayLike, y: Any = None) -> Self:
        """Learn the document frequencies of X (n_docs, n_features); ``y`` is not used."""
        self._check_parameters()
        X = self._checked(X, reset=True)
        return self.fit_frequencies(np.bincount(X.indices, minlength=X.shape[1]), int(X.shape[0]))

    @all_or_nothing
    def fit_frequencies(self, document_frequency: IntArray, n_docs: int) -> Self:
        """Take over document frequencies that were counted before, a part of the documents at a time.

        Parameters
        ----------
        document_frequency : array (n_features,)
            Number of documents that have each word.
        n_docs : int
        """
        self._check_parameters()
        self.n_docs_, self.n_features_in_ = n_docs, len(document_frequency)
        self.document_frequency_: IntArray | None = np.asarray(document_frequency, dtype=np.int64)
        self.idf_ = idf_of(self.scheme, document_frequency, n_docs)
        return self

    def transform(self, X: Matrix | ArrayLike) -> sparse.csr_matrix:
        """Weights as a float64 CSR matrix."""
        check_is_fitted(self)
        self._check_parameters()
        check_sparse(self, X)
        given, X = X, self._checked(X, reset=False)
        weights = weigh(Entries(X.data, X.indices, X.indptr), self.scheme, self.norm, self.idf_)
        return as_configured(self, sparse.csr_matrix(tuple(weights), shape=X.shape), given)

    @property
    def learnt(self) -> Fields:
        """What a model file keeps of the texts."""
        if self.scheme in TELLING:
            return WEIGHED
        most = operator.itemgetter("n_docs_")
        return {**WEIGHED, "document_frequency_": Array(np.int64, ("n_features",), least=0, most=most) | Null()}

    def check_state(self) -> None:
        """Refuse an idf of a file that no word can have, and find what follows from it."""
        if hasattr(self, "idf_"):
            check_idf(self.scheme, self.n_docs_, self.idf_)
            self.n_features_in_ = len(self.idf_)
            if self.scheme in TELLING:
                self.document_frequency_ = frequencies_of(self.scheme, self.idf_, self.n_docs_)

    def mean_weights(self) -> FloatArray | None:
        """Weight of each word in the training documents on average, were all as long as the usual one.

        n_i/N of the documents have the word, once, and the length of one is that of the mean of squares over all; None
        where the document frequencies are not known.
        """
        check_is_fitted(self)
        if self.document_frequency_ is None:
            return None
        mean = self.document_frequency_ / self.n_docs_ * self.idf_
        if self.norm == "cosine":
            mean /= max(float(np.sqrt(mean @ self.idf_)), 1e-300)
        return np.asarray(mean)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    def _check_parameters(self) -> None:
        check_choice("scheme", self.scheme, SCHEMES)
        check_choice("norm", self.norm, ("cosine", None))

    def _checked(self, X: Matrix | ArrayLike, reset: bool) -> sparse.csr_matrix:
        """The counts as a float64 CSR matrix of our own, without stored zeros or duplicates."""
        # No document at all is fine to weigh, though nothing can be learnt from it.
        least = 1 if reset else 0
        if not self._is_checked(X, reset):
            X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset, ensure_min_samples=least)
        X = sparse.csr_matrix(X, dtype=np.float64, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        self._check_signs(X)
        return X

    def _is_checked(self, X: Any, reset: bool) -> bool:
        """Whether scikit-learn's checks, which take longer than to weigh a hundred texts, would find nothing."""
        return (
            isinstance(X, sparse.csr_matrix)
            and X.dtype.kind in "biuf"
            and min(X.shape) > 0
            and (reset or X.shape[1] == self.n_features_in_)
            and not hasattr(self, "feature_names_in_")
            and bool(np.isfinite(X.data).all())
        )

    def _check_signs(self, X: sparse.csr_matrix) -> None:
        """Refuse what no count can be."""
        if X.nnz and X.data.min() < 0:
            raise InputError(
                f"Negative values in data passed to {type(self).__name__}: the least is {X.data.min():g}; pass counts"
            )
