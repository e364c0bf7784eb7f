"""Whole words in place of stems: chosen by the training texts, kept, and told apart."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes.core.codec import read, written
from textbayes.core.errors import ModelFileError
from textbayes.text import TermWeighting, TextVectorizer
from textbayes.text.surface import FormsField, shown_names, surface_forms
from textbayes.text.views import TextViews, View

TEXTS = ["the parties met", "one party and a party", "this party governs", "company parties", "governed companies"]


def _views() -> TextViews:
    plain = View("words", TextVectorizer(min_df=2), TermWeighting("tfidf1"))
    stems = View("stem", TextVectorizer(stemmer="porter", ngram_range=(1, 2)), TermWeighting("tfidf1"))
    head = View("head", TextVectorizer(stemmer="porter"), TermWeighting("tfidf1"), part="head")
    return TextViews([plain, stems, head]).fit(TEXTS)


def test_the_commonest_form_stands_for_a_stem():
    forms = surface_forms(TEXTS, TextVectorizer(stemmer="porter").fit(TEXTS))
    assert forms["parti"] == "party"
    assert forms["compani"] == "companies", "of equally frequent forms the first in the alphabet"
    assert "met" not in forms, "a stem that is a word stays"


def test_stems_that_the_model_does_not_know_are_not_kept():
    vectorizer = TextVectorizer(stemmer="porter", min_df=2).fit(TEXTS)
    assert set(surface_forms(TEXTS, vectorizer)) <= set(vectorizer.get_feature_names_out())


def test_a_model_without_stems_has_no_forms():
    assert surface_forms(TEXTS, TextVectorizer().fit(TEXTS)) == {}


def test_columns_are_shown_as_words_and_marked_where_two_would_look_alike():
    views = _views()
    names = ["party", "stem:parti", "stem:compani", "stem:parti met", "head:parti"]
    assert set(names) <= set(views.get_feature_names_out())
    shown = shown_names(names, views, surface_forms(TEXTS, views))
    assert shown == ["party", "party (stem)", "companies", "party met", "party (first line)"]


def test_every_column_has_a_name_of_its_own():
    views = _views()
    shown = shown_names(views.get_feature_names_out(), views, surface_forms(TEXTS, views))
    assert len(set(shown)) == len(shown)


def test_forms_survive_being_arrays():
    forms = {"parti": "party", "grün": "grüne", "": "x"}
    arrays = {}
    saved = FormsField().write(forms, "it", arrays)
    assert FormsField().read(saved, "it", arrays, {}) == forms


@pytest.mark.parametrize("change", ["twice", "fewer", "bytes"])
def test_arrays_that_do_not_fit_are_refused(change):
    field = {"it": FormsField()}
    meta, arrays = written({"it": {"a": "aa", "b": "bb"}}, field)
    if change == "twice":
        arrays["it.stems"] = np.frombuffer(b"aa", dtype=np.uint8)
    elif change == "fewer":
        arrays |= {"it.forms": arrays["it.forms"][:2], "it.forms.offsets": arrays["it.forms.offsets"][:2]}
    else:
        arrays["it.forms"] = arrays["it.forms"].astype(np.int64)
    with pytest.raises(ModelFileError):
        read(field, meta, arrays, "the forms")
