"""Likelihoods of the two-piece Student-t links by a compiled pass that reads the hazard's excess from a table.

``_student.py`` gives the excess e(t) of a Student-t's hazard by one polynomial in log(1 + τ/2). A compiled loop wants
no logarithm and a short polynomial: here e is cut into cells of equal width in u = 1/(1 + τ/2), τ = t/√(1 + t²/ν), with
a polynomial of degree 7 on each. On u the bulk and the tail of small ν are equally smooth, to t = ∞ at its lower end.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from textbayes.core.types import FloatArray
from textbayes.links._normal import inverse_mills, mills_excess
from textbayes.links._student import scaled_excess
from textbayes.links.base import Likelihood

_DEGREE = 7  # as the kernel has it
_FEWEST_CELLS, _MOST_CELLS = 64, 1024
_PRECISION = 3e-14
_NORMAL_TERMS = 150  # of the continued fraction, for t ≥ 2


class TailTable(NamedTuple):
    """Polynomials of e(t)·√(1 + t²/ν)/u by cell, in the distance from its middle; u at t = ∞; the density at 0."""

    polynomials: FloatArray
    u_least: float
    log_density_at_zero: float


def compiled_likelihood(
    df: float, skew: float, eta: FloatArray, y: FloatArray, weight: FloatArray | None
) -> Likelihood | None:
    """``SkewT(df, skew).likelihood``, a few times faster; None for degrees of freedom too large for a table."""
    table = tail_table(df)
    if table is None:
        return None
    from textbayes.kernels.linear.tails import tail_likelihood

    given = np.empty(0) if weight is None else weight
    return Likelihood(
        *tail_likelihood(eta, y, given, table.polynomials, table.u_least, df, skew, table.log_density_at_zero)
    )


@lru_cache(maxsize=256)
def tail_table(df: float) -> TailTable | None:
    """The table for ``df``, with as many cells as full precision takes.

    >>> table = tail_table(1.0)
    >>> bool(abs(np.exp(table.log_density_at_zero) * np.pi - 1.0) < 1e-13)  # Cauchy: 1/π
    True
    """
    u_least = 0.0 if np.isinf(df) else 1.0 / (1.0 + 0.5 * np.sqrt(df))
    node = 0.5 * np.cos(np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1))
    trial = np.array([-0.5, -0.47, 0.0, 0.47, 0.5])  # as far from the nodes as can be
    powers, trial_powers = (np.vander(x, _DEGREE + 1, increasing=True) for x in (node, trial))
    n_cells = _FEWEST_CELLS
    while n_cells <= _MOST_CELLS:
        middle, width = np.arange(n_cells)[:, None] + 0.5, (1.0 - u_least) / n_cells
        table = np.linalg.solve(powers, _excess_over_u(u_least + width * (middle + node), df).T).T
        exact = _excess_over_u(u_least + width * (middle + trial), df)
        if np.abs(table @ trial_powers.T - exact).max() <= _PRECISION * np.abs(exact).max():
            hazard_at_zero = float(table[-1] @ trial_powers[-1])  # 2·f(0), for T(0) = ½
            return TailTable(np.ascontiguousarray(table), float(u_least), float(np.log(0.5 * hazard_at_zero)))
        n_cells *= 2
    return None


def _excess_over_u(u: FloatArray, df: float) -> FloatArray:
    """e(t)·√(1 + t²/ν)/u at τ = 2(1 − u)/u: of order 1 up to t = ∞."""
    tau = 2.0 * (1.0 - u) / np.maximum(u, 1e-300)
    if np.isinf(df):
        return _normal_excess(tau) * (1.0 + 0.5 * tau)
    return scaled_excess(tau, df) * (1.0 + 0.5 * tau) / (1.0 + tau)


def _normal_excess(t: FloatArray) -> FloatArray:
    """φ(t)/Φ(−t) − t without cancellation: by the hazard up to 2, beyond by Laplace's continued fraction."""
    return np.where(t < 2.0, inverse_mills(-t) - t, mills_excess(np.maximum(t, 2.0), _NORMAL_TERMS))
