"""The hierarchical mean: a regression on stacked documents, the marginal prior, its derivatives, and what it is for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, sparse

from textbayes import BayesLinearClassifier, BayesLinearClassifierCV, TextCategorizer, load_model, save_model
from textbayes.core.errors import InputError, NotSupportedError

S, T = 0.7, 1.5


@pytest.fixture(scope="module")
def data():
    """Three labels of 60 documents with six words, whose weights are near a common mean."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 6)) * (rng.random((60, 6)) < 0.7)
    w = np.array([2.0, -2.0, 1.0, 0.0, 0.0, 0.0]) + 0.4 * rng.normal(size=(3, 6))
    return X, (X @ w.T + rng.logistic(size=(60, 3)) > 0.5).astype(int)


def fitted(X, Y, **more):
    settings = {"prior": "gaussian", "scale": S, "shared_scale": T, "tol": 1e-9, "max_iter": 500} | more
    return BayesLinearClassifier(**settings).fit(X, Y)


@pytest.mark.parametrize("inference", ["coordinate", "newton"])
def test_it_is_one_regression_on_documents_stacked_label_by_label(data, inference):
    X, Y = data
    n, p = X.shape
    own = sparse.block_diag([X] * 3)
    columns = [np.vstack([X] * 3), own.toarray(), np.repeat(np.eye(3), n, axis=0)]
    scales = np.concatenate([np.full(p, T), np.full(3 * p, S), np.full(3, 1e6)])
    whole = BayesLinearClassifier(prior="gaussian", scale=scales, fit_intercept=False, tol=1e-9, max_iter=500)
    whole.fit(np.hstack(columns), Y.T.ravel())
    shared, each = whole.coef_[0, :p], whole.coef_[0, p : 4 * p].reshape(3, p)
    model = fitted(X, Y, inference=inference)
    np.testing.assert_allclose(model.coef_, shared + each, atol=1e-4)
    np.testing.assert_allclose(model.intercept_, whole.coef_[0, 4 * p :], atol=1e-4)


def test_it_is_the_mode_under_the_prior_with_the_means_integrated_out(data):
    X, Y = data
    sign = np.where(Y > 0, 1.0, -1.0)
    precision = np.linalg.inv(S**2 * np.eye(3) + T**2)  # within a word, between labels

    def objective(theta):
        w, b = theta[:18].reshape(3, 6), theta[18:]
        return np.logaddexp(0.0, -sign * (X @ w.T + b)).sum() + 0.5 * np.einsum("kj,kl,lj", w, precision, w)

    model = fitted(X, Y)
    here = np.concatenate([model.coef_.ravel(), model.intercept_])
    np.testing.assert_allclose(optimize.approx_fprime(here, objective, 1e-6), 0.0, atol=1e-4)
    assert optimize.minimize(objective, here).fun == pytest.approx(objective(here), abs=1e-8)


@pytest.mark.parametrize("link", ["logit", "probit", "student_t:df=5"])
def test_weights_copies_links_and_own_scales_of_words(data, link):
    X, Y = data
    weight = np.random.default_rng(0).integers(1, 4, 60)
    rows = np.repeat(np.arange(60), weight)
    scales = np.linspace(0.3, 1.0, 18).reshape(3, 6)
    settings = {"link": link, "scale": scales, "mean": 0.2, "intercept_scale": 2.0, "tol": 1e-8}
    model = BayesLinearClassifier(prior="gaussian", shared_scale=T, max_iter=500, **settings)
    weighed = model.fit(X, Y, sample_weight=weight).coef_
    np.testing.assert_allclose(weighed, model.fit(X[rows], Y[rows]).coef_, atol=1e-4)


def test_ends_of_the_scale(data):
    X, Y = data
    apart = BayesLinearClassifier(prior="gaussian", scale=S, tol=1e-9).fit(X, Y)
    np.testing.assert_allclose(fitted(X, Y, shared_scale=1e-5, tol=1e-6).coef_, apart.coef_, atol=1e-5)
    alike = fitted(X, Y, scale=1e-4, tol=1e-5).coef_
    assert np.ptp(alike, axis=0).max() < 1e-4 < np.abs(alike).min()


def test_a_small_label_leans_on_the_others():
    """Twenty labels with nearly the same words; the last has eight documents."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=40)
    X, new = rng.normal(size=(400, 40)), rng.normal(size=(4_000, 40))
    w = common + 0.3 * rng.normal(size=(20, 40))
    Y = (X @ w.T + rng.logistic(size=(400, 20)) > 6.0).astype(int)
    Y[np.flatnonzero(Y[:, -1])[8:], -1] = 0
    truth = new @ w[-1]

    def correlation(**more):
        model = BayesLinearClassifier(prior="gaussian", scale=1.0, **more).fit(X, Y)
        return np.corrcoef(new @ model.coef_[-1], truth)[0, 1]

    assert correlation(shared_scale=2.0) > correlation() + 0.15


def test_in_a_categorizer_and_its_file(tmp_path):
    texts = ["wheat corn", "corn oil", "bank rates", "rates oil", "oil wheat bank"] * 6
    labels = [["grain"], ["grain", "oil"], ["money"], ["money", "oil"], ["oil"]] * 6
    model = TextCategorizer(model="linear:prior=gaussian,shared_scale=2", cv=2).fit(texts, labels)
    assert "around means of scale 2" in model.model_.single.settings_description() or model.pool_.tolist() == [1.0]
    save_model(model, tmp_path / "m.tb")
    np.testing.assert_array_equal(load_model(tmp_path / "m.tb").predict_proba(texts), model.predict_proba(texts))
    alone = TextCategorizer(model="linear:prior=gaussian", cv=2).fit(texts, labels)
    assert np.abs(model.coef_ - alone.coef_).max() > 0.05


def test_refusals(data):
    X, Y = data
    for settings, said in (
        ({"prior": "laplace"}, "needs a Gaussian prior"),
        ({"sign": 1}, "without signs"),
        ({"inference": "gibbs"}, "this inference samples"),
    ):
        with pytest.raises(NotSupportedError, match=said):
            fitted(X, Y, **settings)
    for settings, said in (({"scale": np.inf}, "finite scale"), ({"shared_scale": -1.0}, "shared_scale")):
        with pytest.raises(InputError, match=said):
            fitted(X, Y, **settings)
    with pytest.raises(InputError, match="two labels or more"):
        fitted(X, Y[:, 0])
    with pytest.raises(NotSupportedError, match="leave out select"):
        BayesLinearClassifier(prior="gaussian", shared_scale=1.0).fit(X, Y, words=np.ones((3, 6), dtype=bool))
    with pytest.raises(TypeError):
        BayesLinearClassifierCV(shared_scale=1.0)
