"""Weighted figures are unbiased, and the learning curve is found again where it is known."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from textbayes.core.errors import InputError
from textbayes.evaluate.intervals import draw_weights, expected_growth, weighted_share


def test_weights_add_up_to_one_and_are_equal_without_questions():
    assert_allclose(draw_weights([True, False, False, True, True], 50).sum(), 1.0)
    assert_allclose(draw_weights(np.ones(400, dtype=bool), 400).sum(), 1.0)
    many = draw_weights([True] * 5, 10**9)
    assert_allclose(many, 0.2, rtol=1e-6)


def test_weights_by_hand():
    # Of 10 texts. By the first draw the mean is the first; by the second (first + second + 8 of the third)/10.
    assert_allclose(draw_weights([True, False, True], 10), [(1.0 + 0.1) / 2, 0.1 / 2, 0.8 / 2])


def _labelled(rng, right):
    """Half of the texts asked for, always a wrong one while there is any: as biased as can be."""
    left, order, drawn = list(range(len(right))), [], []
    for step in range(30):
        at_random = step % 3 == 0
        wrong = [i for i in left if not right[i]]
        i = rng.choice(left) if at_random else (wrong or left)[0]
        left.remove(i)
        order.append(i)
        drawn.append(at_random)
    return order, drawn


def test_weighted_share_is_unbiased_however_the_others_were_chosen():
    rng = np.random.default_rng(0)
    right = rng.permutation(np.arange(120) < 84)  # .7 of all
    found, plain = [], []
    for _ in range(4000):
        order, drawn = _labelled(rng, right)
        found.append(weighted_share(right[order], draw_weights(drawn, len(right))).value)
        plain.append(right[order].mean())
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - 0.7) < 4.0 * error
    assert abs(np.mean(plain) - 0.7) > 0.2  # what the mean of the labelled texts would say


def test_interval_is_that_of_as_many_texts_as_the_weights_amount_to():
    equal = weighted_share([1, 1, 0, 1], [2.0, 2.0, 2.0, 2.0])
    unequal = weighted_share([1, 1, 0, 1], [2.0, 2.0, 2.0, 0.01])
    assert equal.value == 0.75
    assert unequal.high - unequal.low > equal.high - equal.low


def test_nothing_at_random_is_refused():
    with pytest.raises(InputError, match="no text was drawn at random"):
        draw_weights([False, False], 10)
    with pytest.raises(InputError, match="3 labelled texts are more than the 2 texts"):
        draw_weights([True, False, True], 2)


def test_growth_finds_the_curve_and_where_labels_stop_paying():
    rng = np.random.default_rng(1)
    sizes = np.array([10, 20, 40, 80, 160])

    def share(n):
        return 1.0 - 0.05 - 0.75 / (1.0 + n / 20.0)

    right = (rng.random((3000, 5)) < share(sizes)).astype(float)
    growth = expected_growth(sizes, right, np.ones(3000), [320, 640], start=0.2)
    assert_allclose(growth.share, share(np.array([320, 640])), atol=0.02)
    assert (growth.low <= share(np.array([320, 640]))).all()
    assert (growth.high >= share(np.array([320, 640]))).all()
    exact = next(n for n in range(160, 2000) if share(n + 100) - share(n) < 0.01)
    assert exact <= growth.enough < 1.6 * exact  # on the safe side


def test_growth_band_covers_the_truth():
    rng = np.random.default_rng(2)
    sizes = np.array([6, 12, 24, 48])

    def share(n):
        return 1.0 - 0.1 - 0.7 / (1.0 + n / 25.0)

    held = []
    for seed in range(60):
        easy = rng.random(60)[:, None]  # the same texts are right with more labels
        right = (easy < share(sizes)).astype(float)
        growth = expected_growth(sizes, right, np.ones(60), [96], start=0.2, seed=seed)
        held.append(growth.low[0] <= share(96) <= growth.high[0])
    assert np.mean(held) >= 0.8


def test_growth_needs_two_sizes():
    with pytest.raises(InputError, match="two sizes"):
        expected_growth([10, 10], np.ones((4, 2)), np.ones(4), [20])


@pytest.mark.parametrize(("value", "told"), [(0.0, False), (0.5, False), (1.0, True)])
def test_growth_is_not_told_by_few_texts_that_all_agree(value, told):
    sizes = np.array([3.0, 6.0, 12.0, 24.0])
    few, many = (expected_growth(sizes, np.full((n, 4), value), np.ones(n), [80, 230], 1 / 30) for n in (30, 300))
    assert abs(few.n - 30) + abs(many.n - 300) <= 2  # rounded
    assert few.can_be_told is told
    assert many.can_be_told
