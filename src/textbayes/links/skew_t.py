"""Skewed Student-t link: p(y = 1 | eta) = T_{ν,δ}(eta), the cdf of a two-piece Student-t.

Its curvature is the smallest that majorises −log p, found numerically once per link and then looked up: a quadratic
that touches −log p at a margin m stays above it everywhere if and only if its curvature is at least

    κ(m) = sup_u  2·[log p(m) + s(m)·(u − m) − log p(u)] / (u − m)²,     s = ∂ log p / ∂m

(de Leeuw & Lange 2009, Sharp quadratic majorization in one dimension). The supremum is taken over a grid of u, at a
grid of m, both even in arcsinh so that bulk and tails are equally fine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import ClassVar

import numpy as np
from scipy import special

from textbayes.core.errors import InputError
from textbayes.core.lazy import LazyModule
from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.links import links
from textbayes.links._student import Tail, compiled_likelihood, student_tail
from textbayes.links.base import BaseLink, Derivatives, Expectation, Latent, Likelihood, PrecisionLatent

gibbs_kernels = LazyModule("textbayes.kernels.gibbs")

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


_LEAST_DF = 0.5
_MOST_SKEW = 1000.0


@links.register("skew_t")
class SkewT(BaseLink):
    """The flexible link of Eyheramendy & Madigan (2007): heavy tails by ``df``, asymmetry by ``skew``.

    Its density is the Student-t f, cut at the mode 0 and stretched (Fernández & Steel 1998, eq. 1)::

        2/(δ + 1/δ) · f(x/δ)  for x ≥ 0,      2/(δ + 1/δ) · f(x·δ)  for x < 0

    δ > 1 makes the right tail the long one: p(y = 1 | eta = 0) = 1/(1 + δ²) < ½, and p falls to 0 faster than it rises
    to 1. δ < 1 is the mirror image: p_δ(y | eta) = p_{1/δ}(−y | −eta).

    This is the model as the paper states it, P(y = 1) = T_{ν,δ}(x'β). The latent variable of its eq. 3, with mode x'β
    and y = 1 where it is positive, gives T_{ν,1/δ}(x'β) instead, for P(noise > −x'β) mirrors the noise. The two agree
    at δ = 1 only; the cdf is taken as the definition.

    Parameters
    ----------
    df : float, at least 0.5
        Degrees of freedom ν: 1 is a skewed Cauchit, inf the two-piece skew-normal link.
    skew : float from 0.001 to 1000
        δ; 1 is symmetric and the same as ``student_t``.

    Notes
    -----
    Let q be the mass beyond eta, seen from the mode: q = 2/(1 + a²)·T(−a|eta|), a = δ where eta < 0 and 1/δ elsewhere.
    With the hazard r and its excess e at t = a|eta| (see ``_student.py``), and derivatives in the margin y·eta,

    - on the wrong side of the mode: log p = log q, slope a·r, hessian a²·r·e;
    - on the right side: p = 1 − q, slope g = a·r·q/p, hessian g·(g + a·(r − e)).

    Relative errors are near 1e-13, times max(δ, 1/δ)² close to the mode. log p is concave for ν = ∞ only: a far
    outlier's falls like −ν·log|eta|, so a fit may have several optima. The majorising curvature is the sharp one.

    References
    ----------
    Eyheramendy & Madigan (2007), A flexible Bayesian generalized linear model for dichotomous response data with an
    application to text categorization, IMS Lecture Notes 54. Fernández & Steel (1998), JASA 93, 359–371.

    Examples
    --------
    >>> import numpy as np
    >>> SkewT(df=8, skew=2).probability(np.array([-1.0, 0.0, 1.0, 4.0])).round(3)
    array([0.016, 0.2  , 0.496, 0.936])
    """

    name = "skew_t"
    parameters: ClassVar[tuple[str, ...]] = ("df", "skew")
    examples: ClassVar[tuple[Mapping[str, float], ...]] = (
        {"df": 1.0, "skew": 2.0},
        {"df": 2.0, "skew": 0.1},
        {"df": 4.0, "skew": 10.0},
        {"df": 30.0, "skew": 0.5},
        {"df": np.inf, "skew": 0.5},
        {"df": np.inf, "skew": 3.0},
    )

    def __init__(self, df: float = 4.0, skew: float = 1.0) -> None:
        self.df, self.skew = float(df), float(skew)
        if not self.df >= _LEAST_DF:
            raise InputError(f"df={df} is given; degrees of freedom must be {_LEAST_DF} or more (inf: normal)")
        if not 1.0 / _MOST_SKEW <= self.skew <= _MOST_SKEW:
            raise InputError(
                f"skew={skew} is given; it must lie between {1.0 / _MOST_SKEW:g} and {_MOST_SKEW:g}, 1 being symmetric"
            )
        self.em_majorises = self.skew == 1.0
        self.log_concave = bool(np.isinf(self.df))  # a two-piece normal density is log-concave, hence its cdf too

    def log_prob(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        log_q, _, _ = self._beyond(eta)
        return np.where(_against(eta, y), log_q, np.log1p(-np.exp(log_q)))

    def score(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        return self.derivatives(eta, y).score

    def hessian(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        return self.derivatives(eta, y).hessian

    def derivatives(self, eta: FloatArray, y: FloatArray) -> Derivatives:
        against = _against(eta, y)
        log_q, hazard, excess = self._beyond(eta)
        q = np.exp(log_q)
        slope = np.where(against, hazard, hazard * q / (1.0 - q))
        hessian = slope * np.where(against, excess, slope + hazard - excess)
        return Derivatives(np.where(against, log_q, np.log1p(-q)), y * slope, hessian)

    def likelihood(self, eta: FloatArray, y: FloatArray, weight: FloatArray | None) -> Likelihood:
        compiled = compiled_likelihood(self.df, self.skew, eta, y, weight)
        return super().likelihood(eta, y, weight) if compiled is None else compiled

    def curvature(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        unit = min(self.skew, 1.0 / self.skew)
        # For ν = ∞ a two-piece normal latent variable gives the EM bound max(δ, 1/δ)², which is 1 for the probit.
        return sharp_curvature(self, unit, unit**-2 if self.log_concave else np.inf)(eta, y)

    def expectation(self, eta: FloatArray, y: FloatArray) -> Expectation:
        """The score and E[λ a(e)² | y], the weight of the paper's EM (eq. 6; 14 and 15 derived from the model).

        With noise e of precision λ, stretched by a(e) = 1/δ above the mode and δ below, the complete log-likelihood is
        −½ λ a(e)² e², e = eta − z. Its expectation has the slope ``score`` and, as the cut at the mode moves with eta,
        exactly this second derivative at the present eta. Tilting λ ~ Gamma(ν/2, ν/2) by λ turns T_ν(t) into
        T_{ν+2}(t √((ν+2)/ν)) = T_ν(t) + t f_ν(t)/ν. Seen in the direction of y, m = y·eta, with q = 1 − p,

            δ² (1 + m·score/ν)               where m < 0,
            (1 − q/δ²)/p + m·score/(ν δ²)    where m ≥ 0,       for δ = 1 both are 1 + m·score/ν.
        """
        score = self.likelihood(eta, y, None).score
        margin, square = y * eta, self.skew ** (2.0 * y)
        pull = eta * score / self.df
        above = ~_against(eta, y)
        weight = np.where(above, pull / square, square * (1.0 + pull))
        if self.skew == 1.0:
            weight[above] += 1.0
        else:
            q = np.exp(self._beyond(eta[above]).log_prob)
            weight[above] += (1.0 - q / square[above]) / (1.0 - q)
        if np.isfinite(self.df):  # far on the wrong side 1 + pull has no digits left, and λ is that of a power law
            far = np.where(above, 0.0, square * margin**2) > 1e6 * self.df
            weight[far] = self.df * (self.df + 1.0) / ((self.df + 2.0) * margin[far] ** 2)
        return Expectation(score, weight)

    def probability(self, eta: FloatArray) -> FloatArray:
        q = np.exp(self._beyond(eta).log_prob)
        return np.where(eta < 0.0, q, 1.0 - q)

    def log_odds(self, eta: FloatArray) -> FloatArray:
        log_q = self._beyond(eta).log_prob
        log_odds = log_q - np.log1p(-np.exp(log_q))
        return np.where(eta < 0.0, log_odds, -log_odds)

    @property
    def tail_index(self) -> float:
        return self.df

    def latent(self, y: FloatArray, counts: IntArray | None = None) -> Latent:
        return SkewLatent(y, self)

    def _beyond(self, eta: FloatArray) -> Tail:
        """log q, a·r and a·e: the mass beyond eta, its hazard and the hazard's excess, per unit of eta."""
        if self.skew == 1.0:
            return student_tail(self.df)(np.abs(eta))
        left = eta < 0.0
        stretch = np.where(left, self.skew, 1.0 / self.skew)
        log_prob, hazard, excess = student_tail(self.df)(stretch * np.abs(eta))
        share = np.where(left, _log_share(self.skew), _log_share(1.0 / self.skew))
        return Tail(share + log_prob, stretch * hazard, stretch * excess)


class SkewLatent(PrecisionLatent):
    """e ~ two-piece N(0, 1/omega) with skew δ, known to be below eta where y = 1 and above where y = −1.

    omega ~ Gamma(ν/2, ν/2), or 1 for ν = ∞. Seen in the direction of y, e·y is below the margin y·eta and has the skew
    δ^y: its right side is N(0, δ^2y/omega), its left side N(0, δ^−2y/omega), with masses δ^2y : 1. Given e the margin
    may fall down to it, and omega ~ Gamma((ν + 1)/2, (ν + (e/stretch)²)/2).
    """

    normal = False

    def __init__(self, y: FloatArray, link: SkewT) -> None:
        super().__init__(y, link)
        self._degrees, self._skew = link.df, link.skew

    def slack(self, eta: FloatArray, rng: np.random.Generator) -> FloatArray:
        out, standard = np.empty(len(eta)), np.empty(len(eta))
        sides, uniforms = rng.random((2, len(eta)))
        gibbs_kernels.two_piece_slack(self.y * eta, self._skew**self.y, self.omega, sides, uniforms, out, standard)
        if np.isfinite(self._degrees):
            self._draw_omega(self._degrees, standard**2, rng)
        return out

    def log_prob(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        """Given omega, a two-piece normal distribution function."""
        margin, skew, root = y * eta, self._skew**y, np.sqrt(self.omega)
        left = np.log(2.0 / (1.0 + skew**2)) + special.log_ndtr(np.minimum(margin, 0.0) * skew * root)
        beyond = 2.0 * skew**2 / (1.0 + skew**2) * special.ndtr(-np.maximum(margin, 0.0) * root / skew)
        return np.where(margin <= 0.0, left, np.log1p(-beyond))


def _against(eta: FloatArray, y: FloatArray) -> AnyArray:
    """Mask of outcomes that are beyond eta: the mode lies between them."""
    return (y > 0.0) == (eta < 0.0)


def _log_share(stretch: float) -> float:
    """log of twice the mass on a side that is compressed by ``stretch``."""
    return float(np.log(2.0 / (1.0 + stretch**2)))
