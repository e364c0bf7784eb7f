"""Posteriors mixed: weights that add up to one, draws in their shares, probabilities shared out among classes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit

from textbayes.categorizer.held_out import HeldOut
from textbayes.categorizer.stackers import PosteriorMixture, SharedWeights, stacker_for
from textbayes.categorizer.stacking import Stack
from textbayes.core.labels import LabelSpace
from textbayes.inference.gibbs import Draws, LabelDraws
from textbayes.links import make_link
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.posterior.intervals import mixture_standard_errors, pooled_draws

LOGIT = make_link("logit")
MANY = LabelSpace(np.arange(3), "multilabel")
ONE_OF = LabelSpace(np.arange(3), "multiclass")


ALONE = Stack.shared(np.ones(1), 3)


def held_out(Y, space, label_seen=None) -> HeldOut:
    seen = np.ones_like(Y) if label_seen is None else label_seen
    return HeldOut(Y, seen, np.zeros(len(Y), dtype=int), None, space)


@pytest.fixture(scope="module")
def truth():
    rng = np.random.default_rng(0)
    eta = rng.normal(-0.5, 2.0, (2000, 3))
    return eta, rng.random(eta.shape) < expit(eta)


def test_one_posterior_alone_keeps_its_own(truth):
    eta, Y = truth
    said = expit(0.3 * eta)[None]  # too cautious by far
    mixture, held = PosteriorMixture(MANY, LOGIT), held_out(Y, MANY)
    stack = mixture.finish(mixture.fit(said, held), said, held)
    assert stack.weights.tolist() == [[1.0, 1.0, 1.0]]
    assert stack.inverse_temperature is None
    np.testing.assert_array_equal(mixture.probabilities(said, stack), said[0])


@pytest.mark.parametrize("posterior_predictive", [True, False])
def test_weights_are_where_the_held_out_likelihood_is_highest(truth, posterior_predictive):
    eta, Y = truth
    noise = np.random.default_rng(1).normal(0.0, 2.0, eta.shape)
    predictors = np.stack([eta + noise, eta - noise, noise])
    said = expit(predictors) if posterior_predictive else predictors
    pool = PosteriorMixture(MANY, LOGIT, posterior_predictive).fit(said, held_out(Y, MANY)).weights[:, 0]
    assert pool.min() >= 0.0
    assert pool.sum() == pytest.approx(1.0)

    def loss(weights):
        mixed = np.tensordot(weights, said, axes=1)
        p = mixed if posterior_predictive else expit(mixed)
        return -np.log(np.where(Y, p, 1.0 - p)).sum()

    rng = np.random.default_rng(2)
    assert loss(pool) <= min(loss(weights) for weights in rng.dirichlet(np.ones(3), 300)) + 1e-3


def test_entries_that_were_not_learnable_do_not_count(truth):
    eta, Y = truth
    said = np.stack([expit(eta), expit(-eta)])
    seen = np.zeros_like(Y)
    assert PosteriorMixture(MANY, LOGIT).fit(said, held_out(Y, MANY, seen)).weights[:, 0].tolist() == [0.5, 0.5]
    seen[:, 1] = True
    assert PosteriorMixture(MANY, LOGIT).fit(said, held_out(Y, MANY, seen)).weights[0, 0] > 0.9


def test_classes_that_exclude_each_other_are_as_sharp_as_held_out_texts_say():
    rng = np.random.default_rng(3)
    own = rng.uniform(0.05, 0.95, (5000, 3))
    true = own**3 / (own**3).sum(axis=1, keepdims=True)
    Y = np.eye(3, dtype=bool)[[rng.choice(3, p=row) for row in true]]
    mixture = PosteriorMixture(ONE_OF, LOGIT)
    found = mixture.finish(ALONE, own[None], held_out(Y, ONE_OF)).inverse_temperature
    best = minimize_scalar(
        lambda c: -np.log((own**c / (own**c).sum(axis=1, keepdims=True))[Y]).sum(), bounds=(1, 6), method="bounded"
    ).x
    assert found == pytest.approx(best, rel=0.02)  # a weak prior pulls it towards 1
    assert found == pytest.approx(3.0, abs=0.2)
    sharp = ALONE._replace(inverse_temperature=3.0)
    np.testing.assert_allclose(mixture.probabilities(own[None], sharp), true, rtol=1e-12)


def test_sharing_out_survives_probabilities_of_nothing():
    own = np.array([[0.0, 0.0, 1e-200], [0.2, 0.2, 0.4]])
    shared = PosteriorMixture(ONE_OF, LOGIT).probabilities(own[None], ALONE)
    np.testing.assert_allclose(shared, [[0, 0, 1], [0.25, 0.25, 0.5]], atol=1e-90)


def test_the_way_to_pool_is_that_of_the_members():
    mode, sampled = BayesLinearClassifier(), BayesLinearClassifier(inference="gibbs")
    assert isinstance(stacker_for([mode, mode], MANY, True), SharedWeights)
    assert isinstance(stacker_for([sampled], MANY, False), PosteriorMixture)
    mixed = stacker_for([mode, sampled], MANY, True)  # by log-odds, which both have
    assert isinstance(mixed, SharedWeights)
    assert not mixed.linear


def _draws(seed, n_chains=2, n_draws=400, columns=(0, 2), elsewhere=0.0):
    rng = np.random.default_rng(seed)
    weights = rng.normal(seed, 1.0 + seed, (n_chains, n_draws, len(columns))).astype(np.float32)
    intercept = rng.normal(size=(n_chains, n_draws))
    one = LabelDraws(
        np.array(columns), np.full(4, elsewhere), weights, intercept, np.full((n_chains, n_draws), 1.0 + seed)
    )
    return Draws([one], 4)


def test_a_mixture_has_its_members_in_their_shares():
    members = [_draws(0), _draws(5)]
    mixed = pooled_draws(np.array([0.3, 0.7]), members, most=400).labels[0]
    assert mixed.weights.shape == (2, 200, 2)
    from_second = mixed.global_scale == 6.0
    np.testing.assert_array_equal(from_second.sum(axis=1), [140, 140])
    # Interleaved: no stretch of a chain is of one member more than its share asks for.
    running = np.cumsum(from_second, axis=1)
    np.testing.assert_allclose(running, 0.7 * np.arange(1, 201) + np.zeros((2, 1)), atol=1.0)
    for chain in range(2):
        kept = mixed.weights[chain][from_second[chain]]
        own = members[1].labels[0].weights[chain]
        places = [int(np.flatnonzero((own == row).all(axis=1))[0]) for row in kept]
        assert (np.diff(places) > 0).all()  # in their order, of their own chain
        assert np.diff(places).max() <= 3


def test_one_member_is_thinned_evenly_and_kept_whole_where_there_are_few():
    one = _draws(1, n_draws=1000)
    thinned = pooled_draws(np.ones(1), [one], most=500).labels[0]
    np.testing.assert_array_equal(thinned.weights, one.labels[0].weights[:, 2::4])
    whole = pooled_draws(np.ones(1), [one], most=5000).labels[0]
    np.testing.assert_array_equal(whole.weights, one.labels[0].weights)
    np.testing.assert_array_equal(whole.intercept, one.labels[0].intercept)


def test_a_member_without_a_share_adds_nothing_and_words_may_differ():
    members = [_draws(1), _draws(2, columns=(1, 2), elsewhere=0.5)]
    alone = pooled_draws(np.array([1.0, 0.0]), members, most=10_000)
    np.testing.assert_array_equal(alone.labels[0].weights, members[0].labels[0].weights)
    mixed = pooled_draws(np.array([0.5, 0.5]), members, most=10_000)
    one = mixed.labels[0]
    np.testing.assert_array_equal(one.columns, [0, 1, 2, 3])  # word 3 is held at 0 by one and at ½ by the other
    second = one.global_scale[0] == 3.0
    assert (one.weights[0][second][:, [0, 3]] == 0.5).all()
    assert (one.weights[0][~second][:, [1, 3]] == 0.0).all()
    X = np.random.default_rng(0).normal(size=(5, 4))
    expected = 0.5 * sum(member.probability(X, LOGIT) for member in members)
    np.testing.assert_allclose(mixed.probability(X, LOGIT), expected, atol=1e-6)
    np.testing.assert_allclose(mixed.mean(), 0.5 * (members[0].mean() + members[1].mean()), atol=1e-6)


def test_standard_errors_of_a_mixture_are_those_of_its_draws():
    members = [_draws(0), _draws(5)]
    pool = np.array([0.5, 0.5])
    flat = pooled_draws(pool, members, most=10_000).labels[0].flat.astype(np.float64)
    found = mixture_standard_errors(pool, members)[0]
    np.testing.assert_allclose(found[[0, 2]], flat.std(axis=0), rtol=1e-5)
    assert np.isnan(found[[1, 3]]).all()
