"""The online estimator: the posteriors' own updates, in any portions, for every kind of labels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, sparse, special
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import BernoulliNB

from textbayes import BayesLinearClassifier, BayesOnlineClassifier
from textbayes.core.errors import InputError
from textbayes.models.online import (
    PAPER_FLIP,
    DiagonalPosterior,
    FullPosterior,
    LowRankPosterior,
    OnlineLikelihood,
    expected_information_gain,
)
from textbayes.models.online.batch import continued

COVARIANCES = ("diagonal", "full", "low_rank")
KINDS = ("binary", "multiclass", "multilabel")


def documents(kind="binary", n_docs=60, n_words=8, seed=0):
    """X, labels, all classes, and the outcomes −1/+1 that the labels stand for, one column per posterior."""
    rng = np.random.default_rng(seed)
    X = sparse.random(n_docs, n_words, density=0.4, random_state=rng, format="csr")
    eta = X @ rng.normal(0.0, 3.0, (n_words, 3)) + rng.normal(0.0, 0.5, (n_docs, 3))
    names = np.array(["arts", "sport", "trade"])
    if kind == "binary":
        return X, names[(eta[:, 0] > 0.0).astype(int)], names[:2], np.where(eta[:, :1] > 0.0, 1.0, -1.0)
    if kind == "multiclass":
        best = eta.argmax(axis=1)
        return X, names[best], names, np.where(best[:, None] == np.arange(3), 1.0, -1.0)
    lists = [tuple(names[row]) for row in eta > 0.0]
    return X, lists, names, np.where(eta > 0.0, 1.0, -1.0)


def own_posteriors(covariance, n_words, n_labels, scale, intercept_scale, rank):
    variances = scale**2, intercept_scale**2
    if covariance == "full":
        return [FullPosterior.start(range(n_words), *variances) for _ in range(n_labels)]
    if covariance == "low_rank":
        return [LowRankPosterior.start(range(n_words), rank, *variances) for _ in range(n_labels)]
    return [DiagonalPosterior.start(n_words, 1, *variances) for _ in range(n_labels)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_in_portions_as_in_one(kind, covariance):
    X, y, classes, _ = documents(kind)
    settings = {"covariance": covariance, "rank": 3, "forgetting_factor": 0.99}
    whole = BayesOnlineClassifier(**settings).fit(X, y)
    parts = BayesOnlineClassifier(**settings)
    for begin, end in ((0, 1), (1, 31), (31, 60)):
        parts.partial_fit(X[begin:end], y[begin:end], classes=classes if begin == 0 else None)
    np.testing.assert_array_equal(parts.classes_, whole.classes_)
    assert parts.label_space_.kind == whole.label_space_.kind == kind
    # Rank-one updates that are put off are added up in blocks, which portions cut elsewhere: equal up to rounding.
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(parts.log_evidence_, whole.log_evidence_, rtol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("link", ["probit", "logit"])
def test_learns_what_the_posteriors_learn(kind, covariance, link):
    X, y, _, outcomes = documents(kind, n_docs=25)
    model = BayesOnlineClassifier(link, 1.5, 0.7, covariance, rank=3, passes=2, forgetting_factor=0.98).fit(X, y)
    likelihood, gains = OnlineLikelihood(link), model.information_gain(X)
    own = own_posteriors(covariance, 8, outcomes.shape[1], 1.5, 0.7, 3)
    plus = np.empty(outcomes.shape)
    for column, posterior in enumerate(own):
        learnt, info = posterior.learn(X, outcomes[:, column], likelihood, 2, 0.98)
        mean, var = learnt.predict(X)
        plus[:, column] = likelihood.predictive(mean, var)[:, 0]
        np.testing.assert_allclose(model.coef_[column], np.ravel(learnt.mean)[1:], rtol=1e-12)
        np.testing.assert_allclose(model.intercept_[column], np.ravel(learnt.mean)[0], rtol=1e-12)
        np.testing.assert_allclose(model.log_evidence_[column], info.log_evidence[0, 0], rtol=1e-12)
        bits = expected_information_gain(mean, var, likelihood)[:, 0]
        np.testing.assert_allclose(gains[:, column], bits, rtol=1e-9)
    proba, odds = model.predict_proba(X), model.decision_function(X)
    np.testing.assert_allclose(odds.reshape(plus.shape), special.logit(plus), rtol=1e-7, atol=1e-9)
    if kind == "binary":
        np.testing.assert_allclose(proba, np.hstack([1.0 - plus, plus]), rtol=1e-9)
        np.testing.assert_array_equal(model.predict(X), np.where(plus[:, 0] > 0.5, "sport", "arts"))
    elif kind == "multiclass":
        np.testing.assert_allclose(proba, plus / plus.sum(axis=1, keepdims=True), rtol=1e-9)
        np.testing.assert_array_equal(model.predict(X), model.classes_[plus.argmax(axis=1)])
    else:
        np.testing.assert_allclose(proba, plus, rtol=1e-9)
        np.testing.assert_array_equal(model.predict(X), plus > 0.5)


def test_one_document_by_integration():
    """After one document of one word the posterior has the moments of p(y | w) N(w), and p is its average."""
    scale, x = 1.3, 0.8
    model = BayesOnlineClassifier("logit", scale, 0.0, "full").partial_fit([[x]], ["yes"], classes=["no", "yes"])

    def moment(power):
        def density(w):
            return w**power * special.expit(x * w) * np.exp(-0.5 * (w / scale) ** 2)

        return integrate.quad(density, -15.0, 15.0, epsabs=1e-13, epsrel=1e-12)[0]

    mean = moment(1) / moment(0)
    var = moment(2) / moment(0) - mean**2
    np.testing.assert_allclose(model.coef_[0, 0], mean, rtol=1e-7)
    evidence = moment(0) / (scale * np.sqrt(2.0 * np.pi))
    np.testing.assert_allclose(model.log_evidence_[0], np.log(evidence), rtol=1e-7)
    new = 2.0

    def average(w):
        return special.expit(new * w) * np.exp(-0.5 * (w - mean) ** 2 / var) / np.sqrt(2.0 * np.pi * var)

    proba = integrate.quad(average, mean - 15.0, mean + 15.0, epsabs=1e-13, epsrel=1e-12)[0]
    np.testing.assert_allclose(model.predict_proba([[new]])[0], [1.0 - proba, proba], rtol=1e-7)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_whole_weights_are_repetition_in_place(covariance):
    X, y, _, _ = documents("multiclass")
    weight = np.random.default_rng(3).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    repeated = BayesOnlineClassifier(covariance=covariance, passes=2).fit(X[rows], y[rows])
    weighted = BayesOnlineClassifier(covariance=covariance, passes=2).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(weighted.coef_, repeated.coef_)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_threads_do_not_matter(covariance):
    X, y, _, _ = documents("multilabel")
    one = BayesOnlineClassifier(covariance=covariance).fit(X, y)
    two = BayesOnlineClassifier(covariance=covariance, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_labels_in_every_form():
    X, lists, names, outcomes = documents("multilabel")
    matrix = (outcomes > 0.0).astype(int)
    told = BayesOnlineClassifier().fit(X, lists)
    by_matrix = BayesOnlineClassifier().partial_fit(X, matrix)  # the columns tell how many labels there are
    np.testing.assert_array_equal(by_matrix.classes_, [0, 1, 2])
    named = BayesOnlineClassifier().partial_fit(X[:20], sparse.csr_matrix(matrix[:20]), classes=names)
    named.partial_fit(X[20:], lists[20:])
    np.testing.assert_array_equal(named.classes_, told.classes_)
    np.testing.assert_allclose(named.coef_, told.coef_, rtol=1e-12)
    np.testing.assert_array_equal(by_matrix.coef_, told.coef_)
    # Classes of single labels are sorted, whatever the order they are named in.
    X, y, _, _ = documents("multiclass")
    model = BayesOnlineClassifier().partial_fit(X, y, classes=["trade", "arts", "sport"])
    assert model.classes_.tolist() == ["arts", "sport", "trade"]
    np.testing.assert_array_equal(model.coef_, BayesOnlineClassifier().fit(X, y).coef_)


def test_scale_by_word_and_label():
    X, y, _, _ = documents("multiclass")
    scale = np.full((3, 8), 2.0)
    scale[:, 5] = 0.0
    for covariance in ("diagonal", "full"):
        by_row = BayesOnlineClassifier(scale=scale, covariance=covariance).fit(X, y)
        by_word = BayesOnlineClassifier(scale=scale[0], covariance=covariance).fit(X, y)
        np.testing.assert_array_equal(by_row.coef_, by_word.coef_)
        assert (by_row.coef_[:, 5] == 0.0).all()
        assert (by_row.coef_[:, :5] != 0.0).all()


def test_a_likelihood_with_noise():
    X, y, _, outcomes = documents()
    model = BayesOnlineClassifier(PAPER_FLIP, 1.0, 1.0, "full").fit(X, y)
    learnt, _ = FullPosterior.start(range(8)).learn(X, outcomes, PAPER_FLIP)
    np.testing.assert_array_equal(model.coef_[0], learnt.mean[1:])
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], PAPER_FLIP.predictive(*learnt.predict(X))[:, 0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
@pytest.mark.parametrize("covariance", ["diagonal", "full", "low_rank"])
def test_a_batch_posterior_goes_on(kind, prior, covariance):
    X, y, _, outcomes = documents(kind)
    batch = BayesLinearClassifier("probit", prior, scale=0.3, tol=1e-8, intervals=True).fit(X[:40], y[:40])
    before = continued(batch, covariance, np.full(batch.coef_.shape, 0.9), noise=1.0)
    mean, var = before.predict(X)
    np.testing.assert_allclose(mean, batch.linear_predictor(X), rtol=1e-12, atol=1e-12)
    held = np.isnan(batch.standard_errors_)
    assert held.any() == (prior == "laplace")
    if covariance != "diagonal":  # the batch's own variance of every document, and 0.9² x_j² for each word it holds
        added = np.asarray(X.power(2) @ (0.81 * held.T))
        np.testing.assert_allclose(var, batch.approximation_.variance(X) + added, rtol=1e-9)
    else:
        words, bias = batch.approximation_.standard_errors()
        np.testing.assert_allclose(before.var[1:].T, np.where(held, 0.9, words) ** 2)
        np.testing.assert_allclose(before.var[0], bias**2)
    model = BayesOnlineClassifier(scale=0.9, covariance=covariance, start=batch).partial_fit(X[40:], y[40:])
    np.testing.assert_array_equal(model.classes_, batch.classes_)
    expected, _ = before.learn(X[40:], outcomes[40:], OnlineLikelihood("probit"))
    np.testing.assert_allclose(model.linear_predictor(X).mean, expected.predict(X).mean, rtol=1e-12)
    again = clone(BayesOnlineClassifier(scale=0.9, covariance=covariance, start=FrozenEstimator(batch)))
    np.testing.assert_allclose(again.fit(X[40:], y[40:]).coef_, model.coef_, rtol=1e-12)


def test_a_start_whose_likelihood_has_noise():
    """x'w/noise is the batch fit's linear predictor, so that its probabilities stay."""
    X, y, _, _ = documents()
    batch = BayesLinearClassifier("probit", "gaussian", intervals=True).fit(X, y)
    models = [
        BayesOnlineClassifier(OnlineLikelihood("probit", noise), covariance="full", start=batch).fit(X, y)
        for noise in (1.0, 0.5)
    ]
    np.testing.assert_allclose(models[1].coef_, 0.5 * models[0].coef_, rtol=1e-9)
    np.testing.assert_allclose(models[1].predict_proba(X), models[0].predict_proba(X), rtol=1e-9)
    before = continued(batch, "full", np.ones((1, 8)), noise=0.5)
    proba = OnlineLikelihood("probit", 0.5).predictive(*before.predict(X))[:, 0]
    np.testing.assert_allclose(proba, batch.predictive_proba(X)[:, 1], rtol=1e-9)


def test_asks_for_what_it_does_not_know():
    model = BayesOnlineClassifier(intercept_scale=0.1).fit([[1.0, 0.0], [-1.0, 0.0]] * 20, ["yes", "no"] * 20)
    known, unknown = model.information_gain([[0.5, 0.0], [0.0, 0.5]])
    assert unknown > known > 0.0


def first(**settings):
    X, y, classes, _ = documents("multiclass")
    return BayesOnlineClassifier(**settings).partial_fit(X, y, classes=classes)


def start(fit=True, **settings):
    X, y, _, _ = documents("multiclass")
    batch = BayesLinearClassifier(**{"link": "probit", "prior": "gaussian", "intervals": True} | settings)
    return batch.fit(X, y) if fit else batch


ROW = np.ones((1, 8))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: first().partial_fit(ROW, ["law"]), "'law' is not among the classes"),
        (lambda: first().partial_fit(ROW, ["arts"], classes=["arts", "law"]), "given in the first call"),
        (lambda: first().partial_fit(ROW, [["arts"]]), "lists or a matrix"),
        (lambda: first().partial_fit(ROW, ["arts"], sample_weight=[0.5]), "whole numbers"),
        (lambda: first().partial_fit(ROW, ["arts"], sample_weight=[0]), "ample.weight"),
        (lambda: first().partial_fit(ROW, ["arts", "sport"]), "differ in length"),
        (
            lambda: first().partial_fit(np.ones((1, 9)), ["arts"]),
            "9 features, but BayesOnlineClassifier is expecting 8",
        ),
        (lambda: BayesOnlineClassifier().partial_fit(ROW, ["arts"]), "classes must be passed on the first call"),
        (lambda: BayesOnlineClassifier().partial_fit(ROW, ["arts"], classes=["arts"]), "only one class"),
        (lambda: BayesOnlineClassifier().fit([[1.0], [2.0]], [0, 1], sample_weight=[1, 0]), "only one class"),
        (lambda: first(covariance="block"), "covariance='block' is not known"),
        (lambda: first(passes=0), "passes=0"),
        (lambda: first(forgetting_factor=0.0), "forgetting_factor=0"),
        (lambda: first(scale=-1.0), "scale=-1.0 is not usable"),
        (lambda: first(scale=np.ones(7)), "scale has shape"),
        (lambda: first(intercept_scale=np.inf), "intercept_scale=inf"),
        (lambda: first(intercept_scale=[1.0, 2.0]), "intercept_scale has shape"),
        (lambda: first(covariance="low_rank", rank=1.5), "rank=1.5"),
        (lambda: first(n_jobs=0), "n_jobs=0"),
        (lambda: first(start=BernoulliNB()), "start is a BernoulliNB"),
        (lambda: first(start=start(intervals=False)), "fit it with intervals=True"),
        (lambda: first(start=start(), link="logit"), "only with link='probit'"),
        (lambda: first(start=start(), covariance="low_rank", rank=0), "rank=0"),
        (lambda: first(start=start(fit_intercept=False), covariance="low_rank"), "every variance must be positive"),
        (lambda: BayesOnlineClassifier(start=start()).fit(np.ones((1, 9)), ["arts"]), "start was fitted with 8"),
        (lambda: BayesOnlineClassifier(start=start()).fit(ROW, ["law"]), "'law' is not among"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_what_does_not_fit_into_memory_is_refused_at_once():
    wide = sparse.csr_matrix(([1.0, 1.0], ([0, 1], [0, 99_999])), shape=(2, 100_000))
    with pytest.raises(InputError, match="need 75 GiB; use covariance='low_rank'"):
        BayesOnlineClassifier(covariance="full").fit(wide, [0, 1])


def test_a_refused_portion_changes_nothing():
    model = first()
    coef = model.coef_.copy()
    for y in (["law"], ["arts", "arts"]):
        with pytest.raises(InputError):
            model.partial_fit(ROW, y)
    np.testing.assert_array_equal(model.coef_, coef)


def test_not_fitted():
    with pytest.raises(NotFittedError):
        BayesOnlineClassifier().predict(ROW)
    assert not hasattr(BayesOnlineClassifier(), "coef_")
    with pytest.raises(NotFittedError, match="FrozenEstimator"):
        first(start=clone(start()))
