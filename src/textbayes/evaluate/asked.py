"""Figures from texts that were not all drawn at random, and how they grow with more labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from textbayes.core.errors import InputError
from textbayes.core.statistics import wilson_interval
from textbayes.core.types import FloatArray, IntArray
from textbayes.core.validation import as_numbers

_POWERS = np.array([0.25, 0.5, 0.75, 1.0, 1.5])  # of the number of labels, by which the error falls
_RESAMPLED = 200
_FURTHEST = 64  # times as many labels as there are, as far as the curve is followed


def draw_weights(drawn: ArrayLike, n_texts: int) -> FloatArray:
    """Weights with which labelled texts stand for all texts, where some were asked for and others drawn at random.

    A text that was asked for stands for itself. A text drawn at random stands for all that had no label when it was
    drawn. So every draw by itself gives an estimate, (sum over the texts labelled before + number of texts without a
    label · value of the drawn text)/n_texts, whose expectation is the mean over all texts, however the others were
    chosen. The weights are those of the mean of these estimates over all draws; they add up to one.

    Parameters
    ----------
    drawn : array of bool (n_labelled,)
        Of the labelled texts, in the order in which they were: whether it was drawn at random from those without a
        label.
    n_texts : int
        All texts, labelled or not.

    Examples
    --------
    >>> draw_weights([True, False, True], 100).round(3).tolist()  # 1 stands for 100, then 3 for the 98 that are left
    [0.505, 0.005, 0.49]
    """
    drawn = np.asarray(drawn, dtype=bool)
    if not drawn.any():
        raise InputError("no text was drawn at random, so that nothing stands for texts without a label; draw some")
    if len(drawn) > n_texts:
        raise InputError(f"{len(drawn)} labelled texts are more than the {n_texts} texts there are; count both")
    before = np.arange(len(drawn))
    later = drawn.sum() - np.cumsum(drawn)  # draws after each text
    own = np.where(drawn, n_texts - before, 0)
    return np.asarray((later + own) / (n_texts * drawn.sum()))


class Share(NamedTuple):
    """A share of texts with its 95 % interval."""

    value: float
    low: float
    high: float


def weighted_share(right: ArrayLike, weight: ArrayLike) -> Share:
    """The weighted mean of values between 0 and 1, with Wilson's interval for as many texts as the weights amount to.

    Parameters
    ----------
    right : array (n_texts,)
        Whether each answer is right, or how much of it.
    weight : array (n_texts,)

    Notes
    -----
    Texts of weights w amount to (Σ w)²/Σ w² of equal weight (Kish).
    """
    values, weights = as_numbers(right, "right"), as_numbers(weight, "weight")
    share = float(weights @ values / weights.sum())
    n = int(max(weights.sum() ** 2 / (weights**2).sum(), 1.0))
    low, high = wilson_interval(share * n, n)
    return Share(share, float(low), float(high))


class Growth(NamedTuple):
    """How a share of right answers is expected to grow with the number of labelled texts.

    ``sizes``, ``share``, ``low`` and ``high`` are arrays; the ends are those of a 90 % band. ``enough`` is the number
    of labelled texts from which on another ``step`` of them is expected to add less than ``least``; None if that is
    further away than the curve can be followed.
    """

    sizes: IntArray
    share: FloatArray
    low: FloatArray
    high: FloatArray
    enough: int | None


def expected_growth(
    sizes: ArrayLike,
    right: FloatArray,
    weight: ArrayLike,
    ahead: Sequence[int],
    step: int = 100,
    least: float = 0.01,
    seed: int = 0,
) -> Growth:
    """Follow a learning curve: 1 − a − b·n^(−c), fitted to held-out answers of models of fewer labelled texts.

    Parameters
    ----------
    sizes : array (n_sizes,)
        Numbers of labelled texts that models learnt from, two different ones or more.
    right : array (n_texts, n_sizes)
        Whether each held-out text was right with each, or how much of it.
    weight : array (n_texts,)
        How much each text counts, see :func:`draw_weights`.
    ahead : sequence of int
        Numbers of labelled texts to look ahead to.
    step, least : int, float
        More labels stop paying where ``step`` of them are expected to add less than ``least``.
    seed : int
        Of the resampling of texts that the band comes from.

    Examples
    --------
    >>> right = np.random.default_rng(0).random((4000, 3)) < [0.5, 0.75, 0.875]  # the error halves with the double
    >>> growth = expected_growth([10, 20, 40], right.astype(float), np.ones(4000), [80])
    >>> bool(abs(growth.share[0] - 0.9375) < 0.03), bool(growth.low[0] < growth.share[0] < growth.high[0])
    (True, True)
    """
    numbers = as_numbers(sizes, "sizes")
    if len(np.unique(numbers)) < 2:
        raise InputError("a curve needs models of two sizes or more; give more of them")
    weights = as_numbers(weight, "weight")
    targets = np.asarray(ahead, dtype=np.int64)
    rng = np.random.default_rng(seed)
    curves = [_curve(numbers, weights @ right / weights.sum())]
    share = weights / weights.sum()
    n_drawn = max(int(1.0 / (share**2).sum()), 2)  # as many texts of equal weight
    for _ in range(_RESAMPLED):
        rows = rng.choice(len(right), n_drawn, p=share)
        curves.append(_curve(numbers, right[rows].mean(axis=0)))
    reached = np.array([_at(curve, targets) for curve in curves])
    low, high = np.quantile(reached[1:], [0.05, 0.95], axis=0)
    middle = reached[0]
    places = np.unique(np.geomspace(max(numbers.max(), 2), _FURTHEST * numbers.max(), 200).astype(np.int64))
    gains = _at(curves[0], places + step) - _at(curves[0], places)
    stops = np.flatnonzero(gains < least)
    enough = int(places[stops[0]]) if len(stops) else None
    return Growth(targets, middle, np.minimum(low, middle), np.maximum(high, middle), enough)


def _curve(sizes: FloatArray, share: FloatArray) -> tuple[float, float, float]:
    """a, b and c of the error a + b·n^(−c) that is nearest, a and b not negative."""
    from scipy.optimize import nnls

    best = (np.inf, 0.0, 0.0, 1.0)
    for power in _POWERS:
        columns = np.stack([np.ones(len(sizes)), (sizes / sizes[0]) ** -power], axis=1)
        (a, b), distance = nnls(columns, 1.0 - share)
        if distance < best[0] - 1e-12:
            best = (distance, a, b * sizes[0] ** power, power)
    return best[1:]


def _at(curve: tuple[float, float, float], sizes: IntArray) -> FloatArray:
    a, b, power = curve
    return np.clip(1.0 - a - b * sizes.astype(np.float64) ** -power, 0.0, 1.0)
