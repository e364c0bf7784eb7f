"""Effective sample sizes and R-hat: against what theory says of known processes, and against what ArviZ finds."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes.core.errors import InputError
from textbayes.posterior.diagnostics import (
    bulk_effective_sample_size,
    effective_sample_size,
    split_r_hat,
    tail_effective_sample_size,
)


def autoregressive(rho, shape, seed=0):
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal(shape)
    out = np.empty(shape)
    out[:, 0] = noise[:, 0] / np.sqrt(1.0 - rho**2)
    for t in range(1, shape[1]):
        out[:, t] = rho * out[:, t - 1] + noise[:, t]
    return out


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9, -0.4])
@pytest.mark.parametrize("size", [effective_sample_size, bulk_effective_sample_size])
def test_autoregressive_chains_are_worth_what_theory_says(rho, size):
    draws = autoregressive(rho, (4, 20_000, 30))
    wanted = 80_000 * (1.0 - rho) / (1.0 + rho)
    assert size(draws).mean() == pytest.approx(wanted, rel=0.05)


def test_chains_that_agree_and_chains_that_do_not():
    draws = autoregressive(0.3, (4, 1000, 3))
    assert (split_r_hat(draws) < 1.01).all()
    apart, wider, drifting = draws.copy(), draws.copy(), draws.copy()
    apart[0] += 1.0
    wider[0] *= 3.0
    drifting += np.linspace(0.0, 2.0, 1000)[:, None]
    for wrong in (apart, wider, drifting):
        assert (split_r_hat(wrong) > 1.02).all()
    assert (effective_sample_size(apart) < 0.2 * effective_sample_size(draws)).all()


def test_tails_without_variance_do_not_hide_the_bulk():
    draws = np.random.default_rng(1).standard_cauchy((4, 2000))
    assert bulk_effective_sample_size(draws) == pytest.approx(8000, rel=0.15)
    assert split_r_hat(draws) < 1.01


def test_constant_draws():
    draws = np.ones((2, 50, 2))
    draws[0, :, 1] = 0.0  # each chain stays where it is, apart from the other
    np.testing.assert_array_equal(effective_sample_size(draws)[:1], [1.0])
    assert split_r_hat(draws)[0] == 1.0
    assert split_r_hat(draws)[1] > 10.0


def test_many_quantities_are_done_in_parts():
    draws = autoregressive(0.5, (2, 200, 50))
    one_by_one = [effective_sample_size(draws[:, :, k]) for k in range(50)]
    np.testing.assert_allclose(effective_sample_size(draws), one_by_one)
    np.testing.assert_allclose(effective_sample_size(draws.reshape(2, 200, 5, 10)).ravel(), one_by_one)


def test_too_few_draws_are_refused():
    with pytest.raises(InputError, match="4 draws at least"):
        split_r_hat(np.ones((2, 3)))


def deterministic():
    """Chains that every library can make without a random generator: a logistic map, smoothed."""
    x, rows = np.array([0.1, 0.2, 0.35, 0.6]), []
    level = np.zeros(4)
    for _ in range(400):
        x = 3.9 * x * (1.0 - x)
        level = 0.8 * level + x
        rows.append(level.copy())
    return np.array(rows).T


def test_agrees_with_arviz():
    """``az.ess(d, method="mean")``, ``az.ess(d, method="bulk")`` and ``az.rhat(d)`` of ArviZ 0.23.4."""
    draws = deterministic()[:, 100:]
    assert effective_sample_size(draws) == pytest.approx(274.66027919105085, rel=1e-9)
    assert bulk_effective_sample_size(draws) == pytest.approx(268.50723066303334, rel=1e-9)
    assert split_r_hat(draws) == pytest.approx(1.0035286302308388, rel=1e-9)
    az = pytest.importorskip("arviz", reason="needs the extra gibbs")
    assert tail_effective_sample_size(draws) == pytest.approx(float(az.ess(draws, method="tail")), rel=1e-9)
