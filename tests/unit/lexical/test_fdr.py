"""q-values against scipy, against the definition, and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from textbayes.core.errors import InputError
from textbayes.lexical import benjamini_hochberg, storey, storey_null_fraction


def test_bh_matches_scipy():
    rng = np.random.default_rng(0)
    p = rng.random((4, 300)) ** np.array([[1], [2], [5], [20]])
    p[0, :50] = p[0, 50:100]  # ties
    p[1, :10], p[1, 10:20] = 0.0, 1.0
    np.testing.assert_allclose(benjamini_hochberg(p), stats.false_discovery_control(p, axis=1), rtol=1e-12)


def test_bh_matches_the_step_up_procedure():
    rng = np.random.default_rng(1)
    for level in (0.01, 0.05, 0.2):
        p = rng.random(100) ** 3
        ordered = np.sort(p)
        below = np.flatnonzero(ordered <= level * np.arange(1, 101) / 100)
        rejected = p <= (ordered[below[-1]] if below.size else -1)
        np.testing.assert_array_equal(benjamini_hochberg(p) <= level, rejected)


def test_storey_matches_the_definition():
    p = np.random.default_rng(2).random(80) ** 4
    for at in (0.3, 0.5, 0.8):
        fraction = min(1.0, (1 + sum(value > at for value in p)) / (80 * (1 - at)))
        assert storey_null_fraction(p, at) == pytest.approx(fraction)
        q = [min(min(1.0, 80 * t / sum(p <= t)) for t in p if t >= value) * fraction for value in p]
        np.testing.assert_allclose(storey(p, at), q, rtol=1e-12)


def test_families_lie_along_the_last_axis():
    p = np.random.default_rng(3).random((2, 3, 40)) ** 2
    for function in (benjamini_hochberg, storey, storey_null_fraction):
        np.testing.assert_array_equal(function(p)[1, 2], function(p[1, 2]))
    assert benjamini_hochberg(np.ones((2, 0))).shape == (2, 0)
    assert storey(np.ones((2, 0))).shape == (2, 0)


def test_input_is_kept():
    p = np.array([0.5, 0.01, 0.2])
    p.flags.writeable = False
    benjamini_hochberg(p)
    storey(p)
    np.testing.assert_array_equal(p, [0.5, 0.01, 0.2])


@pytest.mark.parametrize("null_share", [1.0, 0.9, 0.5])
def test_false_discovery_rate_is_controlled(null_share):
    """Mean share of false discoveries over 2,000 families of 200 tests stays at the level; real effects are found."""
    rng = np.random.default_rng(4)
    n_families, m, level = 2000, 200, 0.1
    null = np.arange(m) < null_share * m
    p = special.ndtr(-rng.normal(np.where(null, 0.0, 3.0), 1.0, (n_families, m)))

    def rate_and_power(q):
        kept = q <= level
        shares = (kept & null).sum(axis=1) / np.maximum(kept.sum(axis=1), 1)
        return shares.mean(), shares.std() / np.sqrt(n_families), kept[:, ~null].mean() if (~null).any() else 1.0

    bh_rate, bh_error, bh_power = rate_and_power(benjamini_hochberg(p))
    storey_rate, storey_error, storey_power = rate_and_power(storey(p))
    assert bh_rate == pytest.approx(null_share * level, abs=4 * bh_error)  # exact for independent tests
    assert storey_rate <= level + 4 * storey_error
    assert storey_rate >= bh_rate
    assert storey_power >= bh_power > 0.5


@pytest.mark.parametrize(
    ("p", "message"),
    [([0.1, np.nan], "NaN"), ([0.1, 1.5], r"\[0, 1\]"), ([-0.1], r"\[0, 1\]"), (0.3, "array")],
)
def test_refuses_what_is_no_p_value(p, message):
    for function in (benjamini_hochberg, storey):
        with pytest.raises(InputError, match=message):
            function(np.array(p))


@pytest.mark.parametrize("at", [0.0, 1.0, np.nan])
def test_refuses_a_cut_outside(at):
    with pytest.raises(InputError, match="between 0 and 1"):
        storey(np.array([0.1]), at)
