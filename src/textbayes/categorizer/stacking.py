"""Weights of a pool that differ by label: what members said of texts they had not seen, regressed on the labels.

Labels that may go together have a logistic regression each, η_k = b_k + Σ_m a_km s_mk, whose coefficients are shrunk to
those of labels of the same size: θ_k ~ N(Γ (1, log₂ n_k), diag τ²), with Γ and τ found by expectation–maximisation over
the labels. A label with hundreds of texts follows its own; one with three follows its kind.

Of two classes, or of one label alone, no weight is negative, and the weights share a factor: how far the members are to
be followed at all, which is little where texts are few and short and more than they ask for where they are long.

Several classes that exclude each other have one weight for each member, none negative, a bias for each class, which
repairs what one-against-the-rest fits leave of unequal classes, and one number c for all, the inverse temperature: with
η_k = b_k + Σ_m a_m s_mk, p_k = σ(η_k/c)^c / Σ_j σ(η_j/c)^c. For c = 1 each class's own probability is normalised; in
the limit of large c it is a softmax of η/2, which makes too much of a class that stands out. The probabilities that fit
held-out texts best are raised to a power a little below one: the pool was fitted to these texts, and later ones are
never quite like them.

References
----------
Wolpert (1992), Stacked generalization, Neural Networks 5, 241–259. Gelman & Hill (2007), Data Analysis Using Regression
and Multilevel/Hierarchical Models.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import optimize, special

from textbayes.categorizer.held_out import ENOUGH_TEXTS
from textbayes.core.labels import LabelSpace
from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.inference.newton import logit_mode
from textbayes.kernels.linear.likelihoods import class_power_likelihood

# Of weights around an equal share of one: with tens of texts members stay together, with hundreds they need not.
_WEIGHT_SD = 0.25
# Of two classes: mean and standard deviation of the factor that weights share, and the latter of each around its share.
_FACTOR, _FACTOR_SD, _SHARE_SD = 0.8, 0.3, 0.25
_CLASS_WEIGHT_SD = 0.5  # of weights that all classes share: each text says more of these than of one label's
_BIAS_SD = 1.0
_CLASS_BIAS_SD = 0.7
_LOG_TEMPERATURE_SD = 1.0
_LOG_TEMPERATURE = (-3.0, 4.0)  # bounds of its logarithm
# The power that probabilities of classes are raised to: at most, since later texts are others, and what n texts make of
# it, less where they are few; without naive Bayes, which begins at ENOUGH_TEXTS, there is nothing to gain.
# `benchmarks/tune_power.py` prints what is left.
_MOST_POWER, _LOST_OF_ONE_TEXT = 0.94, 0.9
LEAST_WEIGHT = 1e-3  # of a member in the pool, of all its labels: with less it is left out
_MOST_ENTRIES = 8_000_000  # of documents × classes that their common weights are fitted to
_ALL_UP_TO = 4_000  # documents that a label's regression reads; of more, those that matter and a sample of the others
_ROUNDS = 4  # of expectation–maximisation: the weights do not move in the third digit after
_LEAST_VARIANCE = 1e-4
_SLOPE_PRECISION = 20.0  # of what weights change by with the size of a label: a few labels do not say


class Stack(NamedTuple):
    """Weights of the members for every label, (n_members, n_columns), and a bias for each, (n_columns,).

    Classes that exclude each other may have an inverse temperature as well: the power of what each has by itself.
    ``calibration`` is a factor of all scores.
    """

    weights: FloatArray
    bias: FloatArray
    inverse_temperature: float | None = None
    calibration: float = 1.0

    @classmethod
    def shared(cls, weights: FloatArray, n_columns: int) -> Stack:
        """One weight for each member, the same for all labels."""
        return cls(np.tile(weights[:, None], n_columns), np.zeros(n_columns))

    def scores(self, member_scores: FloatArray) -> FloatArray:
        """Log-odds of the pool from those of its members, (n_members, n_docs, n_columns).

        Of classes that exclude each other: logarithms of their probabilities, up to the same number for all.
        """
        log_odds = np.asarray(np.einsum("mk,mnk->nk", self.weights, member_scores) + self.bias)
        power = self.inverse_temperature
        return log_odds if power is None else power * special.log_expit(log_odds / power)


def fit_stacking(
    scores: FloatArray,
    indicator: BoolArray,
    space: LabelSpace,
    label_seen: BoolArray | None = None,
    weight: FloatArray | None = None,
    expected: FloatArray | None = None,
    most: int = _MOST_ENTRIES,
) -> Stack:
    """Weights and biases of highest posterior, given what members said of documents that they did not see.

    Parameters
    ----------
    scores : array (n_members, n_docs, n_columns)
    indicator : boolean array (n_docs, n_columns)
    space : LabelSpace
    label_seen : boolean array (n_docs, n_columns), optional
        False where a score means nothing, since the other folds lacked the label.
    weight : array (n_docs,), optional
        How much each document counts.
    expected : array (n_members,), optional
        Prior means of the weights, of two classes before their common factor; an equal share of one where they are not
        given.
    most : int
        Documents × classes, of classes that exclude each other, that are read; of more, a sample.
    """
    mean = np.full(len(scores), 1.0 / len(scores)) if expected is None else expected
    use = np.ones(indicator.shape, dtype=np.bool_) if label_seen is None else label_seen
    counts = np.ones(len(indicator)) if weight is None else weight
    if space.kind == "multiclass":
        return _class_weights(scores, indicator, use, counts, mean, most)
    if scores.shape[2] == 1:
        yes = indicator[:, 0]
        sign = -1.0 if space.kind == "binary" and 2 * yes.sum() > len(yes) else 1.0  # the rarer class is the label
        found = _single_weights(_rows(sign * scores[:, :, 0], yes if sign > 0.0 else ~yes, use[:, 0], counts), mean)
        return Stack(found.weights, sign * found.bias)
    return _label_weights(scores, indicator, use, counts, mean)


def _class_weights(
    scores: FloatArray, indicator: BoolArray, use: BoolArray, weight: FloatArray, mean: FloatArray, most: int
) -> Stack:
    """Weights and inverse temperature of exclusive classes."""
    n_members, _, n_columns = scores.shape
    usable = indicator & use
    rows, weight = some_of(usable, weight, max(most // n_columns, 1_000))
    if not len(rows):
        return Stack(np.tile(mean[:, None], n_columns), np.zeros(n_columns), 1.0)
    S = np.ascontiguousarray(scores[:, rows], dtype=np.float32)
    codes, counts = indicator[rows].argmax(axis=1), weight.astype(np.float64)
    center = np.concatenate([mean, np.zeros(n_columns + 1)])
    sd = np.repeat([_CLASS_WEIGHT_SD, _CLASS_BIAS_SD, _LOG_TEMPERATURE_SD], [n_members, n_columns, 1])

    def objective(theta: FloatArray) -> tuple[float, FloatArray]:
        share, bias, inverse_temperature = theta[:n_members], theta[n_members:-1], float(np.exp(theta[-1]))
        gradient, off = np.empty(len(theta)), (theta - center) / sd
        likelihood = class_power_likelihood(S, codes, counts, share, bias, inverse_temperature, gradient)
        return 0.5 * float(off @ off) - likelihood, off / sd - gradient

    bounds = [(0.0, None)] * n_members + [(None, None)] * n_columns + [_LOG_TEMPERATURE]
    found = optimize.minimize(objective, center, jac=True, bounds=bounds, method="L-BFGS-B").x
    power = lasting_power(int(usable.any(axis=1).sum()))
    share, bias, inverse_temperature = found[:n_members], found[n_members:-1], float(np.exp(found[-1]))
    return Stack(np.tile(power * share[:, None], n_columns), power * bias, power * inverse_temperature)


def lasting_power(n_texts: int) -> float:
    """The power that classes' probabilities are raised to after they were fitted to so many held-out texts.

    Parameters
    ----------
    n_texts : int
    """
    return 1.0 if n_texts < ENOUGH_TEXTS else min(_MOST_POWER, 1.0 - _LOST_OF_ONE_TEXT * n_texts ** (-1.0 / 3.0))


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


def _single_weights(rows: _Rows, mean: FloatArray) -> Stack:
    """Weights of two classes, or of one label alone: each its mean times a common factor, and a part of its own."""
    center = np.concatenate([[0.0], _FACTOR * mean])
    together = np.concatenate([[0.0], _FACTOR_SD * mean])
    own = np.array([_BIAS_SD] + [_SHARE_SD] * len(mean))
    precision = np.linalg.inv(np.diag(own**2) + np.outer(together, together))
    sign = np.where(rows.y, 1.0, -1.0)

    def objective(theta: FloatArray) -> tuple[float, FloatArray]:
        log_odds, pull = sign * (rows.F @ theta), precision @ (theta - center)
        gradient = pull - rows.F.T @ (rows.weight * sign * special.expit(-log_odds))
        loss = rows.weight @ np.logaddexp(0.0, -log_odds) + 0.5 * (theta - center) @ pull
        return float(loss), gradient

    bounds = [(None, None)] + [(0.0, None)] * len(mean)
    found = optimize.minimize(objective, center, jac=True, bounds=bounds, method="L-BFGS-B").x
    return Stack(found[1:, None], found[:1])


def _label_weights(
    scores: FloatArray, indicator: BoolArray, use: BoolArray, weight: FloatArray, mean: FloatArray
) -> Stack:
    n_members, _, n_labels = scores.shape
    n_terms = n_members + 1
    prior = np.concatenate([[0.0], mean])
    precision = 1.0 / np.array([_BIAS_SD] + [_WEIGHT_SD] * n_members) ** 2
    rows = [_rows(scores[:, :, k], indicator[:, k], use[:, k], weight) for k in range(n_labels)]
    # All labels as one: where the others begin.
    together = _Rows(*(np.concatenate(parts) for parts in zip(*rows, strict=True)))
    start, _ = logit_mode(*together, prior, prior, precision)
    own = np.array([one.y.any() for one in rows])
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
            theta[k], hessian = logit_mode(*rows[k], theta[k], expected[k], 1.0 / variance)
            spread[k] = np.diag(np.linalg.inv(hessian))
        design = known[own]
        gram = design.T @ design + np.diag([1e-3, _SLOPE_PRECISION])
        by_size = np.linalg.solve(gram, design.T @ theta[own]).T
        left = (theta[own] - design @ by_size.T) ** 2 + spread[own]
        variance = np.maximum(left.mean(axis=0), _LEAST_VARIANCE)
    theta[~own] = (known @ by_size.T)[~own]
    theta[~own & (weight @ indicator > 0.5 * weight.sum())] = prior  # a label of nearly all texts is like no other
    return Stack(np.ascontiguousarray(theta[:, 1:].T), theta[:, 0].copy())


class _Rows(NamedTuple):
    """What members said of some documents, with a column of ones; whether the label applies; how much each counts."""

    F: FloatArray
    y: BoolArray
    weight: FloatArray


def _rows(scores: FloatArray, y: BoolArray, use: BoolArray, weight: FloatArray) -> _Rows:
    """The documents that a label's regression reads: all, or its own, the likeliest others and a sample of the rest."""
    rows = np.flatnonzero(use & (weight > 0.0))
    counts = weight[rows].astype(np.float64)
    if len(rows) > _ALL_UP_TO:
        likely = scores[:, rows].mean(axis=0)
        likely[y[rows]] = np.inf
        n_near = max(_ALL_UP_TO // 2, 2 * int(y[rows].sum()))
        if n_near < len(rows) - _ALL_UP_TO // 2:
            order = np.argpartition(-likely, n_near)
            rest = np.random.default_rng(0).choice(order[n_near:], _ALL_UP_TO // 2, replace=False)
            counts[rest] *= (len(rows) - n_near) / len(rest)
            kept = np.sort(np.concatenate([order[:n_near], rest]))
            rows, counts = rows[kept], counts[kept]
    F = np.column_stack([np.ones(len(rows)), scores[:, rows].T.astype(np.float64)])
    return _Rows(F, y[rows], counts)
