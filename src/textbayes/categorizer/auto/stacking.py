"""Weights of a pool that differ by label: what members said of texts they had not seen, regressed on the labels.

Labels that may go together have a logistic regression each, η_k = b_k + Σ_m a_km s_mk, whose coefficients are shrunk to
those of labels of the same size: θ_k ~ N(Γ (1, log₂ n_k), diag τ²), with Γ and τ found by expectation–maximisation over
the labels. A label with hundreds of texts follows its own; one with three follows its kind.

Classes that exclude each other have one weight for each member, none negative, a bias for each class, which repairs
what one-against-the-rest fits leave of unequal classes, and one number c, the sharpness, for all: with
η_k = b_k + Σ_m a_m s_mk, p_k = σ(η_k/c)^c / Σ_j σ(η_j/c)^c. For c = 1 each class's own probability is normalised; in
the limit of large c it is a softmax of η/2, which makes too much of a class that stands out.

References
----------
Wolpert (1992), Stacked generalization, Neural Networks 5, 241–259. Gelman & Hill (2007), Data Analysis Using Regression
and Multilevel/Hierarchical Models.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import optimize, special

from textbayes.core.labels import LabelSpace
from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.inference.dense_logit import logit_mode

# Of weights around an equal share of one: with tens of texts members stay together, with hundreds they need not.
_WEIGHT_SD = 0.25
_CLASS_WEIGHT_SD = 0.5  # of weights that all classes share: each text says more of these than of one label's
_BIAS_SD = 1.0
_LOG_SHARPNESS_SD = 1.0
_SHARPNESS = (-3.0, 4.0)  # bounds of its logarithm
_MOST_ENTRIES = 8_000_000  # of documents × classes that their common weights are fitted to
_ALL_UP_TO = 4_000  # documents that a label's regression reads; of more, those that matter and a sample of the others
_ROUNDS = 4  # of expectation–maximisation: the weights do not move in the third digit after
_LEAST_VARIANCE = 1e-4
_SLOPE_PRECISION = 20.0  # of what weights change by with the size of a label: a few labels do not say


class PoolWeights(NamedTuple):
    """Weights of the members for every label, (n_members, n_columns), and a bias for each, (n_columns,).

    Classes that exclude each other have a sharpness as well: the power of what each has by itself.
    """

    weights: FloatArray
    bias: FloatArray
    sharpness: float | None = None

    def scores(self, member_scores: FloatArray) -> FloatArray:
        """Log-odds of the pool from those of its members, (n_members, n_docs, n_columns).

        Of classes that exclude each other: logarithms of their probabilities, up to the same number for all.
        """
        log_odds = np.asarray(np.einsum("mk,mnk->nk", self.weights, member_scores) + self.bias)
        return log_odds if self.sharpness is None else self.sharpness * special.log_expit(log_odds / self.sharpness)


def fit_stacking(
    scores: FloatArray,
    indicator: BoolArray,
    space: LabelSpace,
    learnable: BoolArray | None = None,
    weight: FloatArray | None = None,
    expected: FloatArray | None = None,
) -> PoolWeights:
    """Weights and biases of highest posterior, given what members said of documents that they did not see.

    Parameters
    ----------
    scores : array (n_members, n_docs, n_columns)
    indicator : boolean array (n_docs, n_columns)
    space : LabelSpace
    learnable : boolean array (n_docs, n_columns), optional
        False where a score means nothing, since the other folds lacked the label.
    weight : array (n_docs,), optional
        How much each document counts.
    expected : array (n_members,), optional
        Prior means of the weights; an equal share of one where they are not given.
    """
    mean = np.full(len(scores), 1.0 / len(scores)) if expected is None else expected
    use = np.ones(indicator.shape, dtype=np.bool_) if learnable is None else learnable
    counts = np.ones(len(indicator)) if weight is None else weight
    if space.kind == "multiclass":
        return _class_weights(scores, indicator, use, counts, mean)
    return _label_weights(scores, indicator, use, counts, mean)


def _class_weights(
    scores: FloatArray, indicator: BoolArray, use: BoolArray, weight: FloatArray, mean: FloatArray
) -> PoolWeights:
    """Weights and sharpness of exclusive classes."""
    n_members, _, n_columns = scores.shape
    rows, weight = some_of(indicator & use, weight, max(_MOST_ENTRIES // n_columns, 1_000))
    if not len(rows):
        return PoolWeights(np.tile(mean[:, None], n_columns), np.zeros(n_columns), 1.0)
    S, right, w = scores[:, rows], indicator[rows], weight
    center = np.concatenate([mean, np.zeros(n_columns + 1)])
    sd = np.repeat([_CLASS_WEIGHT_SD, _BIAS_SD, _LOG_SHARPNESS_SD], [n_members, n_columns, 1])

    def objective(theta: FloatArray) -> tuple[float, FloatArray]:
        share, bias, c = theta[:n_members], theta[n_members:-1], np.exp(theta[-1])
        log_odds = (np.tensordot(share, S, axes=1) + bias) / c
        log_own = special.log_expit(log_odds)
        log_p = special.log_softmax(c * log_own, axis=1)
        left, no = w[:, None] * (np.exp(log_p) - right), special.expit(-log_odds)
        slope, off = left * no, (theta - center) / sd
        of_c = c * float((left * (log_own - log_odds * no)).sum())
        gradient = np.concatenate([np.tensordot(S, slope, axes=([1, 2], [0, 1])), slope.sum(axis=0), [of_c]])
        return -float(w @ log_p[right]) + 0.5 * float(off @ off), gradient + off / sd

    bounds = [(0.0, None)] * n_members + [(None, None)] * n_columns + [_SHARPNESS]
    found = optimize.minimize(objective, center, jac=True, bounds=bounds, method="L-BFGS-B").x
    return PoolWeights(np.tile(found[:n_members, None], n_columns), found[n_members:-1], float(np.exp(found[-1])))


def some_of(usable: BoolArray, weight: FloatArray, most: int) -> tuple[IntArray, FloatArray]:
    """Documents with something usable that count, a sample where there are more, and how much each of these counts.

    Parameters
    ----------
    usable : boolean array (n_docs, n_columns)
    weight : array (n_docs,)
    most : int
    """
    rows = np.flatnonzero(usable.any(axis=1) & (weight > 0.0))
    if len(rows) <= most:
        return rows, weight[rows]
    chosen = np.sort(np.random.default_rng(0).choice(rows, most, replace=False))
    return chosen, weight[chosen] * (len(rows) / most)


def _label_weights(
    scores: FloatArray, indicator: BoolArray, use: BoolArray, weight: FloatArray, mean: FloatArray
) -> PoolWeights:
    n_members, _, n_labels = scores.shape
    n_terms = n_members + 1
    prior = np.concatenate([[0.0], mean])
    precision = 1.0 / np.array([_BIAS_SD] + [_WEIGHT_SD] * n_members) ** 2
    told = [_rows(scores[:, :, k], indicator[:, k], use[:, k], weight, k) for k in range(n_labels)]
    # All labels as one: where the others begin, and what a label alone has.
    together = _Told(*(np.concatenate(parts) for parts in zip(*told, strict=True)))
    start, _ = logit_mode(*together, prior, prior, precision)
    if n_labels == 1:
        return PoolWeights(start[1:, None], start[:1])
    own = np.array([one.y.any() for one in told])
    size = np.log2(np.maximum(weight @ indicator, 1.0))
    if own.any():  # nothing is known of labels smaller or larger than those that were tested
        size = np.clip(size, size[own].min(), size[own].max())
    known = np.column_stack([np.ones(n_labels), size - size[own].mean() if own.any() else size])
    by_size = np.column_stack([start, np.zeros(n_terms)])
    variance = np.maximum(0.25 * start**2, 0.05)
    theta = np.tile(start, (n_labels, 1))
    spread = np.zeros((n_labels, n_terms))
    for _ in range(_ROUNDS if own.sum() > 1 else 0):
        expected = known @ by_size.T
        for k in np.flatnonzero(own):
            theta[k], hessian = logit_mode(*told[k], theta[k], expected[k], 1.0 / variance)
            spread[k] = np.diag(np.linalg.inv(hessian))
        design = known[own]
        gram = design.T @ design + np.diag([1e-3, _SLOPE_PRECISION])
        by_size = np.linalg.solve(gram, design.T @ theta[own]).T
        left = (theta[own] - design @ by_size.T) ** 2 + spread[own]
        variance = np.maximum(left.mean(axis=0), _LEAST_VARIANCE)
    theta[~own] = (known @ by_size.T)[~own]
    theta[~own & (weight @ indicator > 0.5 * weight.sum())] = prior  # a label of nearly all texts is like no other
    return PoolWeights(np.ascontiguousarray(theta[:, 1:].T), theta[:, 0].copy())


class _Told(NamedTuple):
    """What members said of some documents, with a column of ones; whether the label applies; how much each counts."""

    F: FloatArray
    y: BoolArray
    weight: FloatArray


def _rows(scores: FloatArray, y: BoolArray, use: BoolArray, weight: FloatArray, seed: int) -> _Told:
    """The documents that a label's regression reads: all, or its own, the likeliest others and a sample of the rest."""
    rows = np.flatnonzero(use & (weight > 0.0))
    counts = weight[rows].astype(np.float64)
    if len(rows) > _ALL_UP_TO:
        likely = scores[:, rows].mean(axis=0)
        likely[y[rows]] = np.inf
        n_near = max(_ALL_UP_TO // 2, 2 * int(y[rows].sum()))
        if n_near < len(rows) - _ALL_UP_TO // 2:
            order = np.argpartition(-likely, n_near)
            rest = np.random.default_rng(seed).choice(order[n_near:], _ALL_UP_TO // 2, replace=False)
            counts[rest] *= (len(rows) - n_near) / len(rest)
            kept = np.sort(np.concatenate([order[:n_near], rest]))
            rows, counts = rows[kept], counts[kept]
    F = np.column_stack([np.ones(len(rows)), scores[:, rows].T.astype(np.float64)])
    return _Told(F, y[rows], counts)
