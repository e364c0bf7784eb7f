"""Every option together, against a reference that reads like the specification."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
import Stemmer
from hypothesis import given, settings
from hypothesis import strategies as st

from textbayes.text import TextVectorizer, analyze, batches

WORDS = st.sampled_from(
    ["The", "the", "of", "running", "runs", "İstanbul", "ΟΔΟΣ", "naïve", "x", "don't", "日本", "a_1"]
)
TEXTS = st.lists(st.lists(WORDS, max_size=12).map(" ".join), min_size=1, max_size=6)
PATTERN = r"(?u)\b\w\w+\b"


def word_terms(text: str, stop: set[str], language: str | None, shortest: int, longest: int) -> list[str]:
    tokens = [token for token in re.findall(PATTERN, text.lower()) if token not in stop]
    if language:
        tokens = Stemmer.Stemmer(language).stemWords(tokens)
    return [
        " ".join(tokens[i : i + n]) for n in range(shortest, longest + 1) for i in range(len(tokens) - n + 1)
    ]  # fmt: skip


def assert_counts(vectorizer: TextVectorizer, texts: list[str], expected: list[list[str]]) -> None:
    terms = sorted({term for row in expected for term in row})
    if not terms:
        with pytest.raises(ValueError, match="hold no term"):
            vectorizer.fit(texts)
        return
    X = vectorizer.fit_transform(texts)
    assert vectorizer.get_feature_names_out().tolist() == terms
    counted = [Counter(row) for row in expected]
    assert X.toarray().tolist() == [[row[term] for term in terms] for row in counted]
    assert X.has_sorted_indices
    assert all((np.diff(X.indices[a:b]) > 0).all() for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True))
    assert (vectorizer.transform(texts) != X).nnz == 0


@settings(max_examples=150, deadline=None)
@given(
    texts=TEXTS,
    stop=st.sets(st.sampled_from(["the", "of", "runs", "οδος"])),
    language=st.sampled_from([None, "porter"]),
    ngram_range=st.sampled_from([(1, 1), (1, 2), (2, 2), (2, 4), (1, 5)]),
)
def test_words_stop_words_stems_and_ngrams(
    texts: list[str], stop: set[str], language: str | None, ngram_range: tuple[int, int]
) -> None:
    vectorizer = TextVectorizer(stop_words=stop, stemmer=language, ngram_range=ngram_range)
    assert_counts(vectorizer, texts, [word_terms(text, stop, language, *ngram_range) for text in texts])


@settings(max_examples=100, deadline=None)
@given(
    texts=st.lists(st.text("ab C\n\t\u2003é😀\ud800\0", max_size=20), min_size=1, max_size=5),
    ngram_range=st.sampled_from([(1, 1), (1, 3), (2, 3), (5, 6)]),
)
def test_characters(texts: list[str], ngram_range: tuple[int, int]) -> None:
    def terms(text: str) -> list[str]:
        text = re.sub(r"\s\s+", " ", text.lower())
        return [text[i : i + n] for n in range(ngram_range[0], ngram_range[1] + 1) for i in range(len(text) - n + 1)]

    assert_counts(TextVectorizer(analyzer="char", ngram_range=ngram_range), texts, list(map(terms, texts)))


@settings(max_examples=100, deadline=None)
@given(
    texts=st.lists(st.text("ab C\n\t\u2003é😀\ud800\0", max_size=20), min_size=1, max_size=5),
    ngram_range=st.sampled_from([(1, 1), (1, 3), (2, 3), (5, 6)]),
)
def test_characters_of_words(texts: list[str], ngram_range: tuple[int, int]) -> None:
    shortest, longest = ngram_range

    def terms(text: str) -> list[str]:
        found = []
        for word in (f" {word} " for word in text.lower().split()):
            sizes = [len(word)] if len(word) < shortest else range(shortest, min(longest, len(word)) + 1)
            found += [word[i : i + n] for n in sizes for i in range(len(word) - n + 1)]
        return found

    assert_counts(TextVectorizer(analyzer="char_wb", ngram_range=ngram_range), texts, list(map(terms, texts)))


def test_ngrams_of_tokens_with_spaces_merge_by_name() -> None:
    with pytest.warns(match="many times slower"):
        vectorizer = TextVectorizer(token_pattern="[^,]+", ngram_range=(1, 2)).fit(["a b,c", "a,b c"])
    assert vectorizer.vocabulary_ == {"a": 0, "a b": 1, "a b c": 2, "b c": 3, "c": 4}
    assert vectorizer.transform(["a b,c", "a,b c"]).toarray()[:, 2].tolist() == [1, 1]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"stop_words": "english", "stemmer": "porter", "min_df": 2},
        {"ngram_range": (1, 3), "max_df": 0.5},
        {"analyzer": "char_wb", "ngram_range": (2, 4)},
    ],
)
@pytest.mark.parametrize("n_cores", [1, 3])
def test_neither_batches_nor_cores_change_the_result(
    options: dict[str, object], n_cores: int, federalist: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = federalist[:30]
    whole = TextVectorizer(**options).fit(texts)
    expected = whole.transform(texts)
    monkeypatch.setattr(batches, "_BATCH", 20_000)
    monkeypatch.setattr(batches, "_n_cores", lambda: n_cores)
    assert len(list(batches.batches(texts))) > 10
    pieces = TextVectorizer(**options)
    X = pieces.fit_transform(iter(texts))
    assert pieces.vocabulary_ == whole.vocabulary_
    assert (expected != X).nnz == 0
    assert (pieces.transform(texts) != expected).nnz == 0


def test_terms_are_numbered_in_order_of_first_occurrence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_BATCH", 1)
    found = analyze.analyze(["b a", "a c b"], analyze.TextOptions(token_pattern=r"\w+"))
    assert found.terms.data.tobytes() == b"bac"
    assert [array.tolist() for array in analyze.frequencies(found)] == [[2, 2, 1], [2, 2, 1]]
