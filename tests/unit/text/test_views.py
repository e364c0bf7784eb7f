"""Several views of the same texts: blocks of columns that are those of each view by itself."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.state import from_state, to_state
from textbayes.text import TermWeighting, TextVectorizer
from textbayes.text.views import TextViews, View, ViewsWeighting, head

TEXTS = ["Grain prices rise\nwheat and corn prices rose", "Banks\nthe bank raised its rates", "\n\nOnly a line", ""]


def views() -> list[View]:
    return [
        View("words", TextVectorizer(ngram_range=(1, 2)), TermWeighting("binary")),
        View("stem", TextVectorizer(stemmer="porter"), TermWeighting("tfidf1")),
        View("head", TextVectorizer(), TermWeighting("log"), part="head", factor=0.5),
    ]


def test_blocks_are_those_of_each_view():
    made = TextViews(views())
    counts = made.fit_transform(TEXTS).toarray()
    heads = [text.lstrip().split("\n")[0] for text in TEXTS]
    for number, (view, texts) in enumerate(zip(views(), (TEXTS, TEXTS, heads), strict=True)):
        block = counts[:, made.bounds_[number] : made.bounds_[number + 1]]
        np.testing.assert_array_equal(block, view.vectorizer.fit_transform(texts).toarray())
    np.testing.assert_array_equal(made.transform(TEXTS).toarray(), counts)
    names = made.get_feature_names_out().tolist()
    assert "prices rise" in names
    assert "stem:price" in names
    assert "head:grain" in names
    assert made.vocabulary_["stem:price"] == names.index("stem:price")


def test_weights_are_those_of_each_view_times_its_factor():
    made = TextViews(views())
    counts = made.fit_transform(TEXTS)
    weighting = ViewsWeighting([view.weighting for view in views()], [1.0, 1.0, 0.5], made.bounds_.tolist())
    weights = weighting.fit(counts).transform(counts).toarray()
    for number, view in enumerate(views()):
        columns = slice(made.bounds_[number], made.bounds_[number + 1])
        alone = view.weighting.fit_transform(counts[:, columns]).toarray()
        np.testing.assert_allclose(weights[:, columns], view.factor * alone, rtol=1e-15)
    assert weighting.n_docs_ == len(TEXTS)
    assert len(weighting.idf_) == counts.shape[1]


def test_states_come_back():
    made = TextViews(views()).fit(TEXTS)
    weighting = ViewsWeighting([view.weighting for view in views()], [1.0, 1.0, 0.5], made.bounds_.tolist())
    expected = weighting.fit(made.transform(TEXTS)).transform(made.transform(TEXTS))
    again = from_state(TextViews, *to_state(made), "the views")
    weighed = from_state(ViewsWeighting, *to_state(weighting), "the weighting")
    found = weighed.transform(again.transform(TEXTS))
    assert (found != expected).nnz == 0


def test_views_that_changed_places_are_refused():
    meta, arrays = to_state(TextViews(views()).fit(TEXTS))
    _, *others = itertools.permutations(meta["fitted_views"].items())
    for other in others:
        with pytest.raises(ModelFileError, match="another order"):
            from_state(TextViews, {"fitted_views": dict(other)}, arrays, "the views")


def test_two_views_of_one_name_are_refused():
    with pytest.raises(InputError, match="two views have one name"):
        to_state(TextViews([*views(), views()[0]]).fit(TEXTS))


def test_a_head_is_the_first_line_with_something_in_it():
    assert head("\n  Title here\nbody") == "Title here"
    assert head("") == ""
    assert len(head("x" * 1000)) == 200


def test_no_view_is_refused():
    with pytest.raises(InputError, match=r"views=\[\] is empty"):
        TextViews([]).fit(TEXTS)
