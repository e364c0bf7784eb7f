"""Weights drawn one at a time, each given all the others, over the columns of a sparse matrix.

The density of the offsets d = w − mean is, up to a constant, the common objective turned into a probability:

    exp( −½ Σ_i omega_i (z_i − eta_i)² − Σ_j [ l1_j |d_j| + ½ l2_j d_j² ] ),   eta = X w.

Of one weight it is two pieces of normal densities joined at d_j = 0, which is drawn exactly (Hans 2009). A sweep costs
O(non-zeros), however many words or documents there are; words that share few documents hardly depend on each other, so
that one sweep does about as much as a joint draw of all weights.

``sweep_given_responses`` holds the responses z; ``sweep_within_slack`` holds how far each predictor may go back before
the outcome would change, y_i·eta_i − slack_i, and draws each weight from its prior on the interval that this leaves.

References: Hans (2009), Bayesian lasso regression, Biometrika 96, 835–845; Damien, Wakefield & Walker (1999), Gibbs
sampling for Bayesian non-conjugate and hierarchical models by using auxiliary variables, JRSS B 61, 331–344; Yu & Meng
(2011), To center or not to center: that is not the question, JCGS 20, 531–570 (why to alternate the two).

Draws from normal distributions that are cut off anywhere. Every draw is a function of uniform (or normal) numbers that
are given to it, always equally many: draws then depend on the seed alone, never on who computes them. All are
inversions, accurate to rounding however far out the cut is: what is returned is the distance from the cut, not the
value itself, whose digits the cut would use up.

References: Wichura (1988), Algorithm AS 241, Applied Statistics 37, 477–484 (quantiles); Michael, Schucany & Haas
(1976), Generating random variates using transformations with multiple roots, American Statistician 30, 88–90 (inverse
Gaussian).
"""

from __future__ import annotations

import math

import numpy as np

from textbayes.kernels._cache import njit

_ROOT_HALF = math.sqrt(0.5)
_ROOT_HALF_PI = math.sqrt(0.5 * math.pi)
_LEAST, _MOST = 2.0**-54, 1.0 - 2.0**-53  # a uniform number is inside (0, 1)
_FAR = 12.0  # beyond this cut tails are handled by their logarithm
_FRACTION_TERMS = 14
_NARROW = 1e-5  # a density changes so little over so short an interval that its logarithm is straight


@njit(cache=True, nogil=True)
def scaled_tail(x):  # type: ignore[no-untyped-def]
    """Mills's ratio Q(x)/φ(x), Q = 1 − Φ: √(π/2) at 0, 1/x far to the right, at most 3e304 far to the left."""
    if x < _FAR:
        return _ROOT_HALF_PI * math.erfc(x * _ROOT_HALF) * math.exp(min(0.5 * x * x, 700.0))
    rest = x
    for k in range(_FRACTION_TERMS, 0, -1):  # Laplace's continued fraction
        rest = x + k / rest
    return 1.0 / rest


@njit(cache=True, nogil=True)
def normal_quantile(p):  # type: ignore[no-untyped-def]
    """Φ⁻¹(p), algorithm AS 241 (PPND16), to about 16 digits for p down to 1e-300."""
    q = p - 0.5
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        top = 2.5090809287301226727e3
        for c in (3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4, 1.3731693765509461125e4,
                  1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080e0):  # fmt: skip
            top = top * r + c
        bottom = 5.2264952788528545610e3
        for c in (2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4, 5.3941960214247511077e3,
                  6.8718700749205790830e2, 4.2313330701600911252e1, 1.0):  # fmt: skip
            bottom = bottom * r + c
        return q * top / bottom
    r = math.sqrt(-math.log(p if q < 0.0 else 1.0 - p))
    if r <= 5.0:
        r -= 1.6
        top = 7.74545014278341407640e-4
        for c in (2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258e0,
                  3.64784832476320460504e0, 5.76949722146069140550e0, 4.63033784615654529590e0,
                  1.42343711074968357734e0):  # fmt: skip
            top = top * r + c
        bottom = 1.05075007164441684324e-9
        for c in (5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
                  6.89767334985100004550e-1, 1.67638483018380384940e0, 2.05319162663775882187e0, 1.0):  # fmt: skip
            bottom = bottom * r + c
    else:
        r -= 5.0
        top = 2.01033439929228813265e-7
        for c in (2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
                  2.96560571828504891230e-1, 1.78482653991729133580e0, 5.46378491116411436990e0,
                  6.65790464350110377720e0):  # fmt: skip
            top = top * r + c
        bottom = 2.04426310338993978564e-15
        for c in (1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
                  1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0):  # fmt: skip
            bottom = bottom * r + c
    return -top / bottom if q < 0.0 else top / bottom


@njit(cache=True, nogil=True)
def excess(cut, u):  # type: ignore[no-untyped-def]
    """By how much a standard normal that is known to exceed ``cut`` does so: t with Q(cut + t) = u·Q(cut)."""
    u = min(max(u, _LEAST), _MOST)
    if cut < _FAR:
        return max(-normal_quantile(u * 0.5 * math.erfc(cut * _ROOT_HALF)) - cut, 0.0)
    # With w = ½(x² − cut²), Q(x)/Q(cut) = exp(−w)·ratio(x)/ratio(cut): Newton steps for w, whose start is nearly exact.
    target, at_cut = -math.log(u), scaled_tail(cut)
    w = target
    for _ in range(3):
        x = math.sqrt(cut * cut + 2.0 * w)
        ratio = scaled_tail(x)
        w -= (w - math.log(ratio / at_cut) - target) * x * ratio
    w = max(w, 0.0)
    return 2.0 * w / (math.sqrt(cut * cut + 2.0 * w) + cut)


@njit(cache=True, nogil=True)
def excess_within(cut, width, u):  # type: ignore[no-untyped-def]
    """The same for a standard normal that is known to lie between ``cut`` and ``cut + width``."""
    if cut + 0.5 * width < 0.0:  # the nearer end to 0 is the right one: seen in the mirror
        return width - _excess_right(-cut - width, width, u)
    return _excess_right(cut, width, u)


@njit(cache=True, nogil=True)
def _excess_right(cut, width, u):  # type: ignore[no-untyped-def]
    u = min(max(u, _LEAST), _MOST)
    if width * max(1.0, abs(cut)) < _NARROW:
        return exponential_within(cut, width, u)
    if width == np.inf:
        return excess(cut, u)
    if cut < _FAR:
        left = math.erfc(cut * _ROOT_HALF)
        share = math.erfc((cut + width) * _ROOT_HALF) / left
    else:
        share = math.exp(-width * (cut + 0.5 * width)) * scaled_tail(cut + width) / scaled_tail(cut)
    return min(excess(cut, 1.0 - u * (1.0 - share)), width)


@njit(cache=True, nogil=True)
def exponential_within(rate, width, u):  # type: ignore[no-untyped-def]
    """A draw on [0, width] with density ∝ exp(−rate·t); rate 0 is the uniform, which needs a finite width."""
    u = min(max(u, _LEAST), _MOST)
    if abs(rate) * width < 1e-12:
        return u * width
    return min(-math.log1p(u * math.expm1(-rate * width)) / rate, width)


@njit(cache=True, nogil=True)
def truncated_excess(margin, spread, uniform, out):  # type: ignore[no-untyped-def]
    """y·z of normal responses z ~ N(eta, spread²) known to have the sign of y, given the margins y·eta."""
    for i in range(len(margin)):
        out[i] = spread[i] * excess(-margin[i] / spread[i], uniform[i])


@njit(cache=True, nogil=True)
def two_piece_slack(margin, skew, omega, sides, uniforms, slack, standard):  # type: ignore[no-untyped-def]
    """margin − e of errors e < margin, and e per unit of its side: e is N(0, s²/omega), s = skew for e > 0 else 1/skew.

    The right side has the mass skew²/(1 + skew²), the left one the rest (Fernández & Steel 1998).
    """
    for i in range(len(margin)):
        root = math.sqrt(omega[i])
        m, left, right = margin[i], 1.0 / (skew[i] * root), skew[i] / root
        if m <= 0.0:
            slack[i] = left * excess(-m / left, uniforms[i])
            standard[i] = (m - slack[i]) * skew[i]
            continue
        on_right = skew[i] * skew[i] * math.erf(m / right * _ROOT_HALF)
        if sides[i] * (1.0 + on_right) < on_right:
            error = right * excess_within(0.0, m / right, uniforms[i])
            slack[i], standard[i] = m - error, error / skew[i]
        else:
            error = left * excess(0.0, uniforms[i])
            slack[i], standard[i] = m + error, error * skew[i]


@njit(cache=True, nogil=True)
def laplace_variances(offset, rate, normal, uniform, out):  # type: ignore[no-untyped-def]
    """τ of w = N(mean, τ) given the offset w − mean, where w has the Laplace density of rate ``rate``.

    1/τ is inverse Gaussian with mean μ = rate/|offset| and shape λ = rate². Written with κ = λ/μ = rate·|offset| and
    y the square of a normal number, the roots of Michael, Schucany & Haas are

        τ₁ = (2κ + y + √(y² + 4κy))/(2λ)   with probability 1/(1 + κ/(λτ₁)),   τ₂ = κ²/(λ²τ₁)   otherwise,

    sums of positive terms that stay finite at offset 0, where μ does not.
    """
    for j in range(len(offset)):
        if rate[j] == 0.0:
            out[j] = np.inf
            continue
        shape, y = rate[j] * rate[j], normal[j] * normal[j]
        kappa = rate[j] * abs(offset[j])
        first = (2.0 * kappa + y + math.sqrt(y * (y + 4.0 * kappa))) / (2.0 * shape)
        out[j] = first if uniform[j] * (first * shape + kappa) <= first * shape else (kappa / shape) ** 2 / first


@njit(cache=True, nogil=True)
def half_cauchy_precisions(square, precision, levels, uniforms, out):  # type: ignore[no-untyped-def]
    """1/λ² of u ~ N(0, λ²), λ half-Cauchy, given u² and the present 1/λ², by slices.

    p(1/λ² = q | u) ∝ exp(−½u²q)/(1 + q): under a level drawn below 1/(1 + q), q is exponential on a bounded interval
    (Polson, Scott & Windle 2014, The Bayesian bridge, JRSS B 76, online supplement). Kept within floats that can be
    squared.
    """
    for j in range(len(square)):
        level = min(max(levels[j], _LEAST), _MOST) / (1.0 + precision[j])
        drawn = exponential_within(0.5 * square[j], (1.0 - level) / level, uniforms[j])
        out[j] = min(max(drawn, 1e-150), 1e150)


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
    """Draw every offset in turn, in place; ``pull`` = omega·(z − eta) is updated.

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
def _bounds(indptr, indices, data, y, slack, j):  # type: ignore[no-untyped-def]
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
    """Draw every offset in turn, in place, so that no slack becomes negative; ``slack`` is updated.

    A word that some document holds on either side may have l1 = l2 = 0: it is then uniform.
    """
    for j in range(len(offset)):
        down, up = _bounds(indptr, indices, data, y, slack, j)
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
        down, up = _bounds(indptr, indices, data, y, slack, j)
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
