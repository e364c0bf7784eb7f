"""Columns of several views gathered by the word that they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes.text import HashingTextVectorizer, TermWeighting, TextVectorizer
from textbayes.text.surface import common_forms, gather
from textbayes.text.views import TextViews, View

TEXT = "Profits of banks\nThe bank's profits and its profit rise; net profits"


def _views() -> TextViews:
    words = View("words", TextVectorizer(token_pattern=r"(?u)\b\w+\b", ngram_range=(1, 2)), TermWeighting("binary"))
    stems = TextVectorizer(stemmer="porter", stop_words="english", ngram_range=(1, 2))
    head = View("head", stems, TermWeighting("tfidf1"), part="head", factor=0.5)
    return TextViews([words, View("stem", stems, TermWeighting("tfidf1")), head]).fit([TEXT])


def _gathered(vectorizer, text: str = TEXT) -> dict[str, tuple[float, set[str]]]:
    counts = vectorizer.transform([text]).toarray()[0].astype(float)
    columns = np.flatnonzero(counts)
    names = vectorizer.get_feature_names_out()[columns]
    found = gather(vectorizer, columns, counts[columns], common_forms([text], vectorizer))
    occurrences = found.occurrences(counts[columns])
    assert len(set(found.forms)) == len(found.forms)
    return {form: (occurrences[j], set(names[found.word == j])) for j, form in enumerate(found.forms)}


def test_forms_and_views_of_a_word_are_one():
    words = _gathered(_views())
    assert words["profits"] == (4.0, {"profit", "profits", "stem:profit", "head:profit"})
    assert words["net profits"] == (1.0, {"net profits", "stem:net profit"})
    assert words["of"] == (1.0, {"of"})  # a stop word of the stems
    # Pairs of stems leave stop words out: they are words of their own, in the forms that the text has.
    assert words["profits bank"][1] == {"stem:profit bank", "head:profit bank"}
    assert "profit" not in words


def test_stems_alone_are_shown_as_the_text_has_them():
    vectorizer = TextVectorizer(stemmer="porter").fit(["companies rise"])
    assert _gathered(vectorizer, "the companies of a company: companies") == {"companies": (3.0, {"compani"})}


@pytest.mark.parametrize(
    "vectorizer", [HashingTextVectorizer(n_features=64), TextVectorizer(analyzer="char", ngram_range=(2, 3))]
)
def test_what_is_no_word_stays_as_it_is(vectorizer):
    for form, (_, names) in _gathered(vectorizer.fit([TEXT])).items():
        assert names == {form}
