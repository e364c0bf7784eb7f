"""An online classifier that goes on from a ``TextCategorizer``."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from textbayes import BayesLinearClassifier, BayesOnlineClassifier, TextCategorizer
from textbayes.core.errors import InputError
from textbayes.models.online import OnlineLikelihood
from textbayes.models.online.batch import diagonal_from_batch

WORDS = {"grain": "corn wheat rain farm crop", "money": "bank rates loans yen bond", "sport": "goal match team coach"}


def texts_and_labels(seed, n_docs, names):
    rng = np.random.default_rng(seed)
    labels = rng.choice(names, n_docs).tolist()
    shared = ["report", "today", "year", "new", "week"]
    texts = [" ".join([*rng.choice(WORDS[name].split(), 3), *rng.choice(shared, 4)]) for name in labels]
    return texts, labels


@pytest.fixture(params=["binary", "multiclass"])
def names(request):
    return list(WORDS)[: 2 if request.param == "binary" else 3]


@pytest.mark.parametrize("covariance", ["diagonal", "full", "low_rank"])
def test_from_a_linear_model_its_weights_are_gaussian_with_its_standard_errors(names, covariance):
    texts, labels = texts_and_labels(0, 80, names)
    linear = BayesLinearClassifier("probit", "gaussian", scale=2.0)
    batch = TextCategorizer(model=linear, intervals=True, cv=2).fit(texts, labels)
    more, told = texts_and_labels(1, 20, names)
    X = batch.features(more).weights
    model = BayesOnlineClassifier("probit", covariance=covariance, noise=0.5, start=batch).partial_fit(X[:1], told[:1])
    assert model.classes_.tolist() == names
    errors, bias_errors = batch.standard_errors_, batch.model_.linear.intercept_errors_
    prior = diagonal_from_batch(batch.coef_, batch.intercept_, errors**2, bias_errors**2, noise=0.5)
    y = np.where(np.array(told[:1])[:, None] == np.array(names[1:] if len(names) == 2 else names), 1.0, -1.0)
    if covariance != "diagonal":  # after one document the others know more than variances: compare what comes before
        expected, _ = prior.learn(X[:1], y, OnlineLikelihood("probit", 0.5))
        np.testing.assert_allclose(model.coef_, expected.mean.T[:, 1:], atol=1e-8)
        return
    model.partial_fit(X[1:], told[1:])
    y = np.where(np.array(told)[:, None] == np.array(names[1:] if len(names) == 2 else names), 1.0, -1.0)
    expected, _ = prior.learn(X, y, OnlineLikelihood("probit", 0.5))
    np.testing.assert_allclose(model.posterior_.mean, expected.mean, atol=1e-12)
    np.testing.assert_allclose(model.posterior_.var, expected.var, atol=1e-12)


@pytest.mark.parametrize("covariance", ["diagonal", "full", "low_rank"])
def test_from_an_online_model_it_goes_on_where_that_was(names, covariance):
    texts, labels = texts_and_labels(0, 80, names)
    before = TextCategorizer(model=f"online:covariance={covariance}", cv=2).fit(texts, labels)
    more, told = texts_and_labels(1, 30, names)
    X = before.features(more).weights
    model = BayesOnlineClassifier(covariance=covariance, start=FrozenEstimator(before)).partial_fit(X, told)
    unchanged = before.predict_proba(more)
    after = TextCategorizer.from_state(*before.to_state()).update(more, told)
    np.testing.assert_allclose(model.predict_proba(X), after.predict_proba(more), rtol=0.0, atol=1e-12)
    np.testing.assert_array_equal(before.predict_proba(more), unchanged)  # a copy has learnt
    assert clone(model).partial_fit(X, told).predict(X).tolist() == model.predict(X).tolist()


def test_what_cannot_be_gone_on_from_is_refused():
    texts, labels = texts_and_labels(0, 60, ["grain", "money"])

    def started(model=None, fit=True, **settings):
        start = TextCategorizer(model=model, cv=2, intervals=settings.pop("intervals", False))
        X = start.fit(texts, labels).features(texts).weights
        return BayesOnlineClassifier(start=start if fit else clone(start), **settings).fit(X, labels)

    for arguments, cause in (
        ({"model": "linear:link=probit"}, "fitted without intervals"),
        ({"intervals": True}, "start has link 'logit' and this model 'probit'"),
        ({"model": "counts"}, "type 'counts', which has no Gaussian posterior"),
        ({"model": "online", "covariance": "full"}, "start keeps a diagonal covariance"),
        ({"model": "online", "noise": 2.0}, "only with link='probit' and noise=1"),
    ):
        with pytest.raises(InputError, match=cause):
            started(**arguments)
    with pytest.raises(NotFittedError, match="start is not fitted"):
        started("online", fit=False)
    with pytest.raises(InputError, match="start is a str; pass a BayesLinearClassifier or a TextCategorizer"):
        BayesOnlineClassifier(start="model.tb").fit([[0.0], [1.0]], ["a", "b"])
    with pytest.raises(InputError, match="X has 3 features, but start was fitted with"):
        BayesOnlineClassifier(start=TextCategorizer(model="online", cv=2).fit(texts, labels)).fit(
            np.eye(3), ["grain", "money", "grain"]
        )
