"""How much a document would teach: the expected information gain of its judgement, before it is judged.

For the Gaussian posterior N(m, C) and a document x, learning y leads to N(m + s·d1, C + s s'·d2) with s = C x. With
v = x'C x, the Kullback–Leibler distance between the two needs neither s nor C, as C⁻¹s = x:

    tr(C⁻¹C') = dim + d2·v,   (m' − m)'C⁻¹(m' − m) = d1²·v,   det C'/det C = 1 + d2·v,
    IG(y) = ½ [ (d1² + d2)·v − ln(1 + d2·v) ].

So the gain of either outcome follows from the mean and variance of the linear predictor alone: no trial update.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from scipy import special

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.lazy import LazyModule
from textbayes.core.types import FloatArray
from textbayes.core.validation import as_numbers, check_choice
from textbayes.models.online.base import Bank, canonical_rows
from textbayes.models.online.likelihood import OnlineLikelihood

outcome_kernels = LazyModule("textbayes.kernels.online.document")

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
        gain, _ = outcome_kernels.expected_gain(mean.ravel(), var.ravel(), *likelihood.closed_form)
        return gain.reshape(mean.shape)
    total = np.zeros(mean.shape)
    for y in (1.0, -1.0):
        z = np.exp(likelihood.moments(mean, var, np.full(mean.shape, y)).log_z)
        total += z * information_gain(mean, var, y, likelihood, method)
    return total


def region_information_gain(
    posterior: Any, X: Any, region: Any, likelihood: OnlineLikelihood, weight: Any = None
) -> FloatArray:
    """Bits that judging each document is expected to teach of the predictors of a region, mean over its documents.

    The information gain about the weights is highest at the edges of the input space, for documents unlike any that
    will matter. Here what counts is f(u) = u'w of the documents u of a region of interest: with c = u'C x and
    v = u'C u, learning y moves f(u) from N(m, v) to N(m + c·d1, v + c²·d2), and the gain is the distance between them,

        ½ [ c² (d1² + d2)/v − ln(1 + c² d2/v) ],

    averaged over outcomes and over the region. A document's gain about its own predictor is ``"gaussian"`` of
    :func:`information_gain`, and that about any other is never more.

    Parameters
    ----------
    posterior : FullPosterior, DeferredPosterior, DiagonalPosterior or Bank of them
    X : documents (n_docs, n_features) that may be judged
    region : documents (n_region, n_features) that matter, such as those known to be relevant
    likelihood : OnlineLikelihood
    weight : array (n_region,), optional
        How much each document of the region matters; all alike unless given.

    Returns
    -------
    array (n_docs, n_labels)

    References
    ----------
    MacKay (1992), Information-based objective functions for active data selection, Neural Computation 4, § 4 (mean
    marginal information gain); Chai, Ng & Chieu (2002), § 4.2.4, who leave the region to further research.

    Examples
    --------
    >>> from textbayes.models.online import PAPER_FLIP, FullPosterior
    >>> prior, X = FullPosterior.start([0, 1], bias_variance=0.0), np.eye(2)
    >>> region_information_gain(prior, X, X[:1], PAPER_FLIP).round(3).ravel()  # −½ log₂(1 − (0.8·φ(0)/½)²)
    array([0.377, 0.   ])
    """
    n_region = np.shape(region)[0]
    share = np.full(n_region, 1.0) if weight is None else as_numbers(weight, "weight")
    if n_region == 0 or share.shape != (n_region,) or not (share >= 0.0).all() or not share.any():
        raise InputError(
            f"the region has {n_region} documents and weights of shape {share.shape}; pass one document at least, and "
            "a weight that is not negative for each"
        )
    mean, var = posterior.predict(X)
    spread, columns = posterior.predict(region).var, []
    for label, crossed in enumerate(_cross_covariances(posterior, X, region)):
        with np.errstate(divide="ignore", invalid="ignore"):
            shared = np.where(spread[:, label] > 0.0, crossed**2 / spread[:, label], 0.0)  # c²/v
        columns.append(gain_in_region(mean[:, label], var[:, label], shared, likelihood, share))
    return np.stack(columns, axis=1)


def gain_in_region(
    mean: FloatArray,
    var: FloatArray,
    shared: FloatArray,
    likelihood: OnlineLikelihood,
    weight: FloatArray | None = None,
) -> FloatArray:
    """Expected bits about a region's predictors, (n_docs,), given c²/v of each document with each of the region.

    Parameters
    ----------
    mean, var : arrays (n_docs,)
        Of the documents' own predictors.
    shared : array (n_docs, n_region)
        c²/v: of the variance of a predictor of the region, what a document tells.
    likelihood : OnlineLikelihood
    weight : array (n_region,), optional
    """
    share = np.ones(shared.shape[1]) if weight is None else weight
    total = np.zeros(len(mean))
    for y in (1.0, -1.0):
        log_z, d1, d2 = likelihood.moments(mean, var, np.full(len(mean), y))
        bent = shared * d2[:, None]
        gain = 0.5 * (shared * (d1 * d1)[:, None] + bent - np.log1p(np.maximum(bent, -1.0 + 1e-12)))
        total += np.exp(log_z) * (gain * share).sum(axis=1)
    return total / share.sum() / _LN_2


def _cross_covariances(posterior: Any, X: Any, region: Any) -> Iterator[FloatArray]:
    """x'C u of every document with every one of the region, (n_docs, n_region), label by label."""
    from textbayes.models.online.diagonal import DiagonalPosterior

    for one in posterior if isinstance(posterior, Bank) else (posterior,):
        if isinstance(one, DiagonalPosterior):
            first, second = canonical_rows(X), canonical_rows(region)
            for variances in one.var.T:
                yield variances[0] + np.asarray((first.multiply(variances[1:]) @ second.T).todense())
        elif hasattr(one, "cov"):
            first, second = (canonical_rows(part)[:, one.words] for part in (X, region))
            cov = one.cov
            of_region = cov[:, :1] + (second @ cov[1:]).T  # C u, the bias first
            yield np.asarray(of_region[0] + first @ of_region[1:])
        else:
            raise NotSupportedError(
                f"{type(one).__name__} keeps no covariance of its weights; use one of full or diagonal covariance"
            )


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
