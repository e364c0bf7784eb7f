"""Bootstrap intervals of F1 at a chosen threshold, per label."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from textbayes.core.errors import InputError
from textbayes.core.types import FloatArray, Matrix
from textbayes.core.validation import check_indicator, check_probabilities, check_same_length
from textbayes.decide._base import per_label


class FInterval(NamedTuple):
    """Interval of F_β: its value on the data and the ends, arrays of shape (n_labels,)."""

    f: FloatArray
    low: FloatArray
    high: FloatArray


def f1_interval(
    proba: ArrayLike,
    Y: Matrix | ArrayLike,
    thresholds: ArrayLike,
    *,
    beta: float = 1.0,
    level: float = 0.95,
    n_resamples: int = 2000,
    random_state: int | np.random.Generator | None = 0,
) -> FInterval:
    """Percentile bootstrap interval of F_β at fixed thresholds, per label, over resampled documents.

    A label's F_β depends on a resample only through its counts (TP, FP, FN, TN), which are multinomial: they are drawn
    directly, O(n_labels · n_resamples) whatever the number of documents. Use documents the threshold was not chosen on,
    or out-of-fold probabilities: on the data that chose it, F_β is too high by the choice itself. F_β of nothing
    against nothing is 1.

    Reference: Efron & Tibshirani (1993), An Introduction to the Bootstrap, ch. 13.

    Parameters
    ----------
    proba : array (n_docs, n_labels)
    Y : boolean array (n_docs, n_labels)
    thresholds : float or array (n_labels,)
    beta : float
        Above 1 recall weighs more.
    level : float
        The probability that an interval holds.
    n_resamples : int
    random_state : int, Generator or None

    Examples
    --------
    >>> interval = f1_interval([0.9, 0.8, 0.3, 0.1] * 25, [1, 0, 1, 0] * 25, 0.5)
    >>> float(interval.f[0]), bool(interval.low[0] < 0.5 < interval.high[0])
    (0.5, True)
    """
    proba, Y = check_probabilities(proba), check_indicator(Y)
    check_same_length(proba, "proba", Y, "Y")
    if proba.shape != Y.shape or not proba.size:
        raise InputError(f"proba has shape {proba.shape} and Y {Y.shape}; pass the same documents and labels in both")
    if not 0 < level < 1:
        raise InputError(f"level={level!r} must lie between 0 and 1, such as 0.95")
    n_docs, n_labels = proba.shape
    yes = proba > per_label(thresholds, n_labels, "thresholds")
    counts = np.stack([(yes & Y).sum(0), (yes & ~Y).sum(0), (~yes & Y).sum(0), (~yes & ~Y).sum(0)], axis=1)
    draws = np.random.default_rng(random_state).multinomial(n_docs, counts / n_docs, size=(n_resamples, n_labels))
    low, high = np.quantile(_f_measure(draws, beta), [(1 - level) / 2, (1 + level) / 2], axis=0)
    return FInterval(_f_measure(counts, beta), low, high)


def _f_measure(counts: Any, beta: float) -> FloatArray:
    hits = (1 + beta**2) * counts[..., 0]
    below = hits + beta**2 * counts[..., 2] + counts[..., 1]
    return np.divide(hits, below, out=np.ones(below.shape), where=below > 0)
