"""Standard errors and intervals of means over resamplings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from textbayes.core.types import AnyArray, FloatArray


class Interval(NamedTuple):
    """A mean and its 95% confidence interval; without one, both ends are NaN."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"


def mean_interval(values: Sequence[float] | AnyArray, overlap: float = 0.0, quantile: float | None = None) -> Interval:
    """Return the mean of values with its 95% interval, Student's unless another ``quantile`` is given.

    ``overlap`` is the number of test over the number of training documents where the values come from random splits of
    the same documents: their training sets overlap, so the variance of the mean is not s²/J but s²·(1/J + overlap).

    Reference: Nadeau & Bengio (2003), Inference for the generalization error, Machine Learning 52, 239–281.

    >>> mean_interval([1.0, 2.0, 3.0])
    Interval(mean=2.0, low=-0.48..., high=4.48...)
    """
    from scipy import stats  # papers are listed without it

    n, mean = len(values), float(np.mean(values))
    if n < 2:
        return Interval(mean, float("nan"), float("nan"))
    factor = stats.t.ppf(0.975, n - 1) if quantile is None else quantile
    half = factor * np.std(values, ddof=1) * np.sqrt(1.0 / n + overlap)
    return Interval(mean, float(mean - half), float(mean + half))


def standard_error(values: FloatArray) -> FloatArray:
    """Return the standard error of the mean over the first axis; NaN where there is one value only."""
    n = len(values)
    spread = values.std(axis=0, ddof=1) if n > 1 else np.full(values.shape[1:], np.nan)
    return np.asarray(spread / np.sqrt(n))
