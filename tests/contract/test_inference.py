"""What must hold for every link × prior × inference; the table is enumerated, not listed.

``coordinate`` meets every link with every prior, and must find an optimum there. Where the problem is convex, every
other inference must find the optimum that ``coordinate`` finds; where it is not, which optimum is found depends on the
start and the order of the steps, but it must be one, which is tried with every prior and with every link. What a
problem is made of (weights, words, scales) each of them is tried on with one link and prior, ``coordinate`` with every
link and with every prior.
"""

from __future__ import annotations

import importlib.util
from itertools import product

import numpy as np
import pytest
from scipy import optimize, sparse

from references.optimality import slope_of, supported
from textbayes.core.errors import NotSupportedError
from textbayes.inference import inferences
from textbayes.inference.em import BlockEm
from textbayes.links import links, make_link
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.priors import make_prior, priors


def _convex(link, prior, *_):
    return make_link(link).log_concave and priors.get(prior).log_concave


MODES = [name for name in inferences.names() if not inferences.get(name).samples]  # the others: test_sampling.py
SUPPORTED = [c for c in product(links.names(), priors.names(), MODES) if supported(*c)]


def _usual_prior(link, inference):
    return next(prior for prior in ("laplace", *priors.names()) if (link, prior, inference) in SUPPORTED)


CROSSED = [c for c in SUPPORTED if c[2] == "coordinate" or c[0] == "logit" or c[1] == _usual_prior(c[0], c[2])]
IN_FULL = [
    c
    for c in CROSSED
    if (c[0] == "logit" and c[1] == _usual_prior(c[0], c[2]))
    or (c[2] == "coordinate" and (c[0] == "logit" or c[1] == _usual_prior(c[0], c[2])))
]


def _settings(combination):
    return dict(zip(("link", "prior", "inference"), combination, strict=True))


@pytest.fixture(params=CROSSED, ids="-".join)
def crossed(request):
    return _settings(request.param)


@pytest.fixture(params=IN_FULL, ids="-".join)
def combination(request):
    return _settings(request.param)


@pytest.fixture(params=[c for c in IN_FULL if _convex(*c)], ids="-".join)
def convex(request):
    return _settings(request.param)


@pytest.fixture(autouse=True)
def several_blocks(monkeypatch):
    """The small problems here would fit into one block."""
    monkeypatch.setattr(BlockEm, "default_memory", 4096)


@pytest.fixture(autouse=True)
def torch_is_there(request):
    if "gpu" in request.node.name and importlib.util.find_spec("torch") is None:
        pytest.skip("inference 'gpu' needs torch, which is not installed")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = sparse.random(80, 25, density=0.3, random_state=1, format="csr", data_rvs=lambda n: rng.gamma(2.0, 0.7, n))
    w = np.where(rng.random(25) < 0.3, rng.normal(0, 2, 25), 0.0)
    eta = X @ w - (X @ w).mean()
    Y = np.stack([eta + rng.logistic(size=80) > 0, rng.random(80) < 0.2, eta + rng.normal(size=80) > 1], axis=1)
    return X, Y


def _objective(model, X, y, w, b, skip=()):
    """The negative log-posterior, written directly from link and prior, without the prior of the words to skip."""
    return _objectives(model, X, y, w[None], np.array([b]), skip)[0]


def _objectives(model, X, y, weights, intercepts, skip=()):
    """The same for several vectors of weights, one a row."""
    link = make_link(model.link)
    prior = make_prior(model.prior, model.scale, model.mean)
    eta = X @ weights.T + intercepts
    fit = link.log_prob(eta, np.where(y, 1.0, -1.0)[:, None] + np.zeros_like(eta)).sum(axis=0)
    penalties = np.array([prior.neg_log(w) for w in weights]).reshape(weights.shape)
    return np.delete(penalties, skip, axis=1).sum(axis=1) - fit


def _wide():
    """More words than documents, and documents that repeat each other."""
    rng = np.random.default_rng(10)
    X = sparse.random(30, 60, density=0.15, random_state=11, format="csr")
    X = sparse.vstack([X, X[:10]]).tocsr()
    return X, rng.random(40) < 0.4, {}, {"scale": 3.0}


def _weighted():
    """Words that are wide, narrow and free, prior means, and documents that count for more or for nothing."""
    rng = np.random.default_rng(12)
    X = sparse.random(120, 12, density=0.5, random_state=13, format="csr")
    y = X @ rng.normal(0, 2, 12) + rng.logistic(size=120) > 0.0
    weight = rng.integers(0, 4, 120).astype(float)
    scale = np.where(np.arange(12) < 2, np.inf, rng.choice([0.2, 5.0], 12))
    return X, y, {"sample_weight": weight}, {"scale": scale, "mean": rng.normal(0, 0.5, 12)}


def _rare():
    """Few positives, words on wildly different scales, and one word that occurs in no document."""
    rng = np.random.default_rng(14)
    X = sparse.random(200, 20, density=0.2, random_state=15, format="csr") @ sparse.diags(
        10.0 ** rng.uniform(-2, 1, 20)
    )
    X = sparse.hstack([X, sparse.csr_matrix((200, 1))]).tocsr()
    return X, np.arange(200) % 40 == 0, {}, {"scale": 0.5}


@pytest.mark.parametrize("make", [_wide, _weighted, _rare], ids=lambda make: make.__name__[1:])
@pytest.mark.parametrize("combination", [c for c in SUPPORTED if _convex(*c) and c[2] != "coordinate"], ids="-".join)
def test_every_inference_finds_the_optimum_of_a_convex_problem(combination, make):
    X, y, given, hyperparameters = make()
    settings = _settings(combination) | hyperparameters
    ours = BayesLinearClassifier(**settings, tol=1e-7, max_iter=200).fit(X, y, **given)
    other = BayesLinearClassifier(**settings | {"inference": "coordinate"}, tol=1e-9).fit(X, y, **given)
    np.testing.assert_allclose(ours.fit_info_.objective, other.fit_info_.objective, rtol=1e-6)


@pytest.mark.parametrize("scale", [0.3, 2.0])
def test_no_direction_improves_the_optimum(crossed, data, scale):
    X, Y = data
    model = BayesLinearClassifier(**crossed, scale=scale, tol=1e-9).fit(X, Y)
    rng = np.random.default_rng(2)
    for k in range(Y.shape[1]):
        coef, intercept = model.coef_[k], model.intercept_[k]
        # At a pole the density is infinite: no move away from it improves, and the others are compared without it.
        held = np.flatnonzero(coef == 0.0) if priors.get(model.prior).pole else []
        best = _objective(model, X, Y[:, k], coef, intercept, held)
        alone = np.delete(np.eye(26), [*held, 25], axis=0)
        steps = 1e-3 * np.concatenate([alone, -alone])
        moved = _objectives(model, X, Y[:, k], coef + steps[:, :25], intercept + steps[:, 25], held)
        assert (moved >= best - 1e-9).all()
        steps = rng.normal(0, 1e-3, (20, 26))
        steps[:, held] = 0.0
        assert (_objectives(model, X, Y[:, k], coef + steps[:, :25], intercept + steps[:, 25], held) >= best).all()


@pytest.mark.parametrize(("link", "prior"), [c[:2] for c in SUPPORTED if _convex(*c) and c[2] == "coordinate"], ids=str)
def test_matches_a_general_optimiser(link, prior, data):
    """w = v⁺ − v⁻ with both parts ≥ 0 and penalised apart has the same optimum, and no kink for L-BFGS-B."""
    X, Y = data
    model = BayesLinearClassifier(link, prior, scale=1.5, tol=1e-9).fit(X, Y[:, 0])
    likelihood, penalty, y = make_link(link), make_prior(prior, 1.5), np.where(Y[:, 0], 1.0, -1.0)

    def parts(v):
        eta = X @ (v[:25] - v[25:50]) + v[50]
        score = X.T @ likelihood.score(eta, y)
        slope = slope_of(penalty, np.maximum(v[:50], np.finfo(float).tiny))  # at zero the one from the right
        value = -likelihood.log_prob(eta, y).sum() + penalty.penalty(v[:50]).sum()
        return value, np.concatenate([slope + np.append(-score, score), [-likelihood.score(eta, y).sum()]])

    bounds = [(0, None)] * 50 + [(None, None)]
    options = {"maxiter": 3000, "ftol": 1e-14, "gtol": 1e-9}
    other = optimize.minimize(parts, np.zeros(51), jac=True, bounds=bounds, method="L-BFGS-B", options=options)
    assert model.fit_info_.objective[0] == pytest.approx(other.fun, rel=1e-7)


def test_reports_its_objective_and_violation(crossed, data):
    X, Y = data
    model = BayesLinearClassifier(**crossed, scale=1.5, tol=1e-8).fit(X, Y)
    prior = make_prior(model.prior, model.scale)
    for k in range(3):
        held = np.flatnonzero(model.coef_[k] == 0.0) if prior.pole else []
        direct = _objective(model, X, Y[:, k], model.coef_[k], model.intercept_[k], held)
        direct -= 0.0 if prior.pole else prior.neg_log(np.zeros(25)).sum()
        assert model.fit_info_.objective[k] == pytest.approx(direct, rel=1e-10)
    assert (model.fit_info_.violation <= 1e-8).all()
    assert model.fit_info_.converged.all()


def test_dense_equals_sparse(combination, data):
    X, Y = data
    first, second = (BayesLinearClassifier(**combination, tol=1e-9).fit(M, Y) for M in (X, X.toarray()))
    np.testing.assert_array_equal(first.coef_, second.coef_)


def test_order_of_rows_and_features_does_not_matter(convex, data):
    X, Y = data
    rng = np.random.default_rng(3)
    rows, columns = rng.permutation(80), rng.permutation(25)
    first = BayesLinearClassifier(**convex, tol=1e-10).fit(X, Y)
    second = BayesLinearClassifier(**convex, tol=1e-10).fit(X[rows][:, columns], Y[rows])
    np.testing.assert_allclose(second.coef_, first.coef_[:, columns], atol=1e-6)


def test_weights_equal_repetition(combination, data):
    X, Y = data
    counts = np.random.default_rng(4).integers(1, 4, 80)
    weighted = BayesLinearClassifier(**combination, tol=1e-10).fit(X, Y, sample_weight=counts)
    repeated = BayesLinearClassifier(**combination, tol=1e-10).fit(
        X[np.repeat(np.arange(80), counts)], np.repeat(Y, counts, axis=0)
    )
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)


def test_labels_together_equal_labels_alone(combination, data):
    X, Y = data
    together = BayesLinearClassifier(**combination, n_jobs=2, tol=1e-10).fit(X, Y)
    for k in range(3):
        alone = BayesLinearClassifier(**combination, tol=1e-10).fit(X, Y[:, k])
        np.testing.assert_allclose(together.coef_[k], alone.coef_[0], atol=1e-8)


def test_per_word_scale_and_mean(convex, data):
    """A tight prior pins its word to the mean; a wide one leaves the others free to move."""
    X, Y = data
    scale, mean = np.full(25, 2.0), np.zeros(25)
    scale[3], mean[3] = 1e-4, 1.7
    model = BayesLinearClassifier(**convex, scale=scale, mean=mean, tol=1e-9).fit(X, Y[:, 0])
    assert model.coef_[0, 3] == pytest.approx(1.7, abs=1e-2)
    assert np.abs(np.delete(model.coef_[0], 3)).max() > 0.1


def test_rows_of_scale_equal_separate_fits(combination, data):
    X, Y = data
    together = BayesLinearClassifier(**combination, scale=np.array([[0.3], [1.0], [3.0]]), tol=1e-10).fit(X, Y)
    for k, scale in enumerate((0.3, 1.0, 3.0)):
        alone = BayesLinearClassifier(**combination, scale=scale, tol=1e-10).fit(X, Y[:, k])
        np.testing.assert_allclose(together.coef_[k], alone.coef_[0], atol=1e-7)


def test_warm_start_reaches_the_same_optimum_in_fewer_steps(convex, data):
    X, Y = data
    model = BayesLinearClassifier(**convex, scale=1.0, tol=1e-9, warm_start=True).fit(X, Y)
    cold = BayesLinearClassifier(**convex, scale=1.05, tol=1e-9).fit(X, Y)
    model.set_params(scale=1.05).fit(X, Y)
    np.testing.assert_allclose(model.coef_, cold.coef_, atol=1e-6)
    assert model.n_iter_ <= cold.n_iter_


def test_no_intercept_and_penalised_intercept(convex, data):
    X, Y = data
    without = BayesLinearClassifier(**convex, fit_intercept=False, tol=1e-9).fit(X, Y)
    np.testing.assert_array_equal(without.intercept_, 0.0)
    # A penalised intercept is a column of ones with a prior of its own.
    ones = sparse.hstack([X, np.ones((80, 1))]).tocsr()
    column = BayesLinearClassifier(**convex, scale=0.7, fit_intercept=False, tol=1e-10).fit(ones, Y)
    penalised = BayesLinearClassifier(**convex, scale=0.7, intercept_scale=0.7, tol=1e-10).fit(X, Y)
    np.testing.assert_allclose(penalised.intercept_, column.coef_[:, -1], atol=1e-6)
    np.testing.assert_allclose(penalised.coef_, column.coef_[:, :-1], atol=1e-6)


def test_mean_and_scale_of_each_intercept(convex, data):
    X, Y = data
    ones = sparse.hstack([X, np.ones((80, 1))]).tocsr()
    means, scales = np.array([-1.5, 0.0, 2.0]), np.array([0.2, 0.7, 1.5])
    mean, scale = np.zeros((3, 26)), np.full((3, 26), 0.7)
    mean[:, -1], scale[:, -1] = means, scales
    column = BayesLinearClassifier(**convex, scale=scale, mean=mean, fit_intercept=False, tol=1e-10).fit(ones, Y)
    settings = {**convex, "scale": 0.7, "intercept_mean": means, "intercept_scale": scales, "tol": 1e-10}
    own = BayesLinearClassifier(**settings).fit(X, Y)
    np.testing.assert_allclose(own.intercept_, column.coef_[:, -1], atol=1e-6)
    np.testing.assert_allclose(own.coef_, column.coef_[:, :-1], atol=1e-6)
    np.testing.assert_allclose(own.fit_info_.objective, column.fit_info_.objective, rtol=1e-9)
    again = BayesLinearClassifier(**settings, warm_start=True)
    again.coef_, again.intercept_, again.fit_info_ = column.coef_[:, :-1], column.coef_[:, -1], own.fit_info_
    np.testing.assert_allclose(again.fit(X, Y).intercept_, column.coef_[:, -1], atol=1e-6)


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
    least = float(make_link(combination["link"]).probability(np.array([-1e4]))[0])  # of a link with label noise
    empty = Y.copy()
    empty[:, 1] = False
    model = BayesLinearClassifier(**combination).fit(X, empty)
    np.testing.assert_array_equal(model.coef_[1], 0.0)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], max(0.5 / 81, least), rtol=1e-4)
    assert model.fit_info_.converged.all()


SIGNED = [c for c in IN_FULL if inferences.get(c[2]).keeps_signs and _convex(*c)]


@pytest.mark.parametrize("combination", SIGNED, ids="-".join)
@pytest.mark.parametrize("mean", [0.0, 0.4])
def test_signs_are_kept_at_the_optimum_within_them(combination, mean, data):
    """A general optimiser with bounds on v⁺ − v⁻ = w − mean, parts penalised apart, finds nothing better."""
    X, Y = data
    link, prior_name, _ = combination
    free = BayesLinearClassifier(**_settings(combination), scale=1.5, tol=1e-9).fit(X, Y[:, 0]).coef_[0]
    sign = np.where(np.arange(25) % 3 == 0, 0.0, -np.sign(free))  # against what the data say
    centre = np.where(sign < 0.0, 0.0, mean)
    model = BayesLinearClassifier(**_settings(combination), scale=1.5, mean=centre, sign=sign, tol=1e-9)
    coef = model.fit(X, Y[:, 0]).coef_[0]
    assert (sign * coef >= 0.0).all()
    assert model.fit_info_.converged.all()
    likelihood, penalty, y = make_link(link), make_prior(prior_name, 1.5), np.where(Y[:, 0], 1.0, -1.0)

    def parts(v):
        eta = X @ (centre + v[:25] - v[25:50]) + v[50]
        score = X.T @ likelihood.score(eta, y)
        slope = slope_of(penalty, np.maximum(v[:50], np.finfo(float).tiny))
        value = -likelihood.log_prob(eta, y).sum() + penalty.penalty(v[:50]).sum()
        return value, np.concatenate([slope + np.append(-score, score), [-likelihood.score(eta, y).sum()]])

    # w ≥ 0 where the sign is 1: v⁻ ≤ mean; w ≤ 0 where it is −1, whose mean is 0: v⁺ = 0.
    upper_plus = [0.0 if s < 0 else None for s in sign]
    upper_minus = [c if s > 0 else None for s, c in zip(sign, centre, strict=True)]
    bounds = [(0.0, top) for top in upper_plus + upper_minus] + [(None, None)]
    options = {"maxiter": 5000, "ftol": 1e-14, "gtol": 1e-9}
    other = optimize.minimize(parts, np.zeros(51), jac=True, bounds=bounds, method="L-BFGS-B", options=options)
    assert model.fit_info_.objective[0] == pytest.approx(other.fun, rel=1e-7)


@pytest.mark.parametrize("inference", [name for name in MODES if not inferences.get(name).keeps_signs])
def test_signs_are_refused_where_they_would_not_be_kept(inference, data):
    X, Y = data
    prior = next(name for name in priors.names() if ("logit", name, inference) in SUPPORTED)
    with pytest.raises(NotSupportedError, match="use inference 'coordinate'"):
        BayesLinearClassifier(prior=prior, sign=1, inference=inference).fit(X, Y)


def test_signs_hold_from_a_start_that_ignores_them(data):
    X, Y = data
    model = BayesLinearClassifier("probit", prior="jeffreys", sign=1).fit(X, Y)
    assert (model.coef_ >= 0.0).all()
    assert (model.coef_ > 0.0).any()
