"""How much a document would teach: the expected information gain of its judgement, before it is judged.

For the Gaussian posterior N(m, C) and a document x, learning y leads to N(m + s·d1, C + s s'·d2) with s = C x. With
v = x'C x, the Kullback–Leibler distance between the two needs neither s nor C, as C⁻¹s = x:

    tr(C⁻¹C') = dim + d2·v,   (m' − m)'C⁻¹(m' − m) = d1²·v,   det C'/det C = 1 + d2·v,
    IG(y) = ½ [ (d1² + d2)·v − ln(1 + d2·v) ].

So the gain of either outcome follows from the mean and variance of the linear predictor alone: no trial update.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy import special

from textbayes.core.types import FloatArray
from textbayes.core.validation import check_choice
from textbayes.models.online.likelihood import OnlineLikelihood

Method = Literal["gaussian", "exact", "paper"]
_METHODS = ("gaussian", "exact", "paper")
_LN_2 = np.log(2.0)
_RUNGS = np.concatenate([-(3.0 ** np.arange(4.0, -1.0, -1.0)), [0.0], 3.0 ** np.arange(0.0, 5.0)])
_REACH = 12.0  # standard deviations beyond which a Gaussian is taken for 0


def information_gain(
    mean: Any, var: Any, y: Any, likelihood: OnlineLikelihood, method: Method = "gaussian"
) -> FloatArray:
    """Bits gained about the weights when a document with predictor N(mean, var) turns out to be y; elementwise.

    Parameters
    ----------
    mean, var : arrays
        Of the linear predictor, as ``predict`` of a posterior gives them.
    y : array of −1 and +1
    likelihood : OnlineLikelihood
    method : {"gaussian", "exact", "paper"}
        - "gaussian": the distance between the Gaussian posteriors after and before, by the closed form above.
        - "exact": that between the exact posterior p(y|w) N(w)/Z and the Gaussian before it; its expectation over y is
          the mutual information of judgement and weights.
        - "paper": E[log₂ p(y|h)/Z], h the linear predictor, over the Gaussian posterior after learning y (§ 4.2). Not a
          distance: it can be a little below 0.

    References
    ----------
    Chai, Ng & Chieu (2002), SIGIR, § 3 and 4.2; MacKay (1992), Information-based objective functions for active data
    selection, Neural Computation 4.

    Examples
    --------
    >>> from textbayes.models.online import PAPER_FLIP
    >>> likely, unlikely = information_gain(0.3, 1.0, [1.0, -1.0], PAPER_FLIP)
    >>> bool(unlikely > likely > 0.0)  # surprise teaches
    True
    """
    check_choice("method", method, _METHODS)
    mean, var, y = np.broadcast_arrays(*(np.asarray(part, dtype=np.float64) for part in (mean, var, y)))
    log_z, d1, d2 = likelihood.moments(mean, var, y)
    if method == "gaussian":
        return 0.5 * ((d1 * d1 + d2) * var - np.log1p(d2 * var)) / _LN_2
    after = mean + var * d1, var * (1.0 + d2 * var)
    if likelihood.noise == 0.0:
        average = _mean_log_prob_of_threshold(mean, var, y, likelihood, after if method == "paper" else None)
    else:
        average = _mean_log_prob(mean, var, y, likelihood, after, exact=method == "exact")
    return np.where(var > 0.0, average - log_z, 0.0) / _LN_2


def expected_information_gain(
    mean: Any, var: Any, likelihood: OnlineLikelihood, method: Method = "gaussian"
) -> FloatArray:
    """Σ_y p(y)·IG(y): bits to be expected from judging a document with predictor N(mean, var); elementwise.

    >>> from textbayes.models.online import PAPER_FLIP
    >>> expected_information_gain([0.0, 3.0], [1.0, 1.0], PAPER_FLIP, "exact").round(3)  # 1 bit less the coin's entropy
    array([0.531, 0.003])
    """
    mean, var = np.broadcast_arrays(*(np.asarray(part, dtype=np.float64) for part in (mean, var)))
    if method == "gaussian" and likelihood.closed_form is not None:
        from textbayes.kernels.online.gain import expected_gain

        gain, _ = expected_gain(mean.ravel(), var.ravel(), *likelihood.closed_form)
        return gain.reshape(mean.shape)
    total = np.zeros(mean.shape)
    for y in (1.0, -1.0):
        z = np.exp(likelihood.moments(mean, var, np.full(mean.shape, y)).log_z)
        total += z * information_gain(mean, var, y, likelihood, method)
    return total


def _mean_log_prob(
    mean: FloatArray,
    var: FloatArray,
    y: FloatArray,
    likelihood: OnlineLikelihood,
    after: tuple[FloatArray, FloatArray],
    exact: bool,
) -> FloatArray:
    """E[ln p(y|h)] over the Gaussian ``after``, or over the exact posterior p(y|h) N(h; mean, var)/Z of its moments."""
    out = np.zeros(mean.size)
    nodes, weights = np.polynomial.legendre.leggauss(16)
    parts = zip(mean.flat, var.flat, y.flat, after[0].flat, np.sqrt(after[1]).flat, strict=True)
    for i, (m, v, sign, center, spread) in enumerate(parts):
        if v == 0.0:
            continue
        # Panels fine enough for the link, which bends at 0, and for the posterior; cut where that has ended.
        breaks = np.concatenate([center + spread * np.arange(-_REACH, _REACH + 1.0), likelihood.noise * _RUNGS])
        breaks = np.unique(np.clip(breaks, center - _REACH * spread, center + _REACH * spread))
        half = 0.5 * np.diff(breaks)[:, None]
        h = breaks[:-1, None] + half * (1.0 + nodes)
        log_prob = likelihood.link.log_prob(h / likelihood.noise, np.full_like(h, sign))
        log_mass = log_prob - 0.5 * (h - m) ** 2 / v if exact else -0.5 * ((h - center) / spread) ** 2
        mass = half * weights * np.exp(log_mass - log_mass.max())
        out[i] = (mass * log_prob).sum() / mass.sum()
    return out.reshape(mean.shape)


def _mean_log_prob_of_threshold(
    mean: FloatArray,
    var: FloatArray,
    y: FloatArray,
    likelihood: OnlineLikelihood,
    after: tuple[FloatArray, FloatArray] | None,
) -> FloatArray:
    """The same at a hard threshold, ln(1 − κ) on the right side and ln κ on the other; exact if ``after`` is None."""
    _, rate = likelihood.closed_form or (0.0, 0.0)
    center, spread = (mean, var) if after is None else after
    right = special.ndtr(y * center / np.sqrt(np.where(spread > 0.0, spread, 1.0)))
    if after is None:
        right = (1.0 - rate) * right / (rate + (1.0 - 2.0 * rate) * right)
    return special.xlogy(right, 1.0 - rate) + special.xlogy(1.0 - right, rate)
