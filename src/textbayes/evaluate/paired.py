"""Difference of two shares of the same cases, with an interval that respects the pairing."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from scipy.special import betaincinv

from textbayes.core.errors import InputError
from textbayes.evaluate.intervals import wilson_interval


class Difference(NamedTuple):
    """A difference of two shares, first − second, with the ends of its interval."""

    value: float
    low: float
    high: float


def paired_difference(both: int, first: int, second: int, neither: int, level: float = 0.95) -> Difference:
    """Share of cases that the first gets right less that of the second, with Newcombe's (1998) interval.

    Of all cases ``both`` are got right by both, ``first`` and ``second`` by one alone, ``neither`` by neither. The
    interval squares and adds the Wilson intervals of the two shares, less what their correlation explains (method 10
    there): it stays inside [−1, 1] and holds its level where few cases differ, which the exact interval given the
    number of differing cases does not.

    Reference: Newcombe (1998), Statistics in Medicine 17, 2635–2650.

    Parameters
    ----------
    both, first, second, neither : int
        Cases, by who gets them right.
    level : float
        The probability that the interval holds.

    Examples
    --------
    >>> [round(value, 4) for value in paired_difference(36, 12, 2, 0)]  # the paper's example
    [0.2, 0.0569, 0.3404]
    """
    if min(both, first, second, neither) < 0 or not 0 < level < 1:
        raise InputError(
            f"cases {both}, {first}, {second}, {neither} at level {level}: counts from 0 on and a level in (0, 1) are "
            "needed"
        )
    n = both + first + second + neither
    if n == 0:
        return Difference(0.0, -1.0, 1.0)
    right = both + first, both + second
    share_1, share_2 = (count / n for count in right)
    (low_1, high_1), (low_2, high_2) = (wilson_interval(count, n, level) for count in right)
    product = float(right[0]) * (n - right[0]) * right[1] * (n - right[1])
    together = float(both) * neither - float(first) * second
    if together > 0.0:
        together = max(together - n / 2, 0.0)
    phi = together / sqrt(product) if product > 0.0 else 0.0
    value = share_1 - share_2
    low = value - _added(share_1 - low_1, high_2 - share_2, phi)
    high = value + _added(share_2 - low_2, high_1 - share_1, phi)
    return Difference(value, float(low), float(high))


def exact_interval(count: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Interval of Clopper & Pearson (1934) for a share of n ≥ 1 cases, as ``binomtest`` has it.

    Parameters
    ----------
    count, n : int
        The cases that count, of so many.
    level : float
        The probability that the interval holds.

    Examples
    --------
    >>> [round(end, 4) for end in exact_interval(9, 10)]
    [0.555, 0.9975]
    """
    tail = (1.0 - level) / 2.0
    low = float(betaincinv(count, n - count + 1, tail)) if count > 0 else 0.0
    return low, float(betaincinv(count + 1, n - count, 1.0 - tail)) if count < n else 1.0


def _added(one: float, other: float, phi: float) -> float:
    return sqrt(max(one * one - 2.0 * phi * one * other + other * other, 0.0))
