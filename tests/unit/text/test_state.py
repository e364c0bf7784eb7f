"""State as JSON and arrays: what comes back transforms identically."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from textbayes.core.errors import ModelFileError
from textbayes.core.state import from_state, to_state
from textbayes.text import HashingTextVectorizer, TermWeighting, TextVectorizer

TEXTS = ["Grain prices rise, don't they?", "İstanbul ΟΔΟΣ \ud800 東京", "", "grain stocks fall"]


def round_trip(estimator: Any) -> Any:
    meta, arrays = to_state(estimator, "it")
    assert all(isinstance(array, np.ndarray) and array.dtype != object for array in arrays.values())
    return from_state(type(estimator), json.loads(json.dumps(meta)), arrays, "the estimator", "it")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"stop_words": ["grain"], "stemmer": "english", "min_df": np.int64(1), "max_df": 0.9},
        {"stop_words": {"they", "don't"}, "ngram_range": (1, 2), "max_features": 5},
        {"analyzer": "char", "ngram_range": (1, 2)},
        {"analyzer": "mixed", "token_pattern": "all", "stop_words": "german", "stemmer": "de"},
        {"vocabulary": {"grain": 1, "rise": 0}, "binary": True},
    ],
    ids=", ".join,
)
def test_text_vectorizer(options: dict[str, Any]) -> None:
    vectorizer = TextVectorizer(**options).fit(TEXTS)
    again = round_trip(vectorizer)
    assert again.vocabulary_ == vectorizer.vocabulary_
    assert (again.transform(TEXTS) != vectorizer.transform(TEXTS)).nnz == 0
    assert (again.fit_transform(TEXTS) != vectorizer.fit_transform(TEXTS)).nnz == 0


def test_the_stop_word_file_is_not_needed_again(tmp_path: Path) -> None:
    path = tmp_path / "stop.txt"
    path.write_text("grain\n")
    vectorizer = TextVectorizer(stop_words=path).fit(TEXTS)
    hashing = HashingTextVectorizer(stop_words=path).fit(TEXTS)
    again, hashing_again = round_trip(vectorizer), round_trip(hashing)
    path.unlink()
    assert again.stop_words == ["grain"]  # no file that a model names is ever read
    assert (again.fit_transform(TEXTS) != vectorizer.transform(TEXTS)).nnz == 0
    assert (again.transform(TEXTS) != vectorizer.transform(TEXTS)).nnz == 0
    assert (hashing_again.transform(TEXTS) != hashing.transform(TEXTS)).nnz == 0


@pytest.mark.parametrize("scheme", ["raw", "binary", "log", "ltc", "tfidf"])
def test_term_weighting(scheme: str) -> None:
    X = TextVectorizer().fit_transform(TEXTS)
    weighting = TermWeighting(scheme).fit(X)
    again = round_trip(weighting)
    np.testing.assert_array_equal(again.transform(X).toarray(), weighting.transform(X).toarray())
    assert again.n_docs_ == 4


def test_hashing_text_vectorizer() -> None:
    vectorizer = HashingTextVectorizer(n_features=2**6, alternate_sign=True, ngram_range=(1, 2)).fit(TEXTS)
    again = round_trip(vectorizer)
    assert (again.transform(TEXTS) != vectorizer.transform(TEXTS)).nnz == 0
    assert again.get_feature_names_out().tolist() == vectorizer.get_feature_names_out().tolist()
    again.partial_fit(TEXTS)


def test_arrays_that_do_not_fit_are_refused() -> None:
    def refused(estimator: Any, name: str, change: Callable[[Any], Any], match: str) -> None:
        meta, arrays = to_state(estimator, "it")
        with pytest.raises(ModelFileError, match=match):
            from_state(type(estimator), meta, {**arrays, name: change(arrays[name])}, "the estimator", "it")

    words, hashes = TextVectorizer().fit(TEXTS), HashingTextVectorizer().fit(TEXTS)
    refused(words, "it._vocabulary.offsets", lambda array: array + 1, "it._vocabulary cannot be read")
    refused(hashes, "it._names.counts", lambda array: array[1:], r"_names.counts is int64 of shape \(9,\)")
    refused(hashes, "it._names.columns", lambda array: array + 2**20, "a column that is none")
    refused(TermWeighting("ltc").fit(np.eye(3)), "it.idf_", lambda array: array * np.nan, "idf")
    refused(TermWeighting("ltc").fit(np.eye(3)), "it.idf_", lambda array: array + 9.0, "an idf is from .* to 1.58")
