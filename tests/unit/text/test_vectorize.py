"""TextVectorizer beside scikit-learn's CountVectorizer, and what it refuses."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import Stemmer
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from textbayes.core.errors import InputError
from textbayes.text import SlowTokenPatternWarning, TermWeighting, TextVectorizer

SETTINGS: list[dict[str, Any]] = [
    {},
    {"lowercase": False},
    {"binary": True},
    {"stop_words": "english"},
    {"min_df": 2, "max_df": 0.8},
    {"min_df": 0.01, "max_df": 300},
    {"max_features": 500},
    {"max_features": 500, "min_df": 2, "binary": True},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 3), "stop_words": "english", "min_df": 2},
    {"token_pattern": r"(?u)\b\w+\b"},
    {"token_pattern": r"[A-Za-z]+"},
    {"token_pattern": r"\b[a-zA-Z]{2,}\b"},
    {"vocabulary": ["the", "of", "government", "zebra"]},
    {"vocabulary": {"the": 1, "of": 0}, "binary": True},
    {"analyzer": "char", "ngram_range": (1, 3)},
    {"analyzer": "char_wb", "ngram_range": (2, 4), "min_df": 3},
]


def assert_same(ours: TextVectorizer, theirs: CountVectorizer, train: list[str], new: list[str]) -> None:
    X, Y = ours.fit_transform(train), theirs.fit_transform(train)
    assert ours.vocabulary_ == theirs.vocabulary_
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    for got, expected in ((X, Y), (ours.transform(new), theirs.transform(new))):
        expected.sort_indices()
        assert got.dtype == expected.dtype == np.int64
        assert got.shape == expected.shape
        np.testing.assert_array_equal(got.indptr, expected.indptr)
        np.testing.assert_array_equal(got.indices, expected.indices)
        np.testing.assert_array_equal(got.data, expected.data)


@pytest.mark.parametrize("options", SETTINGS, ids=str)
def test_same_matrix_and_vocabulary_as_scikit_learn(options: dict[str, Any], federalist: list[str]) -> None:
    assert_same(TextVectorizer(**options), CountVectorizer(**options), federalist[:60], federalist[60:])


@pytest.mark.parametrize("options", SETTINGS[:9], ids=str)
def test_same_on_newsgroup_posts(options: dict[str, Any], newsgroups: list[str]) -> None:
    assert not all(map(str.isascii, newsgroups))
    assert_same(TextVectorizer(**options), CountVectorizer(**options), newsgroups[:900], newsgroups[900:])


def test_stems_are_those_of_stemming_each_token(newsgroups: list[str]) -> None:
    tokens, snowball = CountVectorizer().build_analyzer(), Stemmer.Stemmer("porter")
    theirs = CountVectorizer(analyzer=lambda text: snowball.stemWords(tokens(text)))
    assert_same(TextVectorizer(stemmer="porter"), theirs, newsgroups[:600], newsgroups[600:])


def test_other_scripts(federalist: list[str]) -> None:
    train = ["Привет, МИР", "ΟΔΥΣΣΕΥΣ ΟΔΟΣ", "İstanbul ISPARTA", "東京 大学 東京", "नमस्ते दुनिया", "", "\ud800x y\0z"]
    assert_same(TextVectorizer(), CountVectorizer(), train, federalist[:2] + train[::-1])
    characters = {"analyzer": "char", "ngram_range": (1, 2)}
    assert_same(TextVectorizer(**characters), CountVectorizer(**characters), train, federalist[:2] + train[::-1])


def test_any_other_pattern_warns_once_when_fitting_and_counts_the_same(federalist: list[str]) -> None:
    pattern = r"\w+(?:-\w+)*"
    theirs = CountVectorizer(token_pattern=pattern)
    with pytest.warns(SlowTokenPatternWarning, match="many times slower") as record:
        assert_same(TextVectorizer(token_pattern=pattern), theirs, federalist[:20], federalist[20:25])
    assert len(record) == 1
    assert record[0].filename == __file__


def test_document_lengths_count_every_token_in_thousands(federalist: list[str]) -> None:
    tokens = CountVectorizer().build_analyzer()
    expected = [len(tokens(text)) / 1000 for text in federalist]
    plain = TextVectorizer()
    np.testing.assert_allclose(plain.document_lengths(federalist), expected)
    for options in ({"stop_words": "smart", "min_df": 5}, {"analyzer": "char"}, {"ngram_range": (2, 2)}):
        np.testing.assert_allclose(TextVectorizer(**options).document_lengths(federalist), expected)
    X = plain.fit_transform(federalist)
    np.testing.assert_allclose(plain.document_lengths(X), expected)
    np.testing.assert_allclose(plain.document_lengths(X.toarray()), expected)
    assert plain.document_lengths([]).shape == (0,)


def test_a_fixed_vocabulary_needs_no_fitting() -> None:
    assert TextVectorizer(vocabulary=["be", "to"]).transform(["To be, or not to be"]).toarray().tolist() == [[2, 2]]


def test_texts_may_be_any_iterable() -> None:
    expected = TextVectorizer().fit_transform(["one two", "two"]).toarray().tolist()
    for texts in (iter(["one two", "two"]), ("one two", "two"), np.array(["one two", "two"]), {"one two": 0, "two": 0}):
        assert TextVectorizer().fit_transform(texts).toarray().tolist() == expected


def test_transforming_nothing_gives_no_rows() -> None:
    X = TextVectorizer().fit(["one two"]).transform([])
    assert X.shape == (0, 2)
    assert sparse.isspmatrix_csr(X)


def test_estimator_manners() -> None:
    vectorizer = TextVectorizer(stop_words="english", min_df=1)
    twin = clone(vectorizer)
    assert twin.get_params() == vectorizer.get_params()
    with pytest.raises(NotFittedError, match="call fit first"):
        twin.transform(["text"])
    assert not hasattr(twin, "vocabulary_")
    vectorizer.fit(["grain prices", "grain stocks"])
    copy = pickle.loads(pickle.dumps(vectorizer))
    assert copy.vocabulary_ == vectorizer.vocabulary_
    assert copy.transform(["grain"]).toarray().tolist() == [[1, 0, 0]]
    weights = make_pipeline(clone(vectorizer), TermWeighting("tfidf")).fit_transform(["grain prices", "grain stocks"])
    assert weights.shape == (2, 3)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one text", r"one str was given as the corpus; .*\[text\] for a single document"),
        (b"bytes", "one bytes was given"),
        (None, "NoneType was given as the corpus"),
        (7, "int was given as the corpus"),
        (np.array([["a", "x"], ["b", "y"]]), r"a corpus of shape \(2, 2\) was given"),
        (["good", None], "document 1 is a NoneType, not a str"),
        (["good", "good", b"bad"], "document 2 is a bytes, not a str; decode it first"),
        ([float("nan")], "document 0 is a float"),
        ([], "no document was given"),
        (["", " ", "?"], r"the 3 document\(s\) hold no term"),
    ],
)
def test_texts_that_cannot_be_used_are_refused(texts: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        TextVectorizer().fit(texts)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"analyzer": "words"}, "analyzer='words' is not known; choose one of 'word', 'char', 'char_wb'"),
        ({"ngram_range": (2, 1)}, r"ngram_range=\(2, 1\) is not usable"),
        ({"ngram_range": 2}, "ngram_range=2 is not usable"),
        ({"ngram_range": (0, 1)}, "1 ≤ shortest ≤ longest"),
        ({"min_df": 0}, "min_df=0 is not usable"),
        ({"min_df": True}, "min_df=True is not usable"),
        ({"max_df": 1.5}, "max_df=1.5 is not usable"),
        ({"max_df": float("nan")}, "max_df=nan is not usable"),
        ({"max_features": 0}, "max_features=0 is not usable"),
        ({"min_df": 2, "stop_words": ["two"]}, "leave none of the 2 terms of 2 document"),
        ({"min_df": 3}, r"min_df=3 asks for more of the 2 document\(s\) than max_df=1.0 allows"),
        ({"analyzer": "char", "stemmer": "porter"}, "stemmer needs analyzer='word', not 'char'"),
        ({"analyzer": "char", "stop_words": ["the"]}, "stop_words needs analyzer='word'"),
        ({"vocabulary": "word"}, "vocabulary is a str"),
        ({"vocabulary": []}, "the vocabulary is empty"),
        ({"vocabulary": ["a", "b", "a"]}, "'a' is in the vocabulary twice"),
        ({"vocabulary": ["a", 1]}, "term 1 of the vocabulary is a int"),
        ({"vocabulary": {"a": 0, "b": 2}}, "must be 0 to 1, each once"),
        ({"stop_words": ["one", "two", "three"]}, "hold no term"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        TextVectorizer(**options).fit(["one two", "two three"])
