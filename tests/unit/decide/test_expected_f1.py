"""Expected F1 against enumeration of every outcome, Monte Carlo and worked examples."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textbayes.core.errors import InputError
from textbayes.decide import ExpectedF1, expected_f1_thresholds
from textbayes.decide.expected_f1 import _upper_bound
from textbayes.kernels.expected_f import expected_f1_curve

probabilities = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=7)


def expected_f1_of_all_sets(p):
    """All 2ⁿ sets of yes (rows of the first result) and the exact expected F1 of each, over all 2ⁿ outcomes."""
    sets = np.array(list(product([0, 1], repeat=len(p))))
    chance = np.where(sets, p, 1 - np.asarray(p)).prod(axis=1)
    both, size = sets @ sets.T, sets.sum(axis=1)
    below = size[:, None] + size
    f1 = np.divide(2.0 * both, below, out=np.ones(below.shape), where=below > 0)
    return sets.astype(bool), f1 @ chance


def of_set(sets, values, yes):
    return values[(sets == yes).all(axis=1)][0]


@given(probabilities)
@settings(max_examples=150, deadline=None)
def test_exact_is_the_best_cut_by_enumeration(p):
    sets, values = expected_f1_of_all_sets(p)
    thresholds, value = expected_f1_thresholds(p)
    yes = ExpectedF1().decide(p).ravel()
    cuts = [np.asarray(p) > t for t in [-1.0, *p]]
    best = max(of_set(sets, values, cut) for cut in cuts)
    assert of_set(sets, values, yes) == pytest.approx(best, abs=1e-12)
    assert value[0] == pytest.approx(best, abs=1e-12)
    assert (yes == (np.asarray(p) > thresholds[0])).all()


@pytest.mark.parametrize("n", [8, 12])
def test_no_set_at_all_beats_the_best_cut(n):
    p = np.random.default_rng(n).beta(0.6, 1.5, n)
    _, values = expected_f1_of_all_sets(p)
    assert expected_f1_thresholds(p)[1][0] == pytest.approx(values.max(), abs=1e-12)


@pytest.mark.parametrize("power", [0.5, 2.0, 8.0])
def test_curve_matches_monte_carlo_and_stays_below_its_bound(power):
    rng = np.random.default_rng(1)
    p = np.sort(rng.random(60) ** power)[::-1].copy()
    curve = expected_f1_curve(p, 1, 60)
    assert (curve <= _upper_bound(p)).all()
    y = rng.random((40_000, 60)) < p
    head, total = np.cumsum(y, axis=1), y.sum(axis=1, keepdims=True)
    draws = 2 * head / (np.arange(1, 61) + total)
    error = draws.std(axis=0) / np.sqrt(len(y))
    assert (np.abs(draws.mean(axis=0) - curve) < 4.5 * error + 1e-12).all()
    assert expected_f1_curve(p, 7, 23) == pytest.approx(curve[6:23], rel=1e-12)


def test_the_bound_leaves_the_best_cut_in_for_larger_batches():
    rng = np.random.default_rng(2)
    for power in (1, 3, 9):
        p = np.sort(rng.random(400) ** power)[::-1].copy()
        full = np.concatenate([[np.prod(1 - p)], expected_f1_curve(p, 1, 400)])
        assert expected_f1_thresholds(p)[1][0] == pytest.approx(full.max(), rel=1e-12)


def test_lewis_by_hand():
    # No yes: 0.6 · 0.7 = 0.42. One yes: 2 · 0.4 / (1 + 0.7) = 0.4706. Two: 2 · 0.7 / (2 + 0.7) = 0.5185.
    thresholds, value = expected_f1_thresholds([0.4, 0.3], "lewis")
    assert value[0] == pytest.approx(1.4 / 2.7)
    assert ExpectedF1("lewis").decide([0.4, 0.3]).all()
    assert thresholds[0] < 0.3
    # Unlikely documents: "none" wins with 0.9 · 0.95 = 0.855.
    assert expected_f1_thresholds([0.1, 0.05], "lewis")[1][0] == pytest.approx(0.855)
    assert not ExpectedF1("lewis").decide([0.1, 0.05]).any()


def test_exact_by_hand():
    # Yes to the first of p = (½, ½): F1 is 1 for (1,0), 0 for (0,·), ⅔ for (1,1): 0.41667; yes to both: 7/12.
    assert expected_f1_thresholds([0.5, 0.5])[1][0] == pytest.approx(7 / 12)


def test_certain_documents_leave_no_choice():
    for method in ("exact", "lewis"):
        rule = ExpectedF1(method)
        assert rule.decide([1.0, 0.0, 1.0]).ravel().tolist() == [True, False, True]
        assert not rule.decide([0.0, 0.0]).any()
        assert rule.decide(np.empty((0, 3))).shape == (0, 3)


def test_thresholds_can_be_learnt_from_a_batch_without_labels():
    batch = np.random.default_rng(4).random((50, 3))
    rule = ExpectedF1(batch="fit").fit(batch)
    assert rule.learns
    assert (rule.decide(batch) == ExpectedF1().decide(batch)).all()
    assert (rule.decide(batch[:1]) == (batch[:1] > rule.thresholds_)).all()


def test_unknown_options_are_refused():
    with pytest.raises(InputError, match="method='jansche' is not known"):
        ExpectedF1("jansche").decide([0.5])
    with pytest.raises(InputError, match="batch="):
        ExpectedF1(batch="none").fit([0.5])
