"""Dual coordinate ascent against the primal and the dual written out, and against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, sparse, special

from textbayes.kernels.linear.dual import ascend, divergence, dual_step, scale_columns


@pytest.mark.parametrize("margin", [-30.0, -3.0, -0.004, 0.0, 0.4, 25.0])
@pytest.mark.parametrize("length", [0.0, 0.01, 3.0, 400.0])
@pytest.mark.parametrize("share", [0.0, 1e-9, 0.3, 1.0])
def test_a_step_solves_its_equation(margin, length, share):
    """a' = c σ(−m) at m = margin + length (a' − a), by a root finder on the whole bracket."""
    c = 2.5
    a = share * c
    step = dual_step(margin, special.expit(-margin), length, c, a)
    m = optimize.brentq(
        lambda m: m - margin - length * (c * special.expit(-m) - a),
        margin - length * c - 1.0,
        margin + length * c + 1.0,
        xtol=1e-13,
    )
    assert step == pytest.approx(c * special.expit(-m), rel=1e-3)
    assert 0.0 <= step <= c


@pytest.mark.parametrize("p", [1e-12, 0.02, 0.5, 0.98])
@pytest.mark.parametrize("relative", [0.0, 0.5, 0.98, 1.001, 1.02])
def test_divergence_is_the_kullback_leibler_one(p, relative):
    c = 3.0
    a = min(relative * c * p, c)
    direct = c * (special.kl_div(a / c, p) + special.kl_div(1.0 - a / c, 1.0 - p))
    assert divergence(a, c, -special.logit(p), p) == pytest.approx(direct, rel=1e-2, abs=1e-15)


def test_divergence_far_out_is_the_margin_itself():
    """σ rounds to 0 or 1 there; the loss of a document on the wrong side is c·|margin|."""
    assert divergence(0.0, 2.0, -900.0, 1.0) == pytest.approx(1800.0)
    assert divergence(2.0, 2.0, 900.0, 0.0) == pytest.approx(1800.0)
    assert divergence(0.0, 2.0, 900.0, 0.0) == 0.0


def _problem(seed=0, n=60, p=90):
    rng = np.random.default_rng(seed)
    X = sparse.random(n, p, density=0.2, random_state=seed, format="csr")
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    return X, y, rng.integers(0, 4, n).astype(float), rng.normal(0, 0.5, n)


@pytest.mark.parametrize("intercept_l2", [-1.0, 0.5, 30.0])
@pytest.mark.parametrize("sweeps", [2, 5, 40])
def test_the_gap_is_primal_less_dual_objective(intercept_l2, sweeps):
    """At any time, with all that is summed written out; an intercept with a prior is one more column."""
    X, y, c, offset = _problem()
    a = np.zeros(len(y))
    u, b, eta, gap, _ = ascend(X.indptr, X.indices, X.data, y, c, offset, 90, a, 0.0, intercept_l2, 1e-12, sweeps)
    held = max(intercept_l2, 0.0)
    np.testing.assert_allclose(eta, offset + X @ u + b, atol=1e-10)
    np.testing.assert_allclose(u, X.T @ (a * y), atol=1e-10)
    assert (a >= 0.0).all()
    assert (a <= c).all()
    primal = -(c * special.log_expit(y * eta)).sum() + 0.5 * u @ u + 0.5 * held * b * b
    entropy = special.entr(a).sum() + special.entr(c - a).sum() - special.entr(c).sum()
    total = (a * y).sum()
    dual = entropy - (a * y * offset).sum() - 0.5 * u @ u - (0.5 * total**2 / held if held else 0.0)
    if intercept_l2 < 0.0 or total == pytest.approx(held * b, abs=1e-12):  # else the proximal prior's own part is in it
        assert gap * primal == pytest.approx(primal - dual, rel=1e-2, abs=1e-10)
    else:
        assert gap * primal >= 0.0


@pytest.mark.parametrize("intercept_l2", [-1.0, 0.0, 1e-3, 2.0])
def test_ascent_ends_at_the_optimum_of_a_general_optimiser(intercept_l2):
    X, y, c, offset = _problem(1)
    held, has = max(intercept_l2, 0.0), intercept_l2 >= 0.0

    def objective(v):
        eta = offset + X @ v[:90] + v[90] * has
        slope = -c * y * special.expit(-y * eta)
        value = -(c * special.log_expit(y * eta)).sum() + 0.5 * v[:90] @ v[:90] + 0.5 * held * v[90] ** 2
        return value, np.append(X.T @ slope + v[:90], has * slope.sum() + held * v[90])

    best = optimize.minimize(
        objective, np.zeros(91), jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9}
    )
    a = np.zeros(len(y))
    u, b, *_, gap, sweeps = ascend(X.indptr, X.indices, X.data, y, c, offset, 90, a, 0.0, intercept_l2, 1e-9, 500)
    assert gap <= 1e-9
    assert sweeps < 500
    assert objective(np.append(u, b))[0] == pytest.approx(best.fun, rel=2e-9)


def test_a_start_worse_than_none_is_dropped():
    X, y, c, offset = _problem(2)
    cold, wild = np.zeros(len(y)), c.copy()
    X = X * 50.0
    first, second = (
        ascend(X.indptr, X.indices, X.data, y, c, offset, 90, a, 0.0, -1.0, 1e-6, 200)[0] for a in (cold, wild)
    )
    np.testing.assert_allclose(first, second, atol=1e-12)


def test_numbers_that_are_too_large_come_to_an_end():
    X, y, c, offset = _problem(3)
    *_, gap, sweeps = ascend(X.indptr, X.indices, 1e200 * X.data, y, c, offset, 90, np.zeros(60), 0.0, 0.0, 1e-4, 50)
    assert not gap <= 1e-4
    assert sweeps <= 50


def test_scaled_columns_are_those_of_a_product():
    X = _problem()[0]
    scale = np.arange(1.0, 91.0)
    scaled = sparse.csr_matrix((scale_columns(X.indices, X.data, scale), X.indices, X.indptr), shape=X.shape)
    np.testing.assert_array_equal(scaled.toarray(), X.toarray() * scale)
