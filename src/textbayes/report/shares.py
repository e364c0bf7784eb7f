"""Shares and their 95% intervals."""

from __future__ import annotations

import math

from textbayes.core.types import BoolArray
from textbayes.report.records import Interval

_NORMAL_975 = 1.959963984540054


def wilson_interval(n_right: float, n: float) -> Interval:
    """A share with the 95% score interval of Wilson (1927), which stays inside [0, 1] and is honest for small n.

    >>> interval = wilson_interval(9, 10)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.596, 0.982)
    """
    share, z2 = n_right / n, _NORMAL_975**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = _NORMAL_975 * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    # The share lies inside, also where rounding would leave it a hair outside.
    return Interval(share, min(share, max(0.0, centre - half)), max(share, min(1.0, centre + half)))


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


def micro_f1_interval(truth: BoolArray, decisions: BoolArray) -> Interval | None:
    """Micro-averaged F1 with its 95% interval; None where no text has a label and none was predicted.

    As in :func:`f1_interval`, by Wilson's interval of J = TP / (TP + FP + FN). Labels of one text are not independent,
    so the number of decisions is divided by the design effect of texts as clusters (Kish 1965), if it exceeds 1.

    Parameters
    ----------
    truth, decisions : boolean arrays (n_texts, n_labels)
    """
    right, counted = (truth & decisions).sum(axis=1), (truth | decisions).sum(axis=1)
    n, n_right = int(counted.sum()), int(right.sum())
    if not n:
        return None
    share = n_right / n
    effect = 1.0
    if 0 < n_right < n:
        effect = max(1.0, float(((right - share * counted) ** 2).sum()) / (n * share * (1.0 - share)))
    return Interval(*(2.0 * j / (1.0 + j) for j in wilson_interval(n_right / effect, n / effect)))
