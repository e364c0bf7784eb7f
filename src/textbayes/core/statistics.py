"""Statistics that packages of several layers need."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from textbayes.core.types import FloatArray


def wilson_bound(count: Any, n: Any, z: float) -> FloatArray:
    """One end of the score interval of Wilson (1927) for a share of n cases: the upper for z > 0, the lower for z < 0.

    Parameters
    ----------
    count, n : float or arrays
        The cases that count, of so many. Effective numbers of cases need not be whole; of none the bound is NaN.
    z : float
        Quantile of the standard normal distribution.
    """
    n = np.asarray(n, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.asarray(count, dtype=np.float64) / n
        centre = share + z * z / (2 * n)
        reach = z * np.sqrt(share * (1.0 - share) / n + z * z / (4 * n * n))
        return np.asarray((centre + reach) / (1.0 + z * z / n))


def wilson_interval(count: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Score interval of Wilson (1927) for a share of n cases; inside [0, 1], and accurate for small n too.

    Parameters
    ----------
    count, n : float
        As for :func:`wilson_bound`, n above 0.
    level : float
        The probability that the interval holds.

    Examples
    --------
    >>> [round(end, 3) for end in wilson_interval(9, 10)]
    [0.596, 0.982]
    """
    z, share = float(ndtri((1.0 + level) / 2.0)), count / n
    low, high = (float(wilson_bound(count, n, end)) for end in (-z, z))
    # The share lies inside, also where rounding would leave it a hair outside.
    return min(share, max(0.0, low)), max(share, min(1.0, high))
