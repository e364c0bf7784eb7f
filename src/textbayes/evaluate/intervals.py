"""Intervals of accuracy, F1 and log-loss, of texts or groups of texts that count together, drawn at random or not.

Of a share (accuracy, micro and macro F1) it is Wilson's (1927), for the number of texts that would give a share of this
variance: the effective number of texts. The variance is the jackknife's, which leaves out each text, or each group, in
turn, and so knows that decisions on one text go together and that macro F1 hangs on the rarest labels. It is taken to
be no less than that of as many independent decisions, since a few that are all right say nothing of it. The interval of
a log-loss is Student's, of its logarithm: losses are skewed and never negative.

Cross-validated figures vary more than their texts alone: models of different folds learnt from the same texts, and the
model of all texts is not their mean. Their variance is multiplied by :data:`CROSS_VALIDATED`. In draws of 30, 100 and
300 texts from four corpora the squared error of accuracy was 1.4 to 1.7 times that of independent texts, whatever the
corpus and the number of texts. ``benchmarks/bench_held_out_intervals.py`` prints how often the intervals hold the truth
on other corpora.

Texts that were asked about are no random draw: figures of them have weights, and :func:`expected_growth` says how they
grow with more labels.

References
----------
Korn & Graubard (1998), Survey Methodology 24, 193-201. Lam, Gopal & Qian (2023), arXiv:2309.14621. Nadeau & Bengio
(2003), Machine Learning 52, 239-281. Bates, Hastie & Tibshirani (2024), JASA 119, 1434-1445.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import stdtrit

from textbayes.core.errors import InputError
from textbayes.core.statistics import wilson_interval
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.core.validation import as_numbers
from textbayes.evaluate.measures import ZeroDivision

CROSS_VALIDATED = 1.5  # the variance of cross-validated figures around the truth, by that of independent texts
_LEAST_VARIANCE = 1e-12  # less is rounding
_FEW_TEXTS = 100
_AT_ONCE = 20_000  # texts whose counts by label are held as numbers at a time

Ends = tuple[float, float]


class Units(NamedTuple):
    """What figures are made of: texts, or groups of texts that count together, and what their variance is times.

    Parameters
    ----------
    group : array (n_texts,) or None
        The group of each text; None where each is alone.
    n : int
        Groups, or texts.
    factor : float
        Of the variance, such as :data:`CROSS_VALIDATED`.
    level : float
        The probability that an interval holds.
    """

    group: IntArray | None
    n: int
    factor: float
    level: float

    @classmethod
    def of(cls, n_texts: int, group: IntArray | None = None, factor: float = 1.0, level: float = 0.95) -> Units:
        """Units of some texts; groups may have any numbers."""
        if group is None:
            return cls(None, n_texts, factor, level)
        codes = np.unique(group, return_inverse=True)[1].astype(np.int64)
        n = int(codes.max(initial=-1)) + 1
        # Few groups tell little of how much groups differ: Student's quantile in place of Gauss's.
        few = 1.0 if n < 2 else float((stdtrit(n - 1, 0.975) / stdtrit(max(n_texts - 1, 1), 0.975)) ** 2)
        return cls(codes if n < n_texts else None, n, factor * few, level)

    def sums(self, values: AnyArray) -> FloatArray:
        """Sums over the texts of each unit."""
        if self.group is None:
            return np.asarray(values, dtype=np.float64)
        size = len(self.group)
        one = sparse.csr_matrix((np.ones(size), (self.group, np.arange(size))), shape=(self.n, size))
        return np.asarray(one @ np.asarray(values, dtype=np.float64))

    def blocks(self, *counts: AnyArray) -> Iterator[list[FloatArray]]:
        """Sums over the texts of each unit, of some units at a time where each is a text."""
        if self.group is not None:
            yield [self.sums(one) for one in counts]
            return
        for start in range(0, self.n, _AT_ONCE):
            yield [self.sums(one[start : start + _AT_ONCE]) for one in counts]

    def variance(self, left_out: FloatArray) -> float:
        """Of a figure, from its values with each unit left out; one text alone, of two, or none, has none."""
        return self.factor * (self.n - 1) ** 2 / self.n * float(left_out.var()) if self.n > 1 else 0.0

    def share(self, value: float, variance: float, most: float, fewest: float) -> Ends:
        """Wilson's interval of a share by its variance.

        Parameters
        ----------
        value, variance : float
        most : float
            Independent decisions that it is a share of: no variance is below theirs.
        fewest : float
            Units that they amount to: what counts where nothing varies.
        """
        n = fewest / self.factor
        if variance > _LEAST_VARIANCE:
            n = min(value * (1.0 - value) / variance, most / self.factor)
        return wilson_interval(value * n, n, self.level)


def accuracy_interval(right: BoolArray, units: Units) -> Ends | None:
    """Interval of the share of texts that are right; None without texts.

    Parameters
    ----------
    right : boolean array (n_texts,)
    units : Units

    Examples
    --------
    >>> right = np.arange(30) > 1
    >>> low, high = accuracy_interval(right, Units.of(30, factor=CROSS_VALIDATED))
    >>> round(low, 2), round(high, 2)
    (0.74, 0.99)
    """
    n = len(right)
    if not n:
        return None
    hits, sizes = units.sums(right), units.sums(np.ones(n))
    left_out = _ratio(hits.sum() - hits, n - sizes)
    return units.share(float(right.mean()), units.variance(left_out), n, _effective(sizes))


def micro_f1_interval(Y_true: BoolArray, decided: BoolArray, units: Units | None = None) -> Ends | None:
    """Interval of micro F1; None where there is nothing to count.

    With J = TP / (TP + FP + FN), F1 = 2J / (1 + J) rises with J, which is a share: the ends of its interval give those
    of F1.

    Parameters
    ----------
    Y_true, decided : boolean arrays (n_texts, n_labels)
    units : Units, optional
        Texts by default.
    """
    units = Units.of(len(Y_true)) if units is None else units
    hits, counted = units.sums((Y_true & decided).sum(axis=1)), units.sums((Y_true | decided).sum(axis=1))
    total = float(counted.sum())
    if not total:
        return None
    left_out = _ratio(hits.sum() - hits, total - counted)
    ends = units.share(float(hits.sum()) / total, units.variance(left_out), total, _effective(counted))
    return 2.0 * ends[0] / (1.0 + ends[0]), 2.0 * ends[1] / (1.0 + ends[1])


def macro_f1_interval(
    Y_true: BoolArray, decided: BoolArray, units: Units, zero_division: ZeroDivision = 0
) -> Ends | None:
    """Interval of the mean F1 of labels; None where no label has a text.

    Parameters
    ----------
    Y_true, decided : boolean arrays (n_texts, n_labels)
    units : Units
    zero_division : {0, 1, "skip"}
        F1 of a label that no text has and no text is given.
    """
    both, n_labels = Y_true & decided, Y_true.shape[1]
    hits, given, size, squares = (np.zeros(n_labels) for _ in range(4))
    for right, chosen, true in units.blocks(both, decided, Y_true):
        hits, given, size = hits + 2.0 * right.sum(axis=0), given + chosen.sum(axis=0), size + true.sum(axis=0)
        squares += (true**2).sum(axis=0)
    has = size > 0.0
    if not has.any():
        return None
    due = size + given
    f1 = _ratio(hits, due, np.nan if zero_division == "skip" else zero_division)
    means = []
    for right, chosen, true in units.blocks(both, decided, Y_true):
        without = _ratio(hits - 2.0 * right, due - chosen - true, np.nan)
        without = np.where(np.isnan(without), f1, without)  # without a label's only text nothing is known of it
        means.append(np.nanmean(without, axis=1))
    left_out, n_counted = np.concatenate(means), int(np.isfinite(f1).sum())
    most = n_counted**2 / float((1.0 / size[has]).sum())
    fewest = n_counted**2 / float((squares[has] / size[has] ** 2).sum())
    return units.share(float(np.nanmean(f1)), units.variance(left_out), most, fewest)


def log_loss_interval(losses: FloatArray, counted: FloatArray, units: Units) -> Ends | None:
    """Interval of the mean log-loss; None where it is 0, or of fewer than two texts or groups.

    Parameters
    ----------
    losses, counted : arrays (n_texts,)
        Of each text the sum of its losses, and how many these are.
    units : Units
    """
    sums, numbers = units.sums(losses), units.sums(counted)
    n = int((numbers > 0.0).sum())
    if n < 2 or not sums.sum() > 0.0:
        return None
    mean = float(sums.sum() / numbers.sum())
    error = math.sqrt(units.variance(_ratio(sums.sum() - sums, numbers.sum() - numbers)))
    reach = math.exp(min(float(stdtrit(n - 1, (1.0 + units.level) / 2.0)) * error / mean, 50.0))
    return mean / reach, mean * reach


def digits_of(ends: Ends) -> int:
    """Decimals that a figure with such an interval deserves: two digits of the interval's width.

    >>> digits_of((0.66, 0.93)), digits_of((0.951, 0.972)), digits_of((1.4, 3.9))
    (2, 3, 1)
    """
    width = ends[1] - ends[0]
    return 1 + min(max(math.ceil(-math.log10(width)), 0), 3) if width > 0.0 else 4


def figure_in_words(measures: Mapping[str, Any], key: str) -> tuple[str, str]:
    """A figure and its interval, with as many decimals as the interval's width gives it; "–" where there is none.

    Parameters
    ----------
    measures : mapping
        As ``textbayes.evaluate.evaluate`` gives them.
    key : str
        The name of the figure.

    Examples
    --------
    >>> figure_in_words({"accuracy": 0.93333, "accuracy_interval": [0.72714, 0.98671]}, "accuracy")
    ('0.93', '95% interval 0.73 to 0.99')
    """
    value, ends = measures.get(key), measures.get(f"{key}_interval")
    if value is None:
        return "–", ""
    if ends is None:  # files of earlier versions have not all of them
        return f"{value:.{2 if (measures.get('n_docs') or 0) < _FEW_TEXTS else 3}f}", ""
    digits = digits_of(ends)
    return f"{value:.{digits}f}", f"95% interval {ends[0]:.{digits}f} to {ends[1]:.{digits}f}"


def _ratio(over: FloatArray, under: FloatArray, undefined: float = 0.0) -> FloatArray:
    return np.divide(over, under, out=np.full(np.shape(over), float(undefined)), where=np.asarray(under) > 1e-9)


def _effective(sizes: FloatArray) -> float:
    """As many units of one size as units of these sizes amount to (Kish 1965)."""
    return float(sizes.sum() ** 2 / (sizes**2).sum())


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
