"""Links with parameters: written as strings, refused in sentences, held by estimators and model files."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from textbayes.categorizer import TextCategorizer
from textbayes.core.errors import InputError
from textbayes.links import make_link
from textbayes.links.flip import Flip
from textbayes.links.logit import Logit
from textbayes.links.skew_t import SkewT
from textbayes.links.student_t import StudentT
from textbayes.models.linear.classifier import BayesLinearClassifier


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("student_t", StudentT()),
        ("student_t:df=1", StudentT(1.0)),
        ("student_t:df=inf", StudentT(np.inf)),
        ("skew_t:skew=2,df=8", SkewT(df=8, skew=2)),
        ("flip:rate=0.2", Flip(Logit(), 0.2)),
        ("flip:rate=0.2,base=skew_t:df=3,skew=0.5", Flip(SkewT(3, 0.5), 0.2)),
        ("flip:base=flip:rate=0.2,base=probit", Flip(Flip("probit", 0.2))),
    ],
)
def test_strings(text, link):
    assert make_link(text) == link
    assert make_link(link.spec) == link
    assert pickle.loads(pickle.dumps(link)) == link


def test_links_of_other_classes_or_parameters_differ():
    assert StudentT(4.0) != StudentT(5.0)
    assert StudentT(4.0) != SkewT(4.0)
    assert StudentT(4.0) != "student_t"
    assert repr(Flip(StudentT(4), 0.1)) == "Flip(rate=0.1, base=StudentT(df=4.0))"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("student", "unknown link 'student'.*did you mean 'student_t'"),
        ("student_t:dof=3", "no parameter 'dof'; it has: df"),
        ("logit:df=3", "no parameter 'df'; it has: none"),
        ("student_t:df=many", "df='many'; write a number"),
        ("student_t:df", "df=''; write a number"),
        ("student_t:df=0", r"df=0.* must be 0\.5 or more"),
        ("student_t:df=nan", "df=nan"),
        ("skew_t:skew=0", r"skew=0.* between 0\.001 and 1000"),
        ("skew_t:skew=inf", "skew=inf"),
        ("flip:rate=0.6", "rate=0.6"),
        ("flip:base=cauchit", "unknown link 'cauchit'"),
        (3, "neither the name of a link nor a link"),
    ],
)
def test_refusals(text, message):
    with pytest.raises(InputError, match=message):
        make_link(text)


@pytest.fixture(scope="module")
def data():
    """Two overlapping classes, with one document labelled against all evidence."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 4))
    y = X @ [1.5, -1.0, 0.0, 0.5] + rng.normal(size=120) > 0
    X[0], y[0] = [12.0, -12.0, 0.0, 0.0], False
    return X, y


@pytest.mark.parametrize("inference", ["coordinate", "newton"])
@pytest.mark.parametrize(
    "link", [StudentT(df=4), SkewT(df=2, skew=0.5), SkewT(np.inf, 2.0), Flip("probit", 0.02)], ids=repr
)
def test_estimators_hold_links_and_are_cloned_with_them(data, link, inference):
    X, y = data
    model = BayesLinearClassifier(link=link, prior="gaussian", scale=2.0, inference=inference, tol=1e-3)
    again = clone(model)
    assert again.link == link
    by_name = clone(model).set_params(link=link.spec)
    for each in (model, again, by_name):
        each.fit(X, y)
        assert each.fit_info_.converged.all()
    np.testing.assert_array_equal(again.coef_, model.coef_)
    np.testing.assert_array_equal(by_name.coef_, model.coef_)
    assert "link=" + repr(link)[:6] in repr(model)


@pytest.mark.parametrize("link", ["student_t:df=2", "flip:rate=0.01"])
def test_heavy_tails_and_flips_forgive_the_outlier(data, link):
    """The document on the wrong side halves the logistic weights; the forgiving links hardly notice it."""
    X, y = data
    change = {}
    for name in ("logit", link):
        with_it, without = (
            BayesLinearClassifier(link=name, prior="gaussian", scale=3.0).fit(X[rows], y[rows]).coef_[0]
            for rows in (slice(None), slice(1, None))
        )
        change[name] = np.linalg.norm(with_it - without) / np.linalg.norm(without)
    assert change["logit"] > 0.4
    assert change[link] < 0.25 * change["logit"]


def test_model_files_keep_the_parameters():
    texts = ["wheat and corn prices", "corn harvest falls", "bank raises rates", "the bank cuts its rates"] * 5
    labels = ["grain", "grain", "money", "money"] * 5
    classifier = BayesLinearClassifier(link=SkewT(df=2, skew=0.5), prior="gaussian")
    model = TextCategorizer(model=classifier, cv=2).fit(texts, labels)
    meta, arrays = model.to_state()
    again = TextCategorizer.from_state(json.loads(json.dumps(meta)), arrays)
    assert again.link_ == SkewT(df=2, skew=0.5)
    np.testing.assert_array_equal(again.predict_proba(texts[:4]), model.predict_proba(texts[:4]))


def test_classifiers_of_other_parameters_are_pooled_by_their_log_odds():
    texts = ["corn harvest", "bank rates"] * 5
    members = [BayesLinearClassifier(link=StudentT(df)) for df in (2.0, 4.0)]
    model = TextCategorizer(model=members, cv=2).fit(texts, ["grain", "money"] * 5)
    features = model.features(texts)
    scores = [member.scores(features) for member in model.model_.members]
    np.testing.assert_allclose(model.decision_function(texts), (model.pool_ @ np.array(scores)[:, :, 0]), rtol=1e-12)
