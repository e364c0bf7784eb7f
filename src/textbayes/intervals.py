"""Intervals for words, of one linear model or of a pool of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, FloatArray
from textbayes.inference.gaussian_approximation import GaussianApproximation


class WordInterval(NamedTuple):
    """A word's weight and the ends of its interval; both NaN for a word that is held at its prior mean."""

    word: str
    weight: float
    low: float
    high: float


def word_intervals(
    names: AnyArray, weights: FloatArray, errors: FloatArray, level: float = 0.9, top: int | None = None
) -> list[WordInterval]:
    """The words of one label with weights other than 0, the largest first, each with the interval of ``level``.

    >>> found = word_intervals(np.array(["corn", "the"]), np.array([2.0, 0.0]), np.array([0.5, np.nan]), level=0.95)
    >>> [(one.word, round(one.low, 2), round(one.high, 2)) for one in found]  # 2 ± 1.96·0.5
    [('corn', 1.02, 2.98)]
    """
    if not 0.0 < level < 1.0:
        raise InputError(f"level={level!r} is given; an interval holds a share between 0 and 1, such as 0.9")
    reach = special.ndtri(0.5 + 0.5 * level) * errors
    order = np.argsort(-np.abs(weights), kind="stable")
    order = order[weights[order] != 0.0][:top]
    return [
        WordInterval(str(names[j]), float(weights[j]), float(weights[j] - reach[j]), float(weights[j] + reach[j]))
        for j in order
    ]


def pooled_standard_errors(pool: FloatArray, members: Sequence[GaussianApproximation]) -> FloatArray:
    """At most so large are the standard errors of the weights Σ_m pool_m·w_m of a pool, (n_labels, n_features).

    Members learn from the same documents and err together, how much so their posteriors do not say: each is one under
    a prior of its own. The standard deviation of a sum is at most the sum of the standard deviations, and as large
    where all err in step. A word that a member holds adds nothing; NaN where every member that counts holds it.
    """
    errors = [member.standard_errors()[0] for member in members]
    counts = [~np.isnan(one) & (weight > 0.0) for weight, one in zip(pool, errors, strict=True)]
    return np.where(np.any(counts, axis=0), np.tensordot(pool, np.nan_to_num(errors), axes=1), np.nan)


def pooled_variance(pool: FloatArray, members: Sequence[GaussianApproximation], X: Any) -> FloatArray:
    """At most so large are the variances of the pool's predictors Σ_m pool_m·eta_m, (n_docs, n_labels), see above."""
    spreads = [np.sqrt(member.variance(X)) for member in members]
    return np.tensordot(pool, spreads, axes=1) ** 2
