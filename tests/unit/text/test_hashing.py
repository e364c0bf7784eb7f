"""HashingTextVectorizer beside scikit-learn's, its names table, and the same columns in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.utils import murmurhash3_32

from textbayes.core.errors import InputError
from textbayes.text import HashingTextVectorizer, SlowTokenPatternWarning, TextVectorizer


@pytest.mark.parametrize("alternate_sign", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ngram_range": (1, 2)},
        {"analyzer": "char_wb", "ngram_range": (2, 3)},
        {"stop_words": "english"},
        {"binary": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("n_features", [2**20, 2**8])
def test_same_columns_as_scikit_learn(
    options: dict[str, Any], alternate_sign: bool, n_features: int, federalist: list[str]
) -> None:
    shared = {**options, "n_features": n_features, "alternate_sign": alternate_sign}
    X = HashingTextVectorizer(**shared).transform(federalist[:20])
    Y = HashingVectorizer(**shared, norm=None).transform(federalist[:20])
    assert X.dtype == np.int64
    if options.get("binary") and alternate_sign:
        # scikit-learn sets stored zeros, where signs cancelled, to 1 as well; which are stored is the same here.
        assert (X.data == 1).all()
    assert (Y.astype(np.int64) != X).nnz == 0


@pytest.mark.slow
def test_columns_are_the_same_in_every_process() -> None:
    program = (
        "from textbayes.text import HashingTextVectorizer as H;"
        "print(H(n_features=2**16).transform(['grain prices rise']).indices.tolist())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    columns = sorted(abs(murmurhash3_32(word, seed=0)) % 2**16 for word in ("grain", "prices", "rise"))
    assert outputs == {f"{columns}\n"}


def test_names_are_the_terms_of_the_column(federalist: list[str]) -> None:
    vectorizer = HashingTextVectorizer(stemmer="porter").fit(federalist[:10])
    exact = TextVectorizer(stemmer="porter").fit(federalist[:10])
    terms = list(exact.vocabulary_)
    assert len(terms) > 1000
    shown = vectorizer.get_feature_names_out()
    for term in terms[::50]:
        column = abs(murmurhash3_32(term, seed=0)) % 2**20
        assert term in vectorizer.feature_names(column)
        assert shown[column] == vectorizer.feature_name(column) == "|".join(vectorizer.feature_names(column))
    seen = {name for column in range(2**20) for name in vectorizer.feature_names(column)}
    assert seen == set(terms)  # few enough that no column of 2**20 has three


def test_a_crowded_column_keeps_the_most_frequent_names() -> None:
    rare = " ".join(f"rare{i}" for i in range(40))
    for texts in (["common " * 30 + "usual " * 20 + rare], [rare + " usual" * 20 + " common" * 30]):
        vectorizer = HashingTextVectorizer(n_features=2, n_names=2).fit(texts)
        for word in ("common", "usual"):
            column = int(vectorizer.transform([word]).indices[0])
            assert word in vectorizer.feature_names(column)
            assert len(vectorizer.feature_names(column)) <= 2


@settings(max_examples=50, deadline=None)
@given(words=st.lists(st.sampled_from("abcdef"), min_size=1), n_names=st.integers(1, 4))
def test_a_frequent_term_is_never_missing(words: list[str], n_names: int) -> None:
    vectorizer = HashingTextVectorizer(n_features=2, n_names=n_names, token_pattern=r"\w+")
    for word in words:
        vectorizer.partial_fit([word])
    columns = {word: int(vectorizer.transform([word]).indices[0]) for word in words}
    for word, column in columns.items():
        seen = sum(columns[other] == column for other in words)
        if words.count(word) > seen / (n_names + 1):
            assert word in vectorizer.feature_names(column)


def test_partial_fit_adds_names_and_fit_starts_anew() -> None:
    vectorizer = HashingTextVectorizer().partial_fit(["grain"]).partial_fit(["wheat wheat"])
    for word in ("grain", "wheat"):
        assert vectorizer.feature_name(int(vectorizer.transform([word]).indices[0])) == word
    vectorizer.fit(["corn"])
    grain = int(vectorizer.transform(["grain"]).indices[0])
    assert vectorizer.feature_name(grain) == f"#{grain}"
    assert vectorizer.feature_names(grain) == []


def test_names_have_bounded_length() -> None:
    vectorizer = HashingTextVectorizer(n_features=2).fit(["x" * 10_000])
    assert [len(name) for column in (0, 1) for name in vectorizer.feature_names(column)] == [100]


def test_fit_transform_reads_the_texts_once(federalist: list[str]) -> None:
    X = HashingTextVectorizer(n_features=2**12).fit_transform(iter(federalist[:5]))
    assert (HashingTextVectorizer(n_features=2**12).transform(federalist[:5]) != X).nnz == 0


def test_stop_words_have_no_sign_to_borrow() -> None:
    signed = HashingTextVectorizer(alternate_sign=True, stop_words=["the"])
    assert abs(signed.transform(["the grain the"])).sum() == 1


def test_slow_patterns_warn_when_fitting() -> None:
    with pytest.warns(SlowTokenPatternWarning):
        HashingTextVectorizer(token_pattern=r"\w+(?:-\w+)*").fit(["well-known"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_features": 1000}, "n_features=1000 is not usable; pass a power of two"),
        ({"n_features": 2**31}, "is not usable"),
        ({"n_features": True}, "is not usable"),
        ({"n_names": 0}, "n_names=0 is not usable"),
        ({"analyzer": "words"}, "analyzer='words' is not known"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        HashingTextVectorizer(**options).transform(["text"])


def test_estimator_manners() -> None:
    vectorizer = HashingTextVectorizer(n_features=2**10, stop_words="smart")
    assert clone(vectorizer).get_params() == vectorizer.get_params()
    with pytest.raises(InputError, match="column 1024 does not exist"):
        vectorizer.feature_names(1024)
    with pytest.raises(InputError, match="one str was given"):
        vectorizer.transform("text")
