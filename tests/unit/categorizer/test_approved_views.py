"""Which views of neural networks an ensemble keeps, by what its members said of held-out texts."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from textbayes.categorizer.automatic import approve_view, permutation_z
from textbayes.categorizer.held_out import HeldOut
from textbayes.categorizer.member_scores import Setting
from textbayes.categorizer.plan import Member, Plan
from textbayes.categorizer.stackers import LabelWeights
from textbayes.core.labels import LabelSpace

SEEDS = range(30)


def approved(seed: int, n_texts: int, knows: float, tokens: bool = True) -> bool:
    """Whether a view is kept whose log-odds are the truth, so many standard deviations of noise apart, beside words."""
    rng, space = np.random.default_rng(seed), LabelSpace(np.array(["no", "yes"], dtype=object), "binary")
    yes = np.arange(n_texts) % 2 == 1
    sign = np.where(yes, 0.5, -0.5)
    scores = np.stack([strength * sign + rng.normal(size=n_texts) for strength in (0.3, knows)])[:, :, None]
    members = [Member("words", (0,), None), Member("network", (1,), None)]
    plan = Plan(members, LabelWeights(space), sentences=None if tokens else 1, tokens=1 if tokens else None)
    held = HeldOut.of(yes[:, None], np.arange(n_texts) // 2 % 8, None, space)
    kept, own, _ = approve_view(Setting(plan, None, held), members, scores, 1)
    assert len(own) == len(kept)
    return len(kept) == 2


def test_an_encoder_that_tells_the_labels_of_few_texts_is_kept():
    """Sixteen texts often do not show what it gains: sentence vectors that say the same are left out more often."""
    kept = sum(approved(seed, 16, 1.5) for seed in SEEDS)
    assert kept >= 0.7 * len(SEEDS)
    assert kept > sum(approved(seed, 16, 1.5, tokens=False) for seed in SEEDS)


@pytest.mark.parametrize("n_texts", [16, 64])
def test_an_encoder_that_knows_nothing_is_left_out(n_texts):
    assert sum(approved(seed, n_texts, 0.0) for seed in SEEDS) <= 0.1 * len(SEEDS)


@pytest.mark.parametrize("n_columns", [1, 3])
def test_chance_is_that_of_all_orders_of_the_texts(n_columns):
    rng = np.random.default_rng(5)
    labels, scores, weight = rng.random((6, n_columns)) < 0.5, rng.normal(size=(6, n_columns)), rng.random(6)
    space = LabelSpace(np.arange(n_columns), "multilabel")
    held = HeldOut(labels, np.ones_like(labels), np.arange(6), weight, space)
    sums = [float((weight[:, None] * labels * scores[list(order)]).sum()) for order in permutations(range(6))]
    assert permutation_z(scores, held) == pytest.approx((sums[0] - np.mean(sums)) / np.std(sums))


def test_log_odds_that_are_the_same_for_all_texts_say_nothing():
    labels = np.array([[True], [False], [True]])
    held = HeldOut(labels, np.ones_like(labels), np.arange(3), None, LabelSpace(np.arange(1), "multilabel"))
    assert permutation_z(np.ones((3, 1)), held) == 0.0
