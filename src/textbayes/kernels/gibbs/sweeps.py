"""Weights drawn one at a time, each given all the others, over the columns of a sparse matrix.

The density of the offsets d = w − mean is, up to a constant, the house equation turned into a probability:

    exp( −½ Σ_i omega_i (z_i − eta_i)² − Σ_j [ l1_j |d_j| + ½ l2_j d_j² ] ),   eta = X w.

Of one weight it is two pieces of normal densities joined at d_j = 0, which is drawn exactly (Hans 2009). A sweep costs
O(non-zeros), however many words or documents there are; words that share few documents hardly depend on each other, so
that one sweep does about as much as a joint draw of all weights.

``sweep_given_responses`` holds the responses z; ``sweep_within_slack`` holds how far each predictor may go back before
the outcome would change, y_i·eta_i − slack_i, and draws each weight from its prior on the interval that this leaves.

References: Hans (2009), Bayesian lasso regression, Biometrika 96, 835–845; Damien, Wakefield & Walker (1999), Gibbs
sampling for Bayesian non-conjugate and hierarchical models by using auxiliary variables, JRSS B 61, 331–344; Yu & Meng
(2011), To center or not to center: that is not the question, JCGS 20, 531–570 (why to alternate the two).
"""

from __future__ import annotations

import math

import numpy as np

from textbayes.kernels._jit import njit
from textbayes.kernels.gibbs.tails import (
    excess,
    excess_within,
    exponential_within,
    normal_quantile,
    scaled_tail,
)

U = np.uint64  # unsigned indices spare numba's test for negative ones in the innermost loops


@njit(cache=True, nogil=True)
def draw_offset(curvature, pull, l1, side, u):  # type: ignore[no-untyped-def]
    """A draw with density ∝ exp(−½ curvature·d² + pull·d − l1·|d|), from two uniform numbers."""
    if l1 == 0.0:
        root = math.sqrt(curvature)
        return (pull / root + normal_quantile(min(max(u, 2.0**-54), 1.0 - 2.0**-53))) / root
    if curvature == 0.0:  # a word of no document: the prior itself
        right = 0.5 * (1.0 + pull / l1)
        size = -math.log(max(u, 2.0**-54))
        return size / (l1 - pull) if side < right else -size / (l1 + pull)
    root = math.sqrt(curvature)
    cut_right, cut_left = (l1 - pull) / root, (l1 + pull) / root  # of one of them the mass may be huge, never of both
    right, left = scaled_tail(cut_right), scaled_tail(cut_left)
    if side * (right + left) < right:
        return excess(cut_right, u) / root
    return -excess(cut_left, u) / root


@njit(cache=True, nogil=True)
def sweep_given_responses(  # type: ignore[no-untyped-def]
    indptr, indices, data, omega, pull, offset, l1, l2, sides, uniforms, collapse
):
    """Draw every offset in turn, in place; ``pull`` = omega·(z − eta) is kept up to date.

    ``omega`` of length 1 stands for the same curvature of every document. With ``collapse`` the last column is an
    intercept, 1 in every document and without a kink: the words are drawn with it integrated out, and it is drawn last.
    Given responses it is normal, so that costs two more sums per word, and spares the slow walk of an intercept and of
    words that every document has some of.
    """
    common = len(omega) == 1
    n_words = len(offset) - 1 if collapse else len(offset)
    slope, stiffness = 0.0, 1.0  # of the log-density in the intercept
    if collapse:
        slope, stiffness = -l2[n_words] * offset[n_words], l2[n_words]
        for doc in range(len(pull)):
            slope += pull[doc]
            stiffness += omega[0] if common else omega[doc]
    for j in range(n_words):
        start, end = U(indptr[j]), U(indptr[j + 1])
        total, curvature, mass = 0.0, 0.0, 0.0
        if common:
            for t in range(start, end):
                x = data[t]
                total += x * pull[U(indices[t])]
                curvature += x * x
                mass += x
            curvature *= omega[0]
            mass *= omega[0]
        else:
            for t in range(start, end):
                x, i = data[t], U(indices[t])
                weight = omega[i] * x
                total += x * pull[i]
                curvature += weight * x
                mass += weight
        if collapse:
            total -= mass * slope / stiffness
            curvature = max(curvature - mass * mass / stiffness, 0.0)
        new = draw_offset(curvature + l2[j], total + curvature * offset[j], l1[j], sides[j], uniforms[j])
        step = new - offset[j]
        offset[j] = new
        slope -= mass * step
        if common:
            step *= omega[0]
            for t in range(start, end):
                pull[U(indices[t])] -= step * data[t]
        else:
            for t in range(start, end):
                i = U(indices[t])
                pull[i] -= step * omega[i] * data[t]
    if collapse:
        root = math.sqrt(stiffness)
        step = (slope / root + normal_quantile(min(max(uniforms[n_words], 2.0**-54), 1.0 - 2.0**-53))) / root
        offset[n_words] += step
        for doc in range(len(pull)):
            pull[doc] -= step * (omega[0] if common else omega[doc])


@njit(cache=True, nogil=True)
def _tail_mass(d, l1, l2):  # type: ignore[no-untyped-def]
    """∫_d^∞ exp(−l1·s − ½ l2·s²) ds for d ≥ 0."""
    if d == np.inf:
        return 0.0
    height = math.exp(-d * (l1 + 0.5 * l2 * d))
    if l2 == 0.0:
        return height / l1
    root = math.sqrt(l2)
    return height * scaled_tail(d * root + l1 / root) / root


@njit(cache=True, nogil=True)
def _draw_right(low, high, l1, l2, u):  # type: ignore[no-untyped-def]
    """A draw on [low, high], low ≥ 0, with density ∝ exp(−l1·d − ½ l2·d²)."""
    if l2 == 0.0:
        return low + exponential_within(l1, high - low, u)
    root = math.sqrt(l2)
    return low + excess_within(low * root + l1 / root, (high - low) * root, u) / root


@njit(cache=True, nogil=True)
def draw_between(low, high, l1, l2, side, u):  # type: ignore[no-untyped-def]
    """A draw on [low, high] with density ∝ exp(−l1·|d| − ½ l2·d²), from two uniform numbers."""
    if low >= 0.0:
        return _draw_right(low, high, l1, l2, u)
    if high <= 0.0:
        return -_draw_right(-high, -low, l1, l2, u)
    if l1 == 0.0:  # no kink: one piece
        if l2 == 0.0:
            return low + u * (high - low)
        root = math.sqrt(l2)
        if low == -np.inf:
            if high == np.inf:
                return normal_quantile(min(max(u, 2.0**-54), 1.0 - 2.0**-53)) / root
            return high - excess(-high * root, u) / root
        return low + excess_within(low * root, (high - low) * root, u) / root
    whole = _tail_mass(0.0, l1, l2)
    right, left = whole - _tail_mass(high, l1, l2), whole - _tail_mass(-low, l1, l2)
    if side * (right + left) < right:
        return _draw_right(0.0, high, l1, l2, u)
    return -_draw_right(0.0, -low, l1, l2, u)


@njit(cache=True, nogil=True)
def _room(indptr, indices, data, y, slack, j):  # type: ignore[no-untyped-def]
    """How far weight j may fall and rise until some slack is used up."""
    down, up = -np.inf, np.inf
    for t in range(U(indptr[j]), U(indptr[j + 1])):
        i = U(indices[t])
        x = y[i] * data[t]
        if x > 0.0:
            down = max(down, -slack[i] / x)
        elif x < 0.0:
            up = min(up, -slack[i] / x)
    return down, up


@njit(cache=True, nogil=True)
def _move(indptr, indices, data, y, slack, j, step):  # type: ignore[no-untyped-def]
    for t in range(U(indptr[j]), U(indptr[j + 1])):
        i = U(indices[t])
        slack[i] = max(slack[i] + step * y[i] * data[t], 0.0)


@njit(cache=True, nogil=True)
def sweep_within_slack(indptr, indices, data, y, slack, offset, l1, l2, sides, uniforms):  # type: ignore[no-untyped-def]
    """Draw every offset in turn, in place, so that no slack becomes negative; ``slack`` is kept up to date.

    A word that some document holds on either side may have l1 = l2 = 0: it is then uniform.
    """
    for j in range(len(offset)):
        down, up = _room(indptr, indices, data, y, slack, j)
        if not down < up:  # held on both sides by rounding: it stays
            continue
        new = draw_between(offset[j] + down, offset[j] + up, l1[j], l2[j], sides[j], uniforms[j])
        step = min(max(new - offset[j], down), up)
        offset[j] += step
        _move(indptr, indices, data, y, slack, j, step)


@njit(cache=True, nogil=True)
def half_cauchy_between(low, high, u):  # type: ignore[no-untyped-def]
    """A half-Cauchy number known to lie between ``low`` ≥ 0 and ``high``, by inversion from its nearer end."""
    if low >= 1.0:
        right = 0.0 if high == np.inf else math.atan(1.0 / high)
        left = math.atan(1.0 / low)
        return 1.0 / math.tan(max(right + u * (left - right), 1e-300))
    left = math.atan(low)
    return math.tan(min(left + u * (math.atan(high) - left), 1.5707963267948963))


@njit(cache=True, nogil=True)
def gamma_between(at, shape, low, high, level, u):  # type: ignore[no-untyped-def]
    """From a number ``at`` to another between ``low`` and ``high``, a step that keeps Gamma(shape, rate shape) there.

    Below a level drawn under exp(−shape·q) the density is q^(shape − 1) on a bounded interval, which is inverted.
    """
    high = min(high, at - math.log(max(level, 2.0**-54)) / shape)
    if high <= low:
        return at
    share = (low / high) ** shape
    return high * (share + u * (1.0 - share)) ** (1.0 / shape)


@njit(cache=True, nogil=True)
def sweep_scales_within_slack(  # type: ignore[no-untyped-def]
    indptr, indices, data, y, slack, offset, degrees, precision, columns, levels, uniforms
):
    """Draw the precisions q of normal mixtures, each given offset·√q and the room that is left: both move together.

    With v = offset·√q held, q has its mixing distribution (half-Cauchy q^(−1/2) where ``degrees`` is infinite, else
    Gamma(degrees/2, degrees/2)) where v/√q is within reach. Drawing q given the offset instead is slow where a weight
    is large because its scale is: neither can leave without the other. Yu & Meng's ancillary form, word by word.
    """
    for k in range(len(columns)):
        j = columns[k]
        root = math.sqrt(precision[j])
        v = offset[j] * root
        if v == 0.0:
            continue
        down, up = _room(indptr, indices, data, y, slack, j)
        if not down < up:
            continue
        near, far = (offset[j] + down) / v, (offset[j] + up) / v  # of q^(−1/2)
        if v < 0.0:
            near, far = far, near
        near = max(near, 0.0)
        if not near < far:
            continue
        if degrees[j] == np.inf:
            new = half_cauchy_between(near, far, uniforms[k])
            q = 1.0 / (new * new) if new > 0.0 else 1e150
        else:
            most = np.inf if near == 0.0 else 1.0 / (near * near)
            q = gamma_between(precision[j], 0.5 * degrees[j], 1.0 / (far * far), most, levels[k], uniforms[k])
        q = min(max(q, 1e-150), 1e150)
        step = min(max(v / math.sqrt(q) - offset[j], down), up)
        offset[j] += step
        precision[j] = q
        _move(indptr, indices, data, y, slack, j, step)
