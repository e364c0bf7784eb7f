"""The smallest curvature that majorises −log p, found numerically once per link and then looked up.

A quadratic that touches −log p at a margin m stays above it everywhere if and only if its curvature is at least

    κ(m) = sup_u  2·[log p(m) + s(m)·(u − m) − log p(u)] / (u − m)²,     s = ∂ log p / ∂m

(de Leeuw & Lange 2009, Sharp quadratic majorization in one dimension). The supremum is taken over a grid of u, at a
grid of m, both even in arcsinh so that bulk and tails are equally fine.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from textbayes.core.types import FloatArray
from textbayes.links.base import BaseLink

_STEP = 0.05  # of arcsinh(m/unit)
_INFLATION = 1.01  # covers what lies between grid points, up to 0.4 %
_FARTHEST_MARGIN = 1e5  # κ falls on either side, so the values there serve beyond as well
_FARTHEST_TARGET = 1e8  # from −m the supremum lies as far as 2·log(m)·m on the other side


@lru_cache(maxsize=256)
def sharp_curvature(
    link: BaseLink, unit: float, ceiling: float = np.inf
) -> Callable[[FloatArray, FloatArray], FloatArray]:
    """The function (eta, y) ↦ κ(y·eta), at most 1.2 % above the smallest and never above ``ceiling``.

    ``unit`` is the length on which log p bends most sharply; ``ceiling`` a bound known to hold everywhere.

    >>> import numpy as np
    >>> from textbayes.links.logit import Logit
    >>> kappa = sharp_curvature(Logit(), 1.0)
    >>> bool(kappa(np.array([2.0]), np.ones(1)) / Logit().curvature(np.array([2.0]), np.ones(1)) < 1.011)
    True
    """
    # The table of y = −1 and then that of y = +1, on one even grid, with 0 in the middle, of arcsinh(m/unit).
    tables = np.stack([_table(link, y, unit) for y in (-1.0, 1.0)])
    values = np.minimum(_INFLATION * tables, ceiling)
    n_places = values.shape[1]
    flat, slope = values.ravel(), np.diff(values, axis=1, append=0.0).ravel()

    def curvature(eta: FloatArray, y: FloatArray) -> FloatArray:
        place = np.arcsinh(y * eta / unit) / _STEP + n_places // 2
        place = np.clip(place, 0.0, n_places - 1)
        below = np.minimum(place.astype(np.int64), n_places - 2)
        cell = below + n_places * (y > 0.0)
        return flat[cell] + (place - below) * slope[cell]

    return curvature


def _table(link: BaseLink, y: float, unit: float) -> FloatArray:
    """κ for outcome ``y`` at arcsinh(m/unit) = …, −_STEP, 0, _STEP, …"""
    half = np.arange(0.0, np.arcsinh(_FARTHEST_TARGET / unit) + _STEP, _STEP)
    grid = np.concatenate([-half[:0:-1], half])
    u = unit * np.sinh(grid)
    log_prob, score, hessian = link.derivatives(y * u, np.full_like(u, y))
    near = np.abs(u) <= _FARTHEST_MARGIN
    gap = u - u[near, None]
    np.fill_diagonal(gap[:, np.flatnonzero(near)[0] :], 1.0)
    excess = log_prob[near, None] + (y * score)[near, None] * gap - log_prob
    ratio = 2.0 * excess / gap**2
    np.fill_diagonal(ratio[:, np.flatnonzero(near)[0] :], hessian[near])
    # A log p with a quadratic tail comes up to its curvature at infinity only.
    return np.maximum(ratio.max(axis=1), hessian[0])
