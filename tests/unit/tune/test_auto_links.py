"""``link="auto"``: each label has the link that held-out documents find, and the last fit is the plain one with it."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes import BayesLinearClassifier
from textbayes.core.errors import NotSupportedError
from textbayes.links import make_link
from textbayes.tune import BayesLinearClassifierCV
from textbayes.tune.classifier import finalised

DRAWN = ("skew_t:df=inf,skew=0.5", "skew_t:df=inf,skew=2")


@pytest.fixture(scope="module")
def documents():
    """3,000 documents of three words, and two labels drawn with links that are mirror images."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(3000, 3))
    eta = np.column_stack([X @ [3.0, -1.5, 0.0], X @ [0.0, 3.0, -1.5]])
    return X, (rng.random((3000, 2)) < make_link(";".join(DRAWN)).probability(eta)).astype(int)


@pytest.fixture(scope="module")
def found(documents):
    return BayesLinearClassifierCV("auto", scales=3, cv=3, tol=1e-8, max_iter=1000, intervals=True).fit(*documents)


def test_labels_have_the_links_they_were_drawn_with(found):
    assert [make_link(found.link_).for_label(k).params()["skew"] for k in (0, 1)] == [0.5, 2.0]
    assert found.search_.loss.shape == (len(found.search_.links), 2)
    assert found.search_.loss[found.search_.best, [0, 1]].tolist() == found.search_.loss.min(axis=0).tolist()


def test_the_last_fit_is_the_plain_one_with_links_and_scales_found(found, documents):
    X, Y = documents
    for k in (0, 1):
        plain = BayesLinearClassifier(found.link_.for_label(k), scale=found.scale_[k], tol=1e-8, max_iter=1000)
        plain.fit(X, Y[:, k])
        np.testing.assert_allclose(found.coef_[k], plain.coef_[0], atol=1e-6)
        np.testing.assert_allclose(found.predict_proba(X)[:, k], plain.predict_proba(X)[:, 1], atol=1e-6)
    plain = finalised(BayesLinearClassifierCV("auto", scales=3, cv=3, tol=1e-8, max_iter=1000), X, Y)
    assert plain.link == found.link_
    np.testing.assert_allclose(plain.fit(X, Y).coef_, found.coef_, atol=1e-6)


def test_it_predicts_better_than_the_logit(found, documents):
    """The gain of the right link, on documents that neither saw."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(4000, 3))
    eta = np.column_stack([X @ [3.0, -1.5, 0.0], X @ [0.0, 3.0, -1.5]])
    y = np.where(rng.random((4000, 2)) < make_link(";".join(DRAWN)).probability(eta), 1.0, -1.0)
    logit = BayesLinearClassifierCV("logit", scales=3, cv=3).fit(*documents)
    losses = [-model.link_.log_prob(model.linear_predictor(X), y).mean() for model in (found, logit)]
    assert losses[0] < losses[1]


def test_it_is_fitted_again_to_other_labels(documents):
    X, Y = documents
    model = BayesLinearClassifierCV("auto", scales=2, cv=2).fit(X[:300], Y[:300])
    model.fit(X[:300], Y[:300, 0])
    assert model.coef_.shape == (1, 3)
    assert model.link_.for_label(0).name in ("logit", "probit", "student_t", "skew_t")


@pytest.mark.parametrize("method", ["evidence", "norm"])
def test_without_held_out_documents_it_is_refused(documents, method):
    with pytest.raises(NotSupportedError, match="link='auto' compares links on held-out documents"):
        BayesLinearClassifierCV("auto", method=method).fit(*documents)
