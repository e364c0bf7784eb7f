"""BayesLinearClassifierCV: what it finds, that its last fit is the plain one, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes import BayesLinearClassifier
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.priors.elastic_net import ElasticNet
from textbayes.tune import BayesLinearClassifierCV, norm_scale


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"rule": "one_se"},
        {"scoring": "f1"},
        {"per_label": False},
        {"method": "evidence"},
        {"method": "norm"},
        {"prior": "gaussian", "inference": "newton"},
        {"link": "probit"},
        {"scales": [0.1, 1.0, 5.0], "n_jobs": 2},
        {"prior": ElasticNet(scale=0.5, l1_ratio=0.8)},
        {"errors": "folds", "fit_intercept": False},
    ],
    ids=str,
)
def test_the_last_fit_is_the_plain_one_at_the_scale_found(texts, settings):
    X, Y = texts
    found = BayesLinearClassifierCV(**settings, tol=1e-9, max_iter=1000).fit(X, Y)
    prior = settings.get("prior", "laplace")
    if isinstance(prior, ElasticNet):
        prior, scale = ElasticNet(scale=0.5 * found.scale_[:, None], l1_ratio=0.8), 1.0
    else:
        scale = found.scale_[:, None]
    plain = BayesLinearClassifier(
        link=settings.get("link", "logit"), prior=prior, scale=scale, inference=settings.get("inference", "coordinate"),
        fit_intercept=settings.get("fit_intercept", True), tol=1e-9, max_iter=1000,
    ).fit(X, Y)  # fmt: skip
    np.testing.assert_allclose(found.coef_, plain.coef_, atol=1e-5)
    np.testing.assert_allclose(found.intercept_, plain.intercept_, atol=1e-5)
    np.testing.assert_allclose(found.predict_proba(X), plain.predict_proba(X), atol=1e-6)


def test_it_beats_scales_far_off(texts):
    X, Y = texts
    train, test = np.arange(0, 240, 2), np.arange(1, 240, 2)
    y = np.where(Y[test, 0], 1.0, -1.0)

    def loss(model):
        return np.logaddexp(0.0, -y * model.fit(X[train], Y[train, 0]).decision_function(X[test])).mean()

    chosen = loss(BayesLinearClassifierCV())
    assert chosen < min(loss(BayesLinearClassifier(scale=scale)) for scale in (0.05, 50.0))


def test_one_standard_error_keeps_fewer_words(texts):
    X, Y = texts
    best, one_se = (BayesLinearClassifierCV(rule=rule).fit(X, Y) for rule in ("best", "one_se"))
    assert (one_se.scale_ <= best.scale_).all()
    assert np.count_nonzero(one_se.coef_) < np.count_nonzero(best.coef_)


def test_norm_is_the_scale_of_the_lengths(texts):
    X, Y = texts
    model = BayesLinearClassifierCV(method="norm").fit(X, Y)
    np.testing.assert_allclose(model.scale_, norm_scale(X))
    assert model.search_ is None


def test_forms_of_labels_and_matrices(texts):
    X, Y = texts
    sparse_x, dense_x = (BayesLinearClassifierCV(scales=4).fit(M, Y) for M in (X, X.toarray()))
    np.testing.assert_array_equal(sparse_x.coef_, dense_x.coef_)
    names = np.where(Y[:, 0], "yes", "no")
    binary = BayesLinearClassifierCV(scales=4).fit(sparse.csc_matrix(X), names)
    assert binary.scale_.shape == (1,)
    assert set(binary.predict(X)) <= {"yes", "no"}
    many = BayesLinearClassifierCV(scales=4).fit(X, Y.argmax(axis=1))
    np.testing.assert_allclose(many.predict_proba(X).sum(axis=1), 1.0)


def test_words_and_intervals_go_through(texts):
    X, Y = texts
    words = np.random.default_rng(0).random((3, 60)) < 0.5
    model = BayesLinearClassifierCV(scales=4, intervals=True).fit(X, Y, words=words)
    assert (model.coef_[~words] == 0.0).all()
    low, high = model.predict_interval(X)
    assert (low <= high).all()


def test_parameters_are_those_of_the_constructor():
    model = BayesLinearClassifierCV(scales=3)
    assert {"scale", "warm_start"}.isdisjoint(model.get_params())
    assert model.get_params()["scales"] == 3


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"method": "guess"}, InputError, "method='guess' is not known"),
        ({"scales": 0}, InputError, "scales=0 is not usable"),
        ({"scales": 2.5}, InputError, r"scales=2\.5 is not usable"),
        ({"scales": [1.0, 0.1]}, InputError, "must grow"),
        ({"search_tol": 0.0}, InputError, r"search_tol=0\.0 is not usable"),
        ({"tol": -1.0}, InputError, r"tol=-1\.0 is not usable"),
        ({"cv": 1}, InputError, "pass 2 folds or more"),
        ({"method": "norm", "prior": ElasticNet()}, NotSupportedError, "name the prior instead"),
        ({"method": "norm", "prior": "horseshoe"}, InputError, "prior='horseshoe' is not known"),
        ({"method": "evidence", "prior": "jeffreys"}, NotSupportedError, "by cross-validation"),
    ],
    ids=str,
)
def test_what_is_refused(texts, settings, error, message):
    X, Y = texts
    with pytest.raises(error, match=message):
        BayesLinearClassifierCV(**settings).fit(X, Y)


def test_labels_and_lengths_that_do_not_fit(texts):
    X, Y = texts
    with pytest.raises(InputError, match="y is None"):
        BayesLinearClassifierCV().fit(X, None)
    with pytest.raises(InputError, match="X and y differ in length"):
        BayesLinearClassifierCV().fit(X, Y[:-1])
