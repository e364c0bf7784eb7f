"""False discovery rates: q-values of Benjamini & Hochberg and of Storey.

A q-value is the smallest false discovery rate at which a test would be called significant: keeping the words with
q ≤ 0.05 means that, in expectation, at most one in twenty kept words is chance. Families of tests lie along the last
axis, so an array (n_labels, n_features) is one family per label.
"""

from __future__ import annotations

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.types import FloatArray


def benjamini_hochberg(p_values: FloatArray) -> FloatArray:
    """q_(i) = min_{j ≥ i} m p_(j) / j over the sorted p-values p_(1) ≤ … ≤ p_(m).

    Controls the false discovery rate for independent and for positively dependent tests. O(m log m) per family.

    Reference: Benjamini & Hochberg (1995), "Controlling the false discovery rate", JRSS B 57(1).

    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03, 0.5])).round(4)
    array([0.04  , 0.0533, 0.0533, 0.5   ])
    """
    p = _checked(p_values)
    m = p.shape[-1]
    order = np.argsort(p, axis=-1)
    q = np.take_along_axis(p, order, axis=-1)
    q *= m / np.arange(1, m + 1)
    reverse = q[..., ::-1]
    np.minimum.accumulate(reverse, axis=-1, out=reverse)
    np.minimum(q, 1.0, out=q)
    result = np.empty_like(q)
    np.put_along_axis(result, order, q, axis=-1)
    return result


def storey(p_values: FloatArray, at: float = 0.5) -> FloatArray:
    """Storey's q-values: π₀ times those of Benjamini & Hochberg, π₀ the estimated fraction of true nulls.

    Never larger than theirs, so never fewer discoveries; the gain is large when many words do differ.

    Reference: Storey (2002), "A direct approach to false discovery rates", JRSS B 64(3).

    Parameters
    ----------
    p_values : array (…, n_tests)
    at : float
        λ of :func:`storey_null_fraction`.

    Examples
    --------
    >>> storey(np.array([0.01, 0.04, 0.03, 0.02, 0.7, 0.05])).round(4)
    array([0.04  , 0.04  , 0.04  , 0.04  , 0.4667, 0.04  ])
    """
    result: FloatArray = benjamini_hochberg(p_values) * storey_null_fraction(p_values, at)[..., None]
    return result


def storey_null_fraction(p_values: FloatArray, at: float = 0.5) -> FloatArray:
    """Estimated fraction of true nulls, π₀ = (1 + #{p > λ}) / (m (1 − λ)), at most 1, with λ = ``at`` fixed.

    λ = ½ needs no tuning and no smoothing of a curve over λ; the 1 makes the rate hold for finite m. P-values that
    pile up at 1, as those of constant words do, make the estimate larger, which errs on the safe side.

    Reference: Storey, Taylor & Siegmund (2004), JRSS B 66(1), Theorem 3.

    P-values of true nulls are uniform above λ.

    Parameters
    ----------
    p_values : array (…, n_tests)
    at : float
        λ, between 0 and 1.
    """
    p = _checked(p_values)
    if not 0.0 < at < 1.0:
        raise InputError(f"at={at!r} must lie between 0 and 1; 0.5 is the usual choice")
    m = max(p.shape[-1], 1)
    result: FloatArray = np.minimum(1.0, (1.0 + (p > at).sum(axis=-1)) / (m * (1.0 - at)))
    return result


def _checked(p_values: FloatArray) -> FloatArray:
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim == 0:
        raise InputError("one p-value alone was given; pass an array with the p-values of a family of tests")
    if not ((p >= 0.0) & (p <= 1.0)).all():  # also refuses NaN
        raise InputError("p-values must lie in [0, 1] and not be NaN; check the test they came from")
    return p
