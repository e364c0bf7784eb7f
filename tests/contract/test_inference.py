"""What must hold for every link × prior × inference; the table is enumerated, not listed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import optimize, sparse

from textbayes.core.errors import NotSupportedError
from textbayes.inference import inferences
from textbayes.linear import BayesLinearClassifier
from textbayes.links import links, make_link
from textbayes.priors import make_prior, priors

COMBINATIONS = list(product(links.names(), priors.names(), inferences.names()))


def _supported(link, prior, inference):
    try:
        inferences.get(inference).check(make_link(link), make_prior(prior, 1.0))
    except NotSupportedError:
        return False
    return True


@pytest.fixture(params=[c for c in COMBINATIONS if _supported(*c)], ids="-".join)
def combination(request):
    return dict(zip(("link", "prior", "inference"), request.param, strict=True))


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = sparse.random(80, 25, density=0.3, random_state=1, format="csr", data_rvs=lambda n: rng.gamma(2.0, 0.7, n))
    w = np.where(rng.random(25) < 0.3, rng.normal(0, 2, 25), 0.0)
    eta = X @ w - (X @ w).mean()
    Y = np.stack([eta + rng.logistic(size=80) > 0, rng.random(80) < 0.2, eta + rng.normal(size=80) > 1], axis=1)
    return X, Y


def _objective(model, X, y, w, b):
    """The negative log-posterior, written directly from link and prior."""
    link = make_link(model.link)
    prior = make_prior(model.prior, model.scale, model.mean)
    eta = X @ w + b
    return float(-link.log_prob(eta, np.where(y, 1.0, -1.0)).sum() + prior.neg_log(w).sum())


@pytest.mark.parametrize("scale", [0.3, 2.0])
def test_no_direction_improves_the_optimum(combination, data, scale):
    X, Y = data
    model = BayesLinearClassifier(**combination, scale=scale, tol=1e-9).fit(X, Y)
    rng = np.random.default_rng(2)
    for k in range(Y.shape[1]):
        best = _objective(model, X, Y[:, k], model.coef_[k], model.intercept_[k])
        for j, size in product(range(25), (-1e-3, 1e-3)):
            moved = model.coef_[k].copy()
            moved[j] += size
            assert _objective(model, X, Y[:, k], moved, model.intercept_[k]) >= best - 1e-9
        for _ in range(20):
            step = rng.normal(0, 1e-3, 26)
            assert _objective(model, X, Y[:, k], model.coef_[k] + step[:25], model.intercept_[k] + step[25]) >= best


def test_matches_a_general_optimiser(combination, data):
    X, Y = data
    model = BayesLinearClassifier(**combination, scale=1.5, tol=1e-9).fit(X, Y[:, 0])
    # |w| is split into two non-negative parts, which makes every supported prior smooth for L-BFGS-B.
    pack = lambda v: _objective(model, X, Y[:, 0], v[:25] - v[25:50], v[50])  # noqa: E731
    bounds = [(0, None)] * 50 + [(None, None)]
    other = optimize.minimize(
        pack, np.zeros(51), bounds=bounds, method="L-BFGS-B", options={"maxiter": 3000, "maxfun": 10**6}
    )
    ours = _objective(model, X, Y[:, 0], model.coef_[0], model.intercept_[0])
    assert ours <= other.fun + 1e-6 * abs(other.fun)


def test_reports_its_objective_and_violation(combination, data):
    X, Y = data
    model = BayesLinearClassifier(**combination, scale=1.5, tol=1e-8).fit(X, Y)
    prior = make_prior(model.prior, model.scale)
    for k in range(3):
        direct = _objective(model, X, Y[:, k], model.coef_[k], model.intercept_[k]) - prior.neg_log(np.zeros(25)).sum()
        assert model.fit_info_.objective[k] == pytest.approx(direct, rel=1e-10)
    assert (model.fit_info_.violation <= 1e-8).all()
    assert model.fit_info_.converged.all()


def test_dense_equals_sparse(combination, data):
    X, Y = data
    first, second = (BayesLinearClassifier(**combination, tol=1e-9).fit(M, Y) for M in (X, X.toarray()))
    np.testing.assert_array_equal(first.coef_, second.coef_)


def test_order_of_rows_and_features_does_not_matter(combination, data):
    X, Y = data
    rng = np.random.default_rng(3)
    rows, columns = rng.permutation(80), rng.permutation(25)
    first = BayesLinearClassifier(**combination, tol=1e-10).fit(X, Y)
    second = BayesLinearClassifier(**combination, tol=1e-10).fit(X[rows][:, columns], Y[rows])
    np.testing.assert_allclose(second.coef_, first.coef_[:, columns], atol=1e-6)


def test_weights_equal_repetition(combination, data):
    X, Y = data
    counts = np.random.default_rng(4).integers(1, 4, 80)
    weighted = BayesLinearClassifier(**combination, tol=1e-10).fit(X, Y, sample_weight=counts)
    repeated = BayesLinearClassifier(**combination, tol=1e-10).fit(
        X[np.repeat(np.arange(80), counts)], np.repeat(Y, counts, axis=0)
    )
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)


def test_labels_together_equal_labels_alone_on_any_number_of_threads(combination, data):
    X, Y = data
    together = BayesLinearClassifier(**combination, n_jobs=2, tol=1e-10).fit(X, Y)
    for k in range(3):
        alone = BayesLinearClassifier(**combination, tol=1e-10).fit(X, Y[:, k])
        np.testing.assert_allclose(together.coef_[k], alone.coef_[0], atol=1e-8)


def test_per_word_scale_and_mean(combination, data):
    """A tight prior pins its word to the mean; a wide one leaves the others free to move."""
    X, Y = data
    scale, mean = np.full(25, 2.0), np.zeros(25)
    scale[3], mean[3] = 1e-4, 1.7
    model = BayesLinearClassifier(**combination, scale=scale, mean=mean, tol=1e-9).fit(X, Y[:, 0])
    assert model.coef_[0, 3] == pytest.approx(1.7, abs=1e-2)
    assert np.abs(np.delete(model.coef_[0], 3)).max() > 0.1


def test_rows_of_scale_equal_separate_fits(combination, data):
    X, Y = data
    together = BayesLinearClassifier(**combination, scale=np.array([[0.3], [1.0], [3.0]]), tol=1e-10).fit(X, Y)
    for k, scale in enumerate((0.3, 1.0, 3.0)):
        alone = BayesLinearClassifier(**combination, scale=scale, tol=1e-10).fit(X, Y[:, k])
        np.testing.assert_allclose(together.coef_[k], alone.coef_[0], atol=1e-7)


def test_warm_start_reaches_the_same_optimum_in_fewer_steps(combination, data):
    X, Y = data
    model = BayesLinearClassifier(**combination, scale=1.0, tol=1e-9, warm_start=True).fit(X, Y)
    cold = BayesLinearClassifier(**combination, scale=1.05, tol=1e-9).fit(X, Y)
    model.set_params(scale=1.05).fit(X, Y)
    np.testing.assert_allclose(model.coef_, cold.coef_, atol=1e-6)
    assert model.n_iter_ <= cold.n_iter_


def test_no_intercept_and_penalised_intercept(combination, data):
    X, Y = data
    without = BayesLinearClassifier(**combination, fit_intercept=False, tol=1e-9).fit(X, Y)
    np.testing.assert_array_equal(without.intercept_, 0.0)
    # A penalised intercept is a column of ones with a prior of its own.
    ones = sparse.hstack([X, np.ones((80, 1))]).tocsr()
    column = BayesLinearClassifier(**combination, scale=0.7, fit_intercept=False, tol=1e-10).fit(ones, Y)
    penalised = BayesLinearClassifier(**combination, scale=0.7, intercept_scale=0.7, tol=1e-10).fit(X, Y)
    np.testing.assert_allclose(penalised.intercept_, column.coef_[:, -1], atol=1e-6)
    np.testing.assert_allclose(penalised.coef_, column.coef_[:, :-1], atol=1e-6)


def test_words_restrict_each_label_to_its_own(combination, data):
    X, Y = data
    words = np.random.default_rng(5).random((3, 25)) < 0.5
    model = BayesLinearClassifier(**combination, tol=1e-10).fit(X, Y, words=words)
    assert (model.coef_[~words] == 0.0).all()
    for k in range(3):
        alone = BayesLinearClassifier(**combination, tol=1e-10).fit(X[:, words[k]], Y[:, k])
        np.testing.assert_allclose(model.coef_[k, words[k]], alone.coef_[0], atol=1e-7)


def test_label_without_positives_gets_a_small_probability(combination, data):
    """Its maximum likelihood lies at minus infinity; half a document on either side keeps it finite."""
    X, Y = data
    empty = Y.copy()
    empty[:, 1] = False
    model = BayesLinearClassifier(**combination).fit(X, empty)
    np.testing.assert_array_equal(model.coef_[1], 0.0)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 0.5 / 81, rtol=1e-4)
    assert model.fit_info_.converged.all()
