"""Schemes of term weighting as functions of matrices; ``TermWeighting`` is their estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from textbayes.core.array_fields import Array
from textbayes.core.codec import Choice, Field, Whole
from textbayes.core.types import AnyArray, FloatArray, IntArray

SCHEMES = ("raw", "binary", "log", "ltc", "tfidf", "tfidf1")
TELLING = ("ltc", "tfidf", "tfidf1")  # the idf says how many documents have a word


class Entries(NamedTuple):
    """The stored numbers of a matrix row by row, as a CSR matrix has them, without what SciPy adds to each step."""

    data: AnyArray
    indices: AnyArray
    indptr: AnyArray

    @property
    def rows(self) -> IntArray:
        """The row of each number."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))


def stack_rows(parts: Sequence[Entries]) -> Entries:
    """The rows of one matrix and then those of the next."""
    if len(parts) == 1:
        return parts[0]
    data, indices, starts = zip(*parts, strict=True)
    before = np.cumsum([0, *(one[-1] for one in starts)])
    ends = [one[1:] + n for one, n in zip(starts, before[:-1], strict=True)]
    return Entries(np.concatenate(data), np.concatenate(indices), np.concatenate([[0], *ends]))


def weigh(counts: Entries, scheme: str, norm: str | None, idf: FloatArray) -> Entries:
    """Weights of counts; zeros are not stored.

    Parameters
    ----------
    counts : Entries
        Of floats, none of them zero.
    scheme, norm
        As for ``TermWeighting``.
    idf : array (n_features,)
    """
    _, indices, indptr = counts
    data, rows = term_weight(scheme, counts.data) * idf[indices], counts.rows
    stored = data != 0.0
    if not stored.all():
        data, indices, rows = data[stored], indices[stored], rows[stored]
        indptr = np.concatenate([[0], np.cumsum(stored)])[indptr].astype(indptr.dtype)
    if norm == "cosine":
        # Scaled by the largest weight first: squares of very large or small weights would leave the floats.
        sizes = np.diff(indptr)
        begins = indptr[:-1][sizes > 0]
        if len(begins):
            scaled = data / np.repeat(np.maximum.reduceat(np.abs(data), begins), sizes[sizes > 0])
            data = scaled / np.repeat(np.sqrt(np.bincount(rows, scaled**2, minlength=len(sizes))), sizes)
    return Entries(data, indices, indptr)


WEIGHTING: dict[str, Field] = {"scheme": Choice(*SCHEMES), "norm": Choice("cosine", None)}
WEIGHED: dict[str, Field] = {"n_docs_": Whole(1), "idf_": Array(np.float64, ("n_features",))}  # what is learnt of texts


def check_idf(scheme: str, n_docs: int, idf: FloatArray) -> None:
    """Refuse the idf of a model file that no word can have with so many documents."""
    # The idf of a word in all documents, and in none or one, and a little for rounding.
    ends = idf_of(scheme, np.array([n_docs, 0, 1]), n_docs)
    least, most = float(ends.min()) - 1e-9, float(ends.max()) + 1e-9
    if not ((idf >= least) & (idf <= most)).all():
        raise ValueError(f"with {n_docs} documents an idf is from {least:.3g} to {most:.3g}, and one is not")


def term_weight(scheme: str, tf: FloatArray) -> FloatArray:
    if scheme == "raw":
        return tf
    if scheme == "binary":
        return np.ones_like(tf)
    return 1.0 + (np.log2(tf) if scheme == "ltc" else np.log(tf))


def frequencies_of(scheme: str, idf: FloatArray, n_docs: int) -> IntArray | None:
    """Number of documents that have words of these idf; None for schemes that do not say."""
    if scheme not in TELLING:
        return None
    if scheme == "ltc":
        return np.rint(n_docs * np.exp2(-idf)).astype(np.int64)
    return np.rint((n_docs + 1.0) * np.exp((scheme == "tfidf1") - idf) - 1.0).astype(np.int64)


def idf_of(scheme: str, n_with_word: IntArray, n_docs: int) -> FloatArray:
    if scheme == "ltc":
        return np.where(n_with_word > 0, np.log2(n_docs / np.maximum(n_with_word, 1)), 0.0)
    if scheme == "tfidf":
        return np.log((n_docs + 1.0) / (n_with_word + 1.0))
    if scheme == "tfidf1":
        return 1.0 + np.log((n_docs + 1.0) / (n_with_word + 1.0))
    return np.ones(len(n_with_word))
