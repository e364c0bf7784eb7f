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
from textbayes.evaluate.intervals import CROSS_VALIDATED

_POWERS = np.array([0.5, 0.75, 1.0, 1.5])  # by which the error falls, once labels are many
_HALVES = 60  # numbers of labels tried, at which half of what can be learnt is learnt
_RESAMPLED = 200
_LEAST_RISE, _WIDE = 0.01, 0.24  # of a curve, and of a band in which a flat curve says nothing
_FEW, _NEAR_END = 60, 0.95  # texts of which the band of one half is that wide; a share that can hardly grow
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
    """The weighted mean of cross-validated values between 0 and 1, with an interval (``evaluate.intervals``).

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
    n = max(weights.sum() ** 2 / (weights**2).sum(), 1.0) / CROSS_VALIDATED
    return Share(share, *wilson_interval(share * n, n))


class Growth(NamedTuple):
    """How a share of right answers is expected to grow with the number of labelled texts.

    ``sizes``, ``share``, ``low`` and ``high`` are arrays; the ends are those of a 95 % band. ``enough`` is the number
    of labelled texts from which on another ``step`` of them add less than ``least``, with a probability of 95 %; None
    if that is further away than the curve can be followed. ``n`` is the number of texts of equal weight that those by
    which it was measured amount to.
    """

    sizes: IntArray
    share: FloatArray
    low: FloatArray
    high: FloatArray
    enough: int | None
    n: int

    @property
    def can_be_told(self) -> bool:
        """Whether the labels are enough for a forecast: the curve rises, or it is flat and its band narrow.

        Of few texts the band may be narrow by chance; then only a curve near its end says something.
        """
        rises = self.share[-1] - self.share[0] >= _LEAST_RISE
        known = self.n >= _FEW or self.share[-1] >= _NEAR_END
        return bool(rises or (known and (self.high - self.low).max() <= _WIDE))


def expected_growth(
    sizes: ArrayLike,
    right: FloatArray,
    weight: ArrayLike,
    ahead: Sequence[int],
    start: float = 0.0,
    step: int = 100,
    least: float = 0.01,
    seed: int = 0,
) -> Growth:
    """Follow a learning curve, fitted to held-out answers of models of fewer labelled texts.

    The error with n labels is a + (1 − start − a)/(1 + (n/m)^c): it falls from that of a guess to a, and half of the
    way is done with m labels. Beyond m this is a power law; a power law alone would miss that few labels teach little.

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
    start : float
        Share right without any label.
    step, least : int, float
        More labels stop paying where ``step`` of them add less than ``least``, with a probability of 95 %.
    seed : int
        Of the resampling of texts that the band comes from.

    Examples
    --------
    >>> errors = 0.5 / (1.0 + np.array([10, 20, 40]) / 10.0)
    >>> right = np.random.default_rng(0).random((4000, 3)) > errors
    >>> growth = expected_growth([10, 20, 40], right.astype(float), np.ones(4000), [80], start=0.5)
    >>> bool(abs(growth.share[0] - (1.0 - 0.5 / 9.0)) < 0.03), bool(growth.low[0] < growth.share[0] < growth.high[0])
    (True, True)
    """
    numbers = as_numbers(sizes, "sizes")
    if len(np.unique(numbers)) < 2:
        raise InputError("a curve needs models of two sizes or more; give more of them")
    weights = as_numbers(weight, "weight")
    share = weights / weights.sum()
    targets = np.asarray(ahead, dtype=np.int64)
    rng = np.random.default_rng(seed)
    n_drawn = max(int(1.0 / (share**2).sum()), 2)  # as many texts of equal weight
    expected = _Curve.of(numbers, share @ right, start).at(targets)
    places = np.unique(np.geomspace(max(numbers.max(), 2.0), _FURTHEST * numbers.max(), 200).astype(np.int64))
    reached, gains = [], []
    for _ in range(_RESAMPLED):
        rows = rng.choice(len(right), n_drawn, p=share)
        curve = _Curve.of(numbers, right[rows].mean(axis=0), start)
        reached.append(curve.at(targets))
        gains.append(curve.at(places + step) - curve.at(places))
    low, high = np.quantile(reached, [0.025, 0.975], axis=0)
    stops = np.flatnonzero(np.quantile(gains, 0.95, axis=0) < least)
    enough = int(places[stops[0]]) if len(stops) else None
    return Growth(targets, expected, np.minimum(low, expected), np.maximum(high, expected), enough, n_drawn)


class _Curve(NamedTuple):
    """The error floor + (begin − floor)/(1 + (n/half)^power)."""

    begin: float
    floor: float
    half: float
    power: float

    @classmethod
    def of(cls, sizes: FloatArray, share: FloatArray, start: float) -> _Curve:
        """The curve nearest to these shares, by least squares on a grid; the floor is the best for each."""
        halves = np.geomspace(sizes.min() / 10.0, 10.0 * sizes.max(), _HALVES)[:, None, None]
        left = 1.0 / (1.0 + (sizes / halves) ** _POWERS[:, None])  # (n_halves, n_powers, n_sizes)
        begin, error = 1.0 - start, 1.0 - share
        floor = ((error - begin * left) * (1.0 - left)).sum(axis=2) / ((1.0 - left) ** 2).sum(axis=2)
        floor = np.clip(floor, 0.0, begin)
        distance = ((floor[:, :, None] * (1.0 - left) + begin * left - error) ** 2).sum(axis=2)
        i, j = np.unravel_index(int(distance.argmin()), distance.shape)
        return cls(begin, float(floor[i, j]), float(halves[i, 0, 0]), float(_POWERS[j]))

    def at(self, sizes: IntArray) -> FloatArray:
        """The share right with so many labels."""
        left = 1.0 / (1.0 + (sizes / self.half) ** self.power)
        return np.asarray(1.0 - self.floor - (self.begin - self.floor) * left)
