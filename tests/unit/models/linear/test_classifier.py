"""BayesLinearClassifier: forms of labels, probabilities at the extremes, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from textbayes import BayesLinearClassifier
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.inference.gibbs import Gibbs
from textbayes.priors.elastic_net import ElasticNet

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
y = X[:, 0] + 0.3 * RNG.normal(size=60) > 0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_and_weights_that_are_not_numbers(bad):
    broken = X.copy()
    broken[3, 1] = bad
    with pytest.raises(ValueError, match=r"contains (NaN|infinity)"):
        BayesLinearClassifier().fit(broken, y)
    with pytest.raises(ValueError, match=r"contains (NaN|infinity)"):
        BayesLinearClassifier().fit(sparse.csr_matrix(broken), y)
    weights = np.ones(60)
    weights[5] = bad
    with pytest.raises(ValueError, match=r"contains (NaN|infinity)"):
        BayesLinearClassifier().fit(X, y, sample_weight=weights)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (y[:-1], "X and y differ in length: 60 and 59"),
        (None, "y is None"),
        (np.ones(60), "only one class"),
        (np.full(60, None), "None"),
    ],
)
def test_labels_that_do_not_fit(labels, message):
    with pytest.raises(InputError, match=message):
        BayesLinearClassifier().fit(X, labels)


def test_negative_weights_and_weights_on_one_class():
    with pytest.raises(ValueError, match="Negative values"):
        BayesLinearClassifier().fit(X, y, sample_weight=np.full(60, -1.0))
    with pytest.raises(InputError, match="only one class has documents of positive weight"):
        BayesLinearClassifier().fit(X, y, sample_weight=y.astype(float))


def test_words_of_the_wrong_shape():
    with pytest.raises(InputError, match=r"one row per label: \(1, 4\)"):
        BayesLinearClassifier().fit(X, y, words=np.ones((2, 4)))


def test_classes_that_are_all_unlikely_stay_apart():
    labels = np.digitize(X[:, 1], [-0.5, 0.5])
    model = BayesLinearClassifier(scale=5.0).fit(X, labels)
    far = -1e3 * np.abs(X)
    proba = model.predict_proba(far)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    own = model.decision_function(far)
    hopeless = (own < -50.0).all(axis=1)
    np.testing.assert_array_equal(proba[hopeless].argmax(axis=1), own[hopeless].argmax(axis=1))


def test_the_matrix_given_is_not_changed():
    given = sparse.csc_matrix(sparse.random(60, 9, density=0.4, random_state=0))
    given.indices[: given.indptr[1]] = given.indices[: given.indptr[1]][::-1].copy()
    given.has_sorted_indices = False
    before = given.indices.copy(), given.data.copy()
    BayesLinearClassifier().fit(given, y)
    for old, new in zip(before, (given.indices, given.data), strict=True):
        np.testing.assert_array_equal(old, new)


def test_entries_given_in_two_halves_are_added():
    whole = sparse.csr_matrix(np.abs(X))
    halves = sparse.csr_matrix(
        (np.repeat(whole.data / 2, 2), np.repeat(whole.indices, 2), whole.indptr * 2), shape=whole.shape
    )
    first, second = (BayesLinearClassifier(tol=1e-9).fit(M, y) for M in (whole, halves))
    np.testing.assert_allclose(first.coef_, second.coef_, atol=1e-8)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_words_that_tell_nothing(link):
    """No warning, no weights: the intercept says all there is to say."""
    model = BayesLinearClassifier(link=link).fit(np.zeros((60, 3)), y)
    assert not model.coef_.any()
    np.testing.assert_allclose(model.predict_proba(np.zeros((1, 3)))[0, 1], y.mean(), rtol=1e-5)


def test_an_unfinished_fit_says_so():
    with pytest.warns(ConvergenceWarning, match="above tol=1e-12; raise max_iter or tol"):
        BayesLinearClassifier(scale=100.0, tol=1e-12, max_iter=1).fit(X, y)


def test_the_intercept_s_prior_keeps_its_family():
    weak, strong = (
        BayesLinearClassifier(prior=ElasticNet(scale=1.0, l1_ratio=0.7), intercept_scale=scale).fit(X + 1.0, y)
        for scale in (np.inf, 1e-3)
    )
    assert abs(strong.intercept_[0]) < 1e-3 < abs(weak.intercept_[0])


@pytest.mark.parametrize(("prior", "inference"), [("laplace", "coordinate"), ("gaussian", "newton")])
def test_threads_do_not_change_a_bit(prior, inference):
    """More labels than one block holds, so that several threads really share the work."""
    rng = np.random.default_rng(1)
    features = sparse.random(150, 40, density=0.2, random_state=2, format="csr")
    labels = rng.random((150, 21)) < rng.uniform(0.1, 0.5, 21)
    one, three = (
        BayesLinearClassifier(prior=prior, inference=inference, n_jobs=n_jobs).fit(features, labels)
        for n_jobs in (1, 3)
    )
    np.testing.assert_array_equal(one.coef_, three.coef_)
    np.testing.assert_array_equal(one.intercept_, three.intercept_)


def test_an_inference_object_brings_its_own_settings():
    from textbayes.inference.em import Em

    X, y = np.random.default_rng(0).normal(size=(40, 3)), [0, 1] * 20
    accelerated = BayesLinearClassifier(inference="em").fit(X, y)
    published = BayesLinearClassifier(inference=Em(plain=True, tol=1e-9, max_iter=2000)).fit(X, y)
    np.testing.assert_allclose(published.coef_, accelerated.coef_, atol=1e-3)
    assert published.n_iter_ > accelerated.n_iter_
    with pytest.raises(InputError, match="or an object such as"):
        BayesLinearClassifier(inference=3).fit(X, y)


def test_intervals_widen_probabilities_of_unfamiliar_documents():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + rng.logistic(size=60) > 0
    X[:, 1] *= 0.1  # hardly seen: its weight is hardly known
    settings = {"prior": "gaussian", "scale": 3.0, "inference": "newton", "tol": 1e-8}
    plain, wide = (BayesLinearClassifier(**settings, intervals=given).fit(X, y) for given in (False, True))
    np.testing.assert_array_equal(plain.coef_, wide.coef_)
    assert plain.standard_errors_ is None
    assert wide.standard_errors_[0, 1] > 3.0 * wide.standard_errors_[0, 0]
    documents = [[2.0, 0.0], [2.0, 3.0]]
    np.testing.assert_array_equal(plain.predict_proba(documents), wide.predict_proba(documents))
    certain = np.abs(wide.predict_proba(documents)[:, 1] - 0.5)
    averaged = np.abs(wide.predictive_proba(documents)[:, 1] - 0.5)
    assert (averaged < certain).all()
    lower, upper = wide.predict_interval(documents, level=0.8)
    assert (lower < upper).all()
    assert (upper - lower)[1, 0] > (upper - lower)[0, 0]
    # The interval of a monotone function of a Gaussian: 80 % of draws of the weights fall inside it.
    words, covariance = wide.approximation_.covariance(0)
    draws = rng.multivariate_normal(np.append(wide.intercept_, wide.coef_[0, words]), covariance, size=20_000)
    for document, low, high in zip(documents, lower[:, 0], upper[:, 0], strict=True):
        p = 1.0 / (1.0 + np.exp(-(draws @ np.append(1.0, document))))
        assert ((p > low) & (p < high)).mean() == pytest.approx(0.8, abs=0.015)
    with pytest.raises(InputError, match="intervals=True"):
        plain.predict_interval(documents)


def test_intervals_of_many_classes_add_up_to_one():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(90, 4)), np.repeat(["a", "b", "c"], 30)
    model = BayesLinearClassifier(prior="laplace", intervals=True).fit(X, y)
    np.testing.assert_allclose(model.predictive_proba(X).sum(axis=1), 1.0)
    np.testing.assert_array_equal(np.isnan(model.standard_errors_), model.coef_ == 0.0)


@pytest.mark.parametrize(
    ("link", "prior", "scale"),
    [("probit", "laplace", np.inf), ("probit", "horseshoe", 10.0), ("flip:rate=0.1,base=probit", "gaussian", 10.0)],
)
def test_an_intercept_is_free_unless_it_then_has_no_posterior(link, prior, scale):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    short = {"chains": 1, "warmup": 5, "max_draws": 20, "target_ess": 1.0, "max_r_hat": 99.0}
    models = [
        BayesLinearClassifier(link, prior, inference=Gibbs(**short), **given).fit(X, y)
        for given in ({}, {"intercept_scale": scale})
    ]
    np.testing.assert_array_equal(*(model.draws_.labels[0].intercept for model in models))
    assert models[0].intercept_scale == "auto"
    if np.isfinite(scale):  # who asks for a free one by name is told
        with pytest.raises(NotSupportedError, match="intercept_scale=10"):
            BayesLinearClassifier(link, prior, inference=Gibbs(**short), intercept_scale=np.inf).fit(X, y)


def test_intervals_of_weights_are_those_of_the_gaussian_around_the_mode():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 3))
    y = X @ [2.0, -1.0, 0.0] + rng.normal(size=80) > 0.0
    model = BayesLinearClassifier(prior="laplace", scale=0.2, intervals=True).fit(X, y)
    low, high = model.weight_intervals(0.95)
    held = model.coef_ == 0.0
    assert held.any()
    assert np.isnan(low[held]).all()
    assert ((low <= model.coef_) & (model.coef_ <= high))[~held].all()
    narrow = model.weight_intervals(0.5)
    assert (high - low > narrow[1] - narrow[0])[~held].all()
    middle = model.coef_ + model.approximation_.mean_shifts()[0]
    np.testing.assert_allclose(high[~held], (middle + 1.959964 * model.standard_errors_)[~held], rtol=1e-6)
    with pytest.raises(InputError, match="intervals=True"):
        BayesLinearClassifier().fit(X, y).weight_intervals()


@pytest.mark.parametrize("texts", [["corn rain", "bank rates"], np.array(["corn rain", "bank rates"])])
def test_texts_in_place_of_a_matrix_are_refused(texts):
    with pytest.raises(InputError, match="put a TextVectorizer before this estimator, or use TextCategorizer"):
        BayesLinearClassifier().fit(texts, ["grain", "money"])
