"""The two coordinate kernels against each other and against a general optimiser on the same quadratic model."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import optimize, sparse

from textbayes.kernels.linear.coordinate import newton_step
from textbayes.kernels.linear.gram import gather_row_block, newton_step_gram
from textbayes.kernels.sparse import times, transpose_times, weighted_sums

N, P = 60, 12


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    X = sparse.random(N, P, density=0.3, random_state=1, format="csc")
    return {
        "X": X, "score": rng.normal(size=N), "omega": rng.uniform(0.05, 0.3, N), "center": rng.normal(0, 0.1, P),
        "l1": rng.uniform(0, 0.8, P), "l2": rng.uniform(0, 0.5, P),
        "low": np.full(P, -np.inf), "high": np.full(P, np.inf),
        "w": rng.normal(size=P) * (rng.random(P) < 0.5), "b": 0.4,
    }  # fmt: skip


def step(model, which, intercept, floor=0.0, target=0.0, cuts=(0, N)):
    X = model["X"]
    starts, stops = X.indptr[:-1].astype(np.int64), X.indptr[1:].astype(np.int64)
    rest = [model[name] for name in ("score", "omega", "center", "l1", "l2", "low", "high", "w", "b")]

    def blocks():
        cursors = starts.copy()
        for first, last in pairwise(cuts):
            yield first, last, gather_row_block(cursors, stops, X.indices, X.data, first, last)

    if which == "gram":
        return newton_step_gram(blocks, *rest, *intercept, 1e-13, 20_000, floor, target)
    copy = np.empty(X.nnz, dtype=np.int32), np.empty(X.nnz)
    return newton_step(starts, stops, X.indices, X.data, *rest, *intercept, 1e-13, 20_000, floor, target, *copy)


def quadratic(model, intercept, w, b, floor=0.0):
    """Written out with dense matrices; documents with curvature below ``floor`` bend each word by itself."""
    kept = model["omega"] >= floor
    design, omega = np.column_stack([model["X"].toarray(), np.ones(N)]), model["omega"][:, None]
    bend = design[kept].T @ (omega[kept] * design[kept]) + np.diag((omega[~kept] * design[~kept] ** 2).sum(axis=0))
    d = np.append(w - model["w"], b - model["b"])
    offset = w - model["center"]
    penalty = model["l1"] @ np.abs(offset) + 0.5 * model["l2"] @ offset**2
    penalty += max(intercept[0], 0.0) * abs(b) + 0.5 * intercept[1] * b * b
    return -model["score"] @ design @ d + 0.5 * d @ bend @ d + penalty


INTERCEPTS = {"none": (-1.0, 0.0), "free": (0.0, 0.0), "ridge": (0.0, 0.3), "lasso": (0.7, 0.0)}


@pytest.mark.parametrize("which", ["residual", "gram"])
@pytest.mark.parametrize("name", INTERCEPTS)
def test_solves_the_quadratic_model(model, which, name):
    intercept = INTERCEPTS[name]
    _, w, shift, eta_step, _ = step(model, which, intercept)
    np.testing.assert_allclose(eta_step, model["X"] @ (w - model["w"]) + shift, atol=1e-12)
    ours = quadratic(model, intercept, w, model["b"] + shift)

    def split(v):
        """Positive and negative parts make the model smooth; the centres and the intercept are shifted along."""
        b = v[-2] - v[-1] if name != "none" else model["b"]
        return quadratic(model, intercept, model["center"] + v[:P] - v[P : 2 * P], b)

    other = optimize.minimize(
        split, np.full(2 * P + 2, 0.1), bounds=[(0, None)] * (2 * P + 2), options={"maxfun": 10**6}
    )
    assert ours <= other.fun + 1e-7
    if name == "none":
        assert shift == 0.0


@pytest.mark.parametrize("which", ["residual", "gram"])
@pytest.mark.parametrize("name", ["none", "free"])
def test_bounds_hold_and_nothing_within_them_is_better(model, which, name):
    intercept = INTERCEPTS[name]
    free = step(model, which, intercept)[1] - model["center"]
    model["low"], model["high"] = np.where(free < 0, 0.3 * free.min(), -np.inf), np.where(free > 0, 0.05, np.inf)
    start = np.clip(model["w"] - model["center"], model["low"], model["high"])
    model["w"] = model["center"] + start
    _, w, shift, _, _ = step(model, which, intercept)
    offset = w - model["center"]
    assert (offset >= model["low"] - 1e-15).all()
    assert (offset <= model["high"] + 1e-15).all()
    assert ((offset == model["high"]) | (offset == model["low"])).any()  # some bound is at work
    best = quadratic(model, intercept, w, model["b"] + shift)
    rng = np.random.default_rng(3)
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(200):
            other = np.clip(offset + rng.normal(0, size, P), model["low"], model["high"])
            b = model["b"] + shift + (rng.normal(0, size) if name == "free" else 0.0)
            assert quadratic(model, intercept, model["center"] + other, b) >= best - 1e-12


@pytest.mark.parametrize("which", ["residual", "gram"])
@pytest.mark.parametrize("name", INTERCEPTS)
def test_solves_the_model_of_settled_documents(model, which, name):
    """No step from the solution may lower the quadratic in which the settled documents bend the diagonal alone."""
    floor = float(np.quantile(model["omega"], 0.6))
    intercept = INTERCEPTS[name]
    _, w, shift, eta_step, _ = step(model, which, intercept, floor)
    np.testing.assert_allclose(eta_step, model["X"] @ (w - model["w"]) + shift, atol=1e-12)
    best = quadratic(model, intercept, w, model["b"] + shift, floor)
    rng = np.random.default_rng(2)
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(300):
            move = rng.normal(0, size, P + 1) * (rng.random(P + 1) < 0.3)
            b = model["b"] + shift + (move[P] if name != "none" else 0.0)
            assert quadratic(model, intercept, w + move[:P], b, floor) >= best - 1e-11


@pytest.mark.parametrize("which", ["residual", "gram"])
def test_a_document_without_weight_says_nothing(model, which):
    without = dict(model, score=model["score"].copy(), omega=model["omega"].copy())
    without["score"][7], without["omega"][7] = 0.0, 0.0
    found = step(without, which, (0.0, 0.0))
    X = model["X"].tolil()
    X[7] = 0.0
    gone = step(dict(without, X=X.tocsc()), which, (0.0, 0.0))
    assert np.isfinite(found[1]).all()
    np.testing.assert_allclose(found[1], gone[1], atol=1e-12)


@pytest.mark.parametrize("which", ["residual", "gram"])
def test_does_nothing_below_the_target(model, which):
    violation, w, shift, _, sweeps = step(model, which, (0.0, 0.0), target=1e9)
    assert 0.0 < violation < 1e9
    np.testing.assert_array_equal(w, model["w"])
    assert (shift, sweeps) == (0.0, 0)


@pytest.mark.parametrize("floor", [0.0, 0.15])
@pytest.mark.parametrize("name", INTERCEPTS)
def test_both_kernels_agree(model, name, floor):
    first, second = (step(model, which, INTERCEPTS[name], floor) for which in ("residual", "gram"))
    for one, other in zip(first[:4], second[:4], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-8)


@pytest.mark.parametrize("floor", [0.0, 0.15, 0.29])
@pytest.mark.parametrize("name", INTERCEPTS)
def test_blocks_of_rows_do_not_change_a_bit(model, name, floor):
    model["omega"] = np.linspace(0.05, 0.3, N)
    whole, parts = (step(model, "gram", INTERCEPTS[name], floor, cuts=cuts) for cuts in ((0, N), (0, 7, 8, 40, N)))
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n_labels", range(1, 10))  # four at a time, and one, two or three left over; eight or more
def test_products_equal_scipy(model, n_labels):
    X = model["X"]
    arrays = X.indptr.astype(np.int64), X.indices, X.data
    rng = np.random.default_rng(1)
    V, W = rng.normal(size=(N, n_labels)), rng.normal(size=(P, n_labels))
    np.testing.assert_allclose(transpose_times(*arrays, V), X.T @ V)
    mass, curvature = weighted_sums(*arrays, V)
    np.testing.assert_allclose(mass, X.T @ V)
    np.testing.assert_allclose(curvature, X.multiply(X).T @ V)
    np.testing.assert_allclose(times(*arrays, W, N), X @ W)
