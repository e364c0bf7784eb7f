"""Tail probabilities, accurate far out (never 1 − cdf) and fast on millions of values."""

from __future__ import annotations

import numpy as np
from scipy import special

from textbayes.core.types import FloatArray

_BLOCK = 1 << 14
"""Values worked on at a time: the intermediate arrays of one block stay in the processor's cache (twice as fast)."""


def chi2_p_value(statistic: FloatArray) -> FloatArray:
    """P(χ²₁ ≥ statistic) = erfc(√(statistic/2)); χ²₁ is a squared normal, and erfc is 100× faster than chdtrc."""
    p: FloatArray = special.erfc(np.sqrt(0.5 * statistic))
    return p


def t_p_value(t: FloatArray, df: FloatArray | float) -> FloatArray:
    """Two-sided p-value P(|T_df| ≥ |t|); 1 where df ≤ 0.

    For df ≥ 100 and t² ≤ df/10, where nearly all of a corpus lies, the normalising transformation of Hill (1970,
    "Algorithm 395: Student's t-distribution", CACM 13(10)) has a relative error below 2e-12 (tested) and is several
    times faster than the incomplete beta function, which serves the rest.

    >>> t_p_value(np.array([0.0, 2.0, 40.0]), 1000.0).round(4)
    array([1.    , 0.0458, 0.    ])
    """
    t, df = np.asarray(t, dtype=np.float64), np.asarray(df, dtype=np.float64)
    p = np.empty(t.shape)
    flat_t, flat_p = t.reshape(-1), p.reshape(-1)
    flat_df = df.reshape(-1) if df.size == 1 else np.broadcast_to(df, t.shape).reshape(-1)
    for start in range(0, t.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        flat_p[block] = _two_sided(flat_t[block], flat_df if df.size == 1 else flat_df[block])
    return p


def _two_sided(t: FloatArray, df: FloatArray) -> FloatArray:
    defined = np.where(df > 0.0, df, 1.0)
    squared = t * t
    p = _hill(np.minimum(squared, defined), defined)
    exact = (defined < 100.0) | (squared > 0.1 * defined)
    if exact.any():
        p[exact] = 2.0 * special.stdtr(np.broadcast_to(defined, t.shape)[exact], -np.abs(t[exact]))
    return np.where(df > 0.0, p, 1.0)


def _hill(squared: FloatArray, df: FloatArray) -> FloatArray:
    a = df - 0.5
    b = 48.0 * a * a
    y = a * np.log1p(squared / df)
    bend = (((-0.4 * y - 3.3) * y - 24.0) * y - 85.5) / (0.8 * y * y + 100.0 + b)
    z = ((bend + y + 3.0) / b + 1.0) * np.sqrt(y)
    p: FloatArray = special.erfc(z * np.sqrt(0.5))
    return p
