"""Each scheme against the formula, word by word."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.state import from_state, to_state
from textbayes.text import TermWeighting

TF = {
    "raw": lambda tf: tf,
    "binary": lambda tf: 1.0,
    "log": lambda tf: 1 + math.log(tf),
    "ltc": lambda tf: 1 + math.log2(tf),
    "tfidf": lambda tf: 1 + math.log(tf),
    "tfidf1": lambda tf: 1 + math.log(tf),
}
IDF = {
    "raw": lambda n_docs, df: 1.0,
    "binary": lambda n_docs, df: 1.0,
    "log": lambda n_docs, df: 1.0,
    "ltc": lambda n_docs, df: math.log2(n_docs / df) if df else 0.0,
    "tfidf": lambda n_docs, df: math.log((n_docs + 1) / (df + 1)),
    "tfidf1": lambda n_docs, df: 1 + math.log((n_docs + 1) / (df + 1)),
}
COUNTS = arrays(np.int64, (5, 4), elements=st.integers(0, 50))


def textbook(scheme: str, norm: str | None, train: np.ndarray, new: np.ndarray) -> np.ndarray:
    weights = np.zeros(new.shape)
    for j in range(new.shape[1]):
        df = sum(1 for tf in train[:, j] if tf > 0)
        for i in range(new.shape[0]):
            if new[i, j] > 0:
                weights[i, j] = TF[scheme](new[i, j]) * IDF[scheme](len(train), df)
    if norm == "cosine":
        for row in weights:
            length = math.sqrt(sum(w * w for w in row))
            row /= length if length > 0 else 1.0
    return weights


@pytest.mark.parametrize("norm", ["cosine", None])
@pytest.mark.parametrize("scheme", ["raw", "binary", "log", "ltc", "tfidf", "tfidf1"])
@settings(max_examples=50, deadline=None)
@given(train=COUNTS, new=COUNTS)
def test_is_the_textbook_formula(scheme: str, norm: str | None, train: np.ndarray, new: np.ndarray) -> None:
    weighting = TermWeighting(scheme, norm=norm).fit(sparse.csr_matrix(train))
    got = weighting.transform(sparse.csr_matrix(new))
    assert got.format == "csr"
    assert got.dtype == np.float64
    assert (got.data != 0).all()
    np.testing.assert_allclose(got.toarray(), textbook(scheme, norm, train, new), rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(weighting.transform(new).toarray(), got.toarray())


def test_corner_cases_of_the_idf() -> None:
    train = sparse.csr_matrix([[1, 1, 0], [0, 1, 0]])  # in one document, in both, in none
    assert TermWeighting("ltc").fit(train).idf_.tolist() == [1.0, 0.0, 0.0]
    np.testing.assert_allclose(TermWeighting("tfidf").fit(train).idf_, [math.log(3 / 2), 0.0, math.log(3)])
    assert TermWeighting("log").fit(train).idf_.tolist() == [1.0, 1.0, 1.0]
    X = TermWeighting("ltc").fit(train).transform(sparse.csr_matrix([[0, 2, 5]]))
    assert X.nnz == 0  # a document without weight stays zero instead of dividing by its length


def test_the_input_is_not_changed() -> None:
    counts = sparse.csr_matrix(np.array([[3, 0, 1], [0, 2, 0]]))
    before = counts.copy()
    TermWeighting("ltc").fit_transform(counts)
    assert counts.dtype == before.dtype
    np.testing.assert_array_equal(counts.data, before.data)
    dense = np.array([[3.0, 0.0, 1.0]])
    TermWeighting("tfidf").fit_transform(dense)
    assert dense.tolist() == [[3.0, 0.0, 1.0]]


def test_stored_zeros_and_duplicates_count_as_what_they_stand_for() -> None:
    odd = sparse.csr_matrix((np.array([1, 2, 0]), np.array([0, 0, 1]), np.array([0, 3])), shape=(1, 2))
    assert TermWeighting("raw", norm=None).fit_transform(odd).toarray().tolist() == [[3.0, 0.0]]
    assert TermWeighting("tfidf", norm=None).fit(odd).idf_.tolist() == [0.0, math.log(2)]


def test_enormous_counts_keep_their_direction() -> None:
    X = TermWeighting("raw").fit_transform(np.array([[3e200, 4e200], [3e-200, 4e-200]]))
    np.testing.assert_allclose(X.toarray(), [[0.6, 0.8], [0.6, 0.8]])


@pytest.mark.parametrize(
    ("options", "X", "message"),
    [
        ({"scheme": "idf"}, [[1]], "scheme='idf' is not known; choose one of 'raw'"),
        ({"norm": "l2"}, [[1]], "norm='l2' is not known; choose one of 'cosine', None"),
        ({}, [[1, -1]], "the least is -1; pass counts"),
    ],
)
def test_what_cannot_be_used_is_refused(options: dict[str, str], X: list[list[int]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        TermWeighting(**options).fit(sparse.csr_matrix(X))


def test_tfidf1_is_scikit_learn_s():
    from sklearn.feature_extraction.text import TfidfTransformer

    counts = sparse.random(
        30, 12, density=0.4, random_state=0, data_rvs=lambda n: np.arange(1, n + 1) % 5 + 1, format="csr"
    )
    theirs = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    np.testing.assert_allclose(TermWeighting("tfidf1").fit_transform(counts).toarray(), theirs.toarray(), rtol=1e-12)


@pytest.mark.parametrize("scheme", ["raw", "binary", "log", "ltc", "tfidf", "tfidf1"])
@pytest.mark.parametrize("norm", ["cosine", None])
def test_mean_weights_are_those_of_texts_as_long_as_each_other(scheme, norm):
    """Each word in two of four documents, each document with two words: all lengths are the same."""
    X = sparse.csr_matrix([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    weighting = TermWeighting(scheme, norm).fit(X)
    expected = np.asarray(weighting.transform(X).mean(axis=0)).ravel()
    np.testing.assert_allclose(weighting.mean_weights(), expected, rtol=1e-12)


@pytest.mark.parametrize("scheme", ["raw", "binary", "log", "ltc", "tfidf", "tfidf1"])
def test_document_frequencies_are_kept(scheme):
    rng = np.random.default_rng(0)
    X = sparse.random(300, 40, density=0.2, random_state=rng, data_rvs=lambda n: rng.integers(1, 4, n), format="csr")
    counts = (X.toarray() > 0).sum(axis=0)
    weighting = TermWeighting(scheme).fit(X)
    assert weighting.document_frequency_.tolist() == counts.tolist()
    again = from_state(TermWeighting, *to_state(weighting), "the weighting")
    assert again.document_frequency_.tolist() == counts.tolist()


def test_frequencies_of_more_documents_than_there_were_are_refused():
    meta, arrays = to_state(TermWeighting("binary").fit(sparse.csr_matrix([[1, 0], [1, 1]])))
    arrays["document_frequency_"] = np.array([3, 1])
    with pytest.raises(ModelFileError, match="values from 1 to 3"):
        from_state(TermWeighting, meta, arrays, "the weighting")
