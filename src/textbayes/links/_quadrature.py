"""∫ p(y | u) N(u; mean, var) du and its derivatives in ``mean``, for any link, by panels of Gauss–Legendre nodes.

The integrand has three scales, which may lie orders of magnitude apart: that of the link, whose step at u = 0 is a few
``unit`` wide; that of the Gaussian; and that of their product around its mode c, of width τ. Panels that grow
geometrically away from 0 and away from c are fine enough for each wherever it matters, and coarse elsewhere, so that
some hundred nodes reach 1e-9 where a Gauss–Hermite rule of any order would miss the step. A break at 0 also lets
two-piece links through, whose third derivative jumps there.

With q ∝ p(y | u) N(u; mean, var), s the score and h the hessian of the link, the derivatives of log Z are

    d1 = E_q[s],      d2 = Var_q(s) − E_q[h] = (Var_q(u)/var − 1)/var.

The first form of d2 is exact for a narrow Gaussian, the second for a wide one: whichever subtracts the smaller numbers
is taken. The link's density p' is assumed to have its mode at u = 0, as that of every link here has.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, FloatArray

if TYPE_CHECKING:
    from textbayes.links.base import BaseLink

_NODES = 16  # of a panel
_GROWTH = 3.0  # of the panels, away from 0 and from the mode
_DEPTH = 36.0  # the integrand is cut off where it has fallen to exp(−36) of its height
_GAUSSIAN_REACH = 9.0  # widths τ or standard deviations; a Gaussian has fallen further than that there
_THINNEST = 1e-9  # widths τ; breaks closer together than this are one
_AT_ONCE = 1024  # integrals; 15 kB each are in use meanwhile
_MAX_ITER = 100


def check_moments(mean: FloatArray, var: FloatArray) -> None:
    """Refuse what is not a Gaussian."""
    if not (np.isfinite(mean).all() and np.isfinite(var).all() and (var >= 0.0).all()):
        raise InputError("a Gaussian needs a finite mean and a finite variance of at least 0; some are negative or NaN")


def integrate(
    link: BaseLink, mean: FloatArray, var: FloatArray, y: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """log Z, d1 and d2 elementwise; see ``BaseLink.moments``."""
    mean, var, y = np.broadcast_arrays(*(np.asarray(part, dtype=np.float64) for part in (mean, var, y)))
    check_moments(mean, var)
    out = np.empty((3, mean.size))
    flat = mean.ravel(), var.ravel(), y.ravel()
    spread = np.flatnonzero(flat[1] > 0.0)
    if len(spread) < mean.size:  # a variance of 0 leaves the link itself
        log_prob, score, hessian = link.derivatives(flat[0], flat[2])
        out[:] = log_prob, score, -hessian
    for first in range(0, len(spread), _AT_ONCE):
        chosen = spread[first : first + _AT_ONCE]
        out[:, chosen] = _integrate(link, *(part[chosen] for part in flat))
    log_z, d1, d2 = out.reshape(3, *mean.shape)
    return log_z, d1, d2


def _integrate(link: BaseLink, mean: FloatArray, var: FloatArray, y: FloatArray) -> tuple[FloatArray, ...]:
    """The same for vectors, all variances positive."""
    precision = 1.0 / var
    mode, width, score_at_mode = _mode(link, mean, precision, y)
    shift = mode - mean
    # Everything is measured from the mode, so that a narrow Gaussian far from 0 keeps its digits.
    low, high, top = _support(link, mode, width, shift, precision, y)
    element, middle, half = _panels(_unit(link), mode, width, low, high)
    nodes, weights = _legendre(_NODES)
    step = middle[:, None] + half[:, None] * nodes
    log_prob, score, hessian = link.derivatives(mode[element, None] + step, np.repeat(y[element, None], _NODES, axis=1))
    log_prob -= 0.5 * precision[element, None] * (shift[element, None] + step) ** 2
    log_prob -= top[element, None]
    mass = np.exp(log_prob) * (weights * half[:, None])
    score -= score_at_mode[element, None]
    starts = np.searchsorted(element, np.arange(len(mean)))

    def total(values: FloatArray) -> FloatArray:
        return np.add.reduceat(np.einsum("ij,ij->i", mass, values), starts)

    z = np.add.reduceat(mass.sum(axis=1), starts)
    mean_score, mean_hessian, mean_step = total(score) / z, total(hessian) / z, total(step) / z
    var_score = total(score * score) / z - mean_score**2
    var_u = total(step * step) / z - mean_step**2
    wide = precision < np.abs(mean_hessian) + var_score
    d2 = np.where(wide, precision * (precision * var_u - 1.0), var_score - mean_hessian)
    log_z = top + np.log(z) + 0.5 * np.log(precision / (2.0 * np.pi))
    return np.minimum(log_z, 0.0), score_at_mode + mean_score, d2


def _mode(
    link: BaseLink, mean: FloatArray, precision: FloatArray, y: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Up to half a width, where p(y | u) N(u; mean, var) is largest; the width there, and the link's score.

    In the margin y·u the mode lies above the mean, and below max(mean, 0) + √var: a density that falls from 0 on has
    score(u)·u ≤ 1 there. Newton steps that leave the bracket are replaced by halving it.
    """
    start = y * mean
    low, high = start, np.maximum(start, 0.0) + 1.5 / np.sqrt(precision)
    margin = start
    for _ in range(_MAX_ITER):
        _, score, hessian = link.derivatives(y * margin, y)
        slope = y * score - (margin - start) * precision
        curvature = precision + np.maximum(hessian, 0.0)
        step, width = slope / curvature, 1.0 / np.sqrt(curvature)
        if (np.abs(step) <= 0.5 * width).all():
            break
        rising = slope > 0.0
        low, high = np.where(rising, margin, low), np.where(rising, high, margin)
        new = margin + step
        margin = np.where((new > low) & (new < high), new, 0.5 * (low + high))
    return y * margin, width, score


def _support(
    link: BaseLink, mode: FloatArray, width: FloatArray, shift: FloatArray, precision: FloatArray, y: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Ends of the stretch that matters, as steps from the mode, and the log of the greatest height seen.

    The outermost points above the cut-off count, so that a second mode, which a heavy-tailed link may have at 0 while
    the first is at the mean, is not left out.
    """
    farthest = (np.abs(shift) + _GAUSSIAN_REACH / np.sqrt(precision)) / width
    steps = width[:, None] * _ladder(1.0, np.sqrt(_GROWTH), float(farthest.max()))
    n_steps, rows = steps.shape[1], np.arange(len(mode))
    height = link.log_prob(mode[:, None] + steps, np.repeat(y[:, None], n_steps, axis=1))
    height = height - 0.5 * precision[:, None] * (shift[:, None] + steps) ** 2
    top = height.max(axis=1)
    above = height > top[:, None] - _DEPTH
    first, last = above.argmax(axis=1), n_steps - 1 - above[:, ::-1].argmax(axis=1)
    return steps[rows, np.maximum(first - 1, 0)], steps[rows, np.minimum(last + 1, n_steps - 1)], top


def _panels(
    unit: float, mode: FloatArray, width: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[AnyArray, FloatArray, FloatArray]:
    """Panels of the integrals: the integral each belongs to, its middle as a step from the mode, half its length."""
    around_mode = _ladder(_GAUSSIAN_REACH / _GROWTH, _GROWTH, float((np.maximum(-low, high) / width).max()))
    around_zero = _ladder(unit, _GROWTH, float(np.maximum(-low - mode, high + mode).max()))
    ends, column = (low[:, None], high[:, None]), mode[:, None]
    breaks = np.concatenate([*ends, width[:, None] * around_mode, around_zero - column], axis=1)
    breaks = np.sort(np.clip(breaks, *ends), axis=1)
    length = np.diff(breaks, axis=1)
    element, panel = np.nonzero(length > _THINNEST * width[:, None])
    half = 0.5 * length[element, panel]
    return element, breaks[element, panel] + half, half


def _ladder(first: float, growth: float, farthest: float) -> FloatArray:
    """0, ±first, ±first·growth, … up to the first beyond ``farthest``, in order."""
    n_rungs = 1 + max(int(np.ceil(np.log(max(farthest, first) / first) / np.log(growth))), 0)
    rungs = first * growth ** np.arange(n_rungs)
    return np.concatenate([-rungs[::-1], [0.0], rungs])


@lru_cache(maxsize=256)
def _unit(link: BaseLink) -> float:
    """The length on which the link bends at 0: 1/score there, of the outcome that bends more sharply."""
    return float(1.0 / np.abs(link.score(np.zeros(2), np.array([1.0, -1.0]))).max())


@lru_cache(maxsize=4)
def _legendre(n: int) -> tuple[FloatArray, FloatArray]:
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return nodes, weights
