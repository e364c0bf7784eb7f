"""Intervals of measures that are shares of texts or of decisions."""

from __future__ import annotations

from math import sqrt

from scipy.special import ndtri

from textbayes.core.types import BoolArray


def wilson_interval(count: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Score interval of Wilson (1927) for a share of n cases; inside [0, 1], and accurate for small n too.

    Parameters
    ----------
    count, n : float
        The cases that count, of so many. Effective numbers of cases need not be whole.
    level : float
        The probability that the interval holds.

    Examples
    --------
    >>> [round(end, 3) for end in wilson_interval(9, 10)]
    [0.596, 0.982]
    """
    z = float(ndtri((1.0 + level) / 2.0))
    share, z2 = count / n, z * z
    centre, half = share + z2 / (2 * n), z * sqrt(share * (1.0 - share) / n + z2 / (4 * n * n))
    low, high = (centre - half) / (1.0 + z2 / n), (centre + half) / (1.0 + z2 / n)
    # The share lies inside, also where rounding would leave it a hair outside.
    return min(share, max(0.0, low)), max(share, min(1.0, high))


def micro_f1_interval(Y_true: BoolArray, decided: BoolArray, level: float = 0.95) -> tuple[float, float] | None:
    """Interval of micro F1 that allows for decisions on one text being alike; None where there is nothing to count.

    With J = TP / (TP + FP + FN), F1 = 2J / (1 + J) rises with J, so the ends of an interval of J give those of F1 (Lam,
    Gopal & Qian 2023, arXiv:2309.14621). J is a share of decisions, several of which may be of one text: Wilson's
    interval takes the effective number of decisions, their number divided by the design effect (Kish 1965).

    Parameters
    ----------
    Y_true, decided : boolean arrays (n_docs, n_labels)
    level : float
        The probability that the interval holds.
    """
    right = (Y_true & decided).sum(axis=1).astype(float)
    counted = (Y_true | decided).sum(axis=1).astype(float)
    total, n_docs = float(counted.sum()), len(counted)
    if not total:
        return None
    share = float(right.sum()) / total
    effect, binomial = 1.0, share * (1.0 - share) / total
    if n_docs > 1 and binomial > 0.0:
        variance = n_docs / (n_docs - 1) * float(((right - share * counted) ** 2).sum()) / total**2
        effect = max(variance / binomial, 1.0)
    n = total / effect
    low, high = (2.0 * end / (1.0 + end) for end in wilson_interval(share * n, n, level))
    return low, high
