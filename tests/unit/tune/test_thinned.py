"""The thinned Newton step: the plain one where nothing is left out, and a model of its own, solved, where it is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes.kernels.coordinate import gather_columns, newton_step
from textbayes.kernels.thinned import newton_step_thinned

N, P = 80, 12
INTERCEPTS = {"none": (-1.0, 0.0), "free": (0.0, 0.0), "ridge": (0.0, 0.3), "lasso": (0.7, 0.0)}


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    X = sparse.random(N, P, density=0.3, random_state=1, format="csc")
    columns = gather_columns(X.indptr.astype(np.int64), X.indices, X.data, np.arange(P))
    omega = rng.uniform(0.05, 0.3, N) * 10.0 ** rng.uniform(-4, 0, N)
    rest = [
        rng.normal(size=N) * 0.3, omega, rng.normal(0, 0.1, P), rng.uniform(0, 0.8, P), rng.uniform(0.1, 0.5, P),
        np.full(P, -np.inf), np.full(P, 1.0), rng.normal(size=P) * (rng.random(P) < 0.5), 0.4,
    ]  # fmt: skip
    return X, columns, rest


@pytest.mark.parametrize("name", INTERCEPTS)
def test_equals_the_plain_step_where_all_documents_are_kept(model, name):
    _, columns, rest = model
    plain = newton_step(*columns, *rest, *INTERCEPTS[name], 1e-12, 5000)
    thinned = newton_step_thinned(*columns, *rest, *INTERCEPTS[name], 1e-12, 5000, 0.0, 0.0)
    for one, other in zip(plain[:4], thinned[:4], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("name", INTERCEPTS)
def test_solves_the_model_with_the_diagonal_of_the_documents_left_out(model, name):
    """The quadratic is written out with dense matrices; no step from the solution may lower it."""
    X, columns, rest = model
    score, omega, center, l1, l2, low, high, w0, b0 = rest
    l1_b, l2_b = INTERCEPTS[name]
    floor = float(np.quantile(omega, 0.6))
    kept = omega > floor
    design = np.column_stack([X.toarray(), np.ones(N)])
    bend = design[kept].T @ (omega[kept, None] * design[kept])
    bend += np.diag((design[~kept] ** 2).T @ omega[~kept])
    slope = design.T @ score  # of all documents

    def value(w, b):
        d = np.append(w - w0, b - b0)
        offset = w - center
        of_intercept = max(l1_b, 0.0) * abs(b) + 0.5 * l2_b * b * b
        return -slope @ d + 0.5 * d @ bend @ d + l1 @ np.abs(offset) + 0.5 * l2 @ offset**2 + of_intercept

    _, w, shift, eta_step, _ = newton_step_thinned(*columns, *rest, l1_b, l2_b, 1e-13, 20_000, floor, 0.0)
    np.testing.assert_allclose(eta_step, X @ (w - w0) + shift, atol=1e-12)
    assert (w - center <= high + 1e-15).all()
    best = value(w, b0 + shift)
    rng = np.random.default_rng(2)
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(300):
            step = rng.normal(0, size, P + 1) * (rng.random(P + 1) < 0.3)
            other = center + np.clip(w + step[:P] - center, low, high)
            moved = b0 + shift + (step[P] if name != "none" else 0.0)
            assert value(other, moved) >= best - 1e-11


def test_does_nothing_below_the_target(model):
    _, columns, rest = model
    violation, w, shift, _, sweeps = newton_step_thinned(*columns, *rest, 0.0, 0.0, 0.1, 50, 0.0, 1e9)
    assert 0.0 < violation < 1e9
    np.testing.assert_array_equal(w, rest[7])
    assert (shift, sweeps) == (0.0, 0)
