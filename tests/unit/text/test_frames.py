"""``set_output`` of transformers whose results are sparse: data frames with sparse columns, in pipelines and grids."""

from __future__ import annotations

import doctest
import sys

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

import textbayes.models.linear.classifier
from textbayes import BayesLinearClassifier, TextCategorizer, TextVectorizer
from textbayes.core.errors import InputError, MissingExtraError
from textbayes.select import SelectWords
from textbayes.text import HashingTextVectorizer, TermWeighting
from textbayes.text.views import TextViews, View

pandas = pytest.importorskip("pandas", reason="needs the extra pandas")

TEXTS = ["wheat and corn prices", "corn harvest falls", "bank raises rates", "the bank cuts its rates"] * 5
LABELS = ["grain", "grain", "money", "money"] * 5


@pytest.mark.parametrize(
    "vectorizer",
    [TextVectorizer(), HashingTextVectorizer(n_features=16), TextViews([View("w", TextVectorizer(), TermWeighting())])],
    ids=lambda one: type(one).__name__,
)
def test_words_become_columns(vectorizer):
    series = pandas.Series(TEXTS[:4], index=list("abcd"))
    plain = clone(vectorizer).fit_transform(TEXTS[:4])
    assert sparse.issparse(plain)
    vectorizer = clone(vectorizer).set_output(transform="pandas")
    for frame in (vectorizer.fit_transform(series), vectorizer.transform(series)):
        assert frame.index.tolist() == list("abcd")
        assert frame.columns.tolist() == vectorizer.get_feature_names_out().tolist()
        assert all(isinstance(one, pandas.SparseDtype) for one in frame.dtypes)
        np.testing.assert_array_equal(frame.to_numpy(), plain.toarray())
    assert sparse.issparse(vectorizer.set_output(transform="default").transform(series))
    assert vectorizer.set_output() is vectorizer


def _pipeline() -> Pipeline:
    steps = [
        ("words", TextVectorizer()), ("weights", TermWeighting("tfidf1")), ("select", SelectWords(k=5)),
        ("model", BayesLinearClassifier()),
    ]  # fmt: skip
    return Pipeline(steps).set_output(transform="pandas")


def test_a_pipeline_of_data_frames_is_that_of_matrices():
    framed = _pipeline().fit(TEXTS, LABELS)
    plain = clone(framed).set_output(transform="default").fit(TEXTS, LABELS)
    assert not hasattr(plain[-1], "feature_names_in_")
    names = framed[:-1].get_feature_names_out().tolist()
    assert len(names) == 5
    assert framed[-1].feature_names_in_.tolist() == framed[:-1].transform(TEXTS).columns.tolist() == names
    np.testing.assert_allclose(framed.predict_proba(TEXTS), plain.predict_proba(TEXTS), atol=1e-12)


def test_clones_and_grids_keep_the_output():
    search = GridSearchCV(_pipeline(), {"model__scale": [0.5, 2.0]}, cv=2).fit(TEXTS, LABELS)
    assert search.best_score_ == 1.0
    assert len(search.best_estimator_[-1].feature_names_in_) == 5


def test_a_categorizer_reads_matrices_whatever_its_vectorizer_gives_others():
    parts = (TextVectorizer().set_output(transform="pandas"), TermWeighting().set_output(transform="pandas"))
    both = TextCategorizer(*parts, cv=2, preset="linear")
    for model in (both, TextCategorizer(parts[0], cv=2), TextCategorizer(cv=2)):
        with sklearn.config_context(transform_output="pandas"):
            assert model.fit(TEXTS, LABELS).predict(["corn"]).tolist() == ["grain"]


def test_what_cannot_be_done_is_said(monkeypatch):
    with pytest.raises(InputError, match="transform='polars' is not usable; pass 'default' or 'pandas'"):
        TextVectorizer().set_output(transform="polars")
    weighting = TermWeighting().set_output(transform="pandas")
    with pytest.raises(InputError, match="Pass a sparse matrix or a data frame with sparse columns"):
        weighting.fit_transform(np.eye(3))
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"set_output\(transform='pandas'\) needs pandas"):
        TextVectorizer().set_output(transform="pandas").fit_transform(TEXTS)


def test_the_example_of_a_pipeline_runs():
    found = doctest.testmod(textbayes.models.linear.classifier)
    assert found.attempted > 5
    assert found.failed == 0
