"""Shares and their 95% intervals."""

from __future__ import annotations

from textbayes.core.statistics import wilson_interval as wilson
from textbayes.report.records import Interval


def wilson_interval(n_right: float, n: float) -> Interval:
    """A share with its 95% interval, as ``textbayes.core.statistics.wilson_interval`` has it.

    >>> interval = wilson_interval(9, 10)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.596, 0.982)
    """
    return Interval(n_right / n, *wilson(n_right, n))


def share_interval(n_right: int, n: int) -> Interval | None:
    """Share with its interval as in :func:`wilson_interval`, or None where there is nothing to count."""
    return wilson_interval(n_right, n) if n else None


def f1_interval(tp: int, fp: int, fn: int) -> Interval | None:
    """F1 with its 95% interval, by that of TP / (TP + FP + FN), of which F1 is a rising function.

    With J = TP / (TP + FP + FN), a share of texts, F1 = 2J / (1 + J): the ends of Wilson's interval of J become those
    of F1. Reference: the indirect Wilson interval of Lam, Gopal & Qian (2023), arXiv:2309.14621.
    """
    if not tp + fp + fn:
        return None
    return Interval(*(2.0 * j / (1.0 + j) for j in wilson_interval(tp, tp + fp + fn)))
