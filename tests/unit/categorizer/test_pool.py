"""Pool weights: the maximum of the held-out posterior; one member has weight 1, and calibration by itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from textbayes.categorizer import stackers
from textbayes.categorizer.held_out import HeldOut
from textbayes.categorizer.stackers import SharedWeights, plug_in_proba
from textbayes.core.labels import LabelSpace
from textbayes.links import make_link

LOGIT = make_link("logit")
MANY = LabelSpace(np.arange(5), "multilabel")
ONE_OF = LabelSpace(np.arange(5), "multiclass")


def held_out(Y, space, weight=None) -> HeldOut:
    return HeldOut(Y, np.ones_like(Y), np.zeros(len(Y), dtype=int), weight, space)


def fit_pool(scores, Y, space, weight=None):
    return SharedWeights(space, LOGIT, linear=True).fit(scores, held_out(Y, space, weight)).weights[:, 0]


def fit_calibration(scores, Y, space):
    stacker, held = SharedWeights(space, LOGIT, linear=True, calibrate=True), held_out(Y, space)
    return stacker.finish(stacker.fit(scores[None], held), scores[None], held).calibration


@pytest.fixture
def truth():
    rng = np.random.default_rng(0)
    eta = rng.normal(-1.0, 2.0, (4000, 5))
    return eta, rng.random(eta.shape) < expit(eta)


def test_one_member_is_left_as_it_is_and_calibrated_if_asked(truth):
    eta, Y = truth
    assert fit_pool(3.0 * eta[None], Y, MANY).tolist() == [1.0]
    assert fit_calibration(3.0 * eta, Y, MANY) == pytest.approx(1 / 3, abs=0.02)


def test_overconfident_members_are_turned_down(truth):
    eta, Y = truth
    weights = fit_pool(np.stack([3.0 * eta, 3.0 * eta]), Y, MANY)
    assert weights.sum() == pytest.approx(1 / 3, abs=0.02)


def test_documents_count_by_their_weight(truth):
    """Weights of 0 and 2 are documents that are not there and that are there twice."""
    eta, Y = truth
    members = np.stack([eta, np.random.default_rng(1).normal(0.0, 2.0, eta.shape)])
    weight = np.resize([0.0, 2.0, 1.0], len(Y))
    rows = np.repeat(np.arange(len(Y)), weight.astype(int))
    for space, given in ((MANY, Y), (ONE_OF, np.eye(5, dtype=bool)[eta.argmax(axis=1)])):
        found = fit_pool(members, given, space, weight)
        np.testing.assert_allclose(found, fit_pool(members[:, rows], given[rows], space), rtol=1e-3)


def test_noise_member_gets_nothing(truth):
    eta, Y = truth
    noise = np.random.default_rng(1).normal(0.0, 2.0, eta.shape)
    weights = fit_pool(np.stack([eta, noise]), Y, MANY)
    np.testing.assert_allclose(weights, [1.0, 0.0], atol=0.03)


def test_weights_are_where_the_posterior_is_highest(truth):
    eta, Y = truth
    rng = np.random.default_rng(2)
    members = np.stack([eta + rng.normal(0, 1.5, eta.shape), eta + rng.normal(0, 1.0, eta.shape)])

    def posterior(pool):
        proba = plug_in_proba(np.tensordot(pool, members, axes=1), LOGIT, MANY)
        return np.log(np.where(Y, proba, 1 - proba)).sum() - 0.5 * (((pool - 0.5) / 2.0) ** 2).sum()

    found = fit_pool(members, Y, MANY)
    grid = [np.array([a, b]) for a in np.linspace(0, 1, 21) for b in np.linspace(0, 1, 21)]
    assert posterior(found) >= max(map(posterior, grid)) - 1e-6


def test_blocks_of_rows_make_no_difference(truth, monkeypatch):
    eta, Y = truth
    members = np.stack([eta, 0.5 * eta + 0.3])
    whole = fit_pool(members, Y, MANY)
    monkeypatch.setattr(stackers, "_ENTRIES", 1_000)
    assert len(stackers.row_blocks(Y.shape)) == 20
    np.testing.assert_allclose(fit_pool(members, Y, MANY), whole, atol=1e-4)


def test_one_of_many_classes(truth):
    eta, _ = truth
    proba = plug_in_proba(eta, LOGIT, ONE_OF)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    Y = np.eye(5, dtype=bool)[proba.argmax(axis=1)]
    assert fit_calibration(eta, Y, ONE_OF) > 1.0  # always right: it should be surer than it is


def test_few_texts_stay_near_equal_shares():
    eta = np.zeros((2, 3, 1))
    weights = fit_pool(eta, np.array([[True], [False], [True]]), LabelSpace(np.arange(2), "binary"))
    np.testing.assert_allclose(weights, 0.5, atol=1e-4)
