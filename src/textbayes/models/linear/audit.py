"""Prior and posterior, word by word: what the documents made of what was known, and where they contradict it.

Let g_j be the slope of the log-likelihood in a word's weight at the fitted w_j, and h_j its curvature there after the
other words and the intercept have been integrated out, each under its own prior (Laplace approximation):

    h_j = x_j'Ω x_j − r'(X'Ω X + D⁻¹)⁻¹ r,    r = X'Ω x_j over the other words,

Ω the documents' curvatures, D the priors' variances 1/E[1/τ | w]. The documents alone would then put the weight near
ŵ_j = w_j + g_j/h_j, give or take 1/√h_j. If the prior is right, ŵ_j is a draw from the prior plus N(0, 1/h_j), which is
its prior predictive distribution. The p-value is twice the smaller tail there; a small one is a prior–data conflict.

References
----------
Evans & Moshonov (2006), Checking for prior-data conflict, Bayesian Analysis 1.
Box (1980), Sampling and Bayes' inference in scientific modelling and robustness, JRSS A 143.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse, special

from textbayes.core.errors import InputError
from textbayes.core.labels import LabelSpace
from textbayes.core.types import BoolArray, FloatArray, IntArray, Matrix
from textbayes.core.validation import check_indicator, check_same_length
from textbayes.knowledge.match import MatchedPriors
from textbayes.links import make_link
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.priors import BasePrior, make_prior, priors
from textbayes.priors.by_word import ByWord

_BLOCK = 64  # words whose curvature is found together
_CG_STEPS, _CG_TOL = 100, 1e-3
_WIDEST = 1e6  # the variance that a free word has, relative to the others' it might as well be infinite
_POINTS = 400  # of the integral over a prior
_FAR = 1e6  # scales: where the integral over a heavy tail ends


class AuditRow(NamedTuple):
    """A word's prior and what became of it.

    ``shift`` is (posterior − prior mean) in prior scales. ``n_documents`` hold the word. ``p_value`` is the chance of
    documents that contradict the prior as much, were it right; ``conflict`` says that it is below the level.
    """

    word: str
    label: str
    source: str
    prior_mean: float
    prior_scale: float
    posterior: float
    shift: float
    n_documents: int
    p_value: float
    conflict: bool


def audit_priors(
    model: BayesLinearClassifier,
    X: Any,
    Y: Matrix | ArrayLike,
    matched: MatchedPriors,
    vocabulary: Mapping[str, int] | Iterable[str],
    labels: LabelSpace | Sequence[str],
    *,
    level: float = 0.05,
    prior: BasePrior | None = None,
    sample_weight: FloatArray | None = None,
) -> list[AuditRow]:
    """Compare prior and posterior of every word that something is known of, the most surprising first.

    Parameters
    ----------
    model : BayesLinearClassifier
        Fitted to X and Y, usually with the prior that the table gave, see :meth:`BayesLinearClassifier.with_prior`.
    X, Y : the documents (n_docs, n_features) and indicator (n_docs, n_labels) that it learnt from
    matched : MatchedPriors
    vocabulary, labels
        As they were for :func:`textbayes.knowledge.match_priors`.
    level : float
        Of the conflict flag: of priors that are right, that share or less is flagged all the same.
    prior : BasePrior or None
        The prior that the rows speak of, where the model was fitted with another: one that follows the table in part.
    sample_weight : array (n_docs,) or None
        As the model was fitted with.

    Notes
    -----
    For every 64 words, up to 100 products with X (conjugate gradients).
    """
    if not 0.0 < level < 1.0:
        raise InputError(f"level={level!r} is not usable; pass a number between 0 and 1, such as 0.05")
    Y = check_indicator(Y)
    check_same_length(X, "X", Y, "Y")
    names = labels.column_names if isinstance(labels, LabelSpace) else [str(label) for label in labels]
    terms = list(vocabulary if not isinstance(vocabulary, Mapping) else sorted(vocabulary, key=vocabulary.__getitem__))
    shape = (len(names), len(terms))
    if model.coef_.shape != shape or (matched.n_labels, matched.n_features) != shape:
        raise InputError(f"model, table, labels and words differ in shape: {model.coef_.shape}, {shape}")
    used, link = make_prior(model.prior, model.scale, model.mean, model.sign), make_link(model.link)
    prior = used if prior is None else prior
    counts = np.ones(len(Y)) if sample_weight is None else sample_weight
    X = sparse.csc_matrix(X, copy=True)
    X.eliminate_zeros()
    eta = np.asarray(model.linear_predictor(X))
    rows = []
    for k in np.unique(matched.label):
        entries = np.flatnonzero(matched.label == k)
        columns = matched.column[entries]
        of_words = prior.for_label(int(k), len(terms)).take(columns)
        posterior = model.coef_[k, columns]
        y, own = np.where(Y[:, k], 1.0, -1.0), link.for_label(int(k))
        variance = used.for_label(int(k), len(terms)).variance(model.coef_[k])
        score, bend = counts * own.score(eta[:, k], y), counts * own.hessian(eta[:, k], y)
        slope, precision = _likelihood(X, columns, score, bend, variance, model.fit_intercept)
        step = np.divide(slope, precision, out=np.zeros_like(slope), where=precision > 0.0)
        n_docs = np.diff(X.indptr)[columns]
        p_values = prior_predictive_p(of_words, posterior + step, precision)
        for i, entry in enumerate(entries):
            mean, scale = float(of_words.mean[i]), float(of_words.scale[i])
            rows.append(
                AuditRow(
                    str(terms[columns[i]]),
                    names[k],
                    matched.priors[int(matched.row[entry])].source,
                    mean,
                    scale,
                    float(posterior[i]),
                    (float(posterior[i]) - mean) / scale,
                    int(n_docs[i]),
                    float(p_values[i]),
                    bool(p_values[i] < level),
                )
            )
    return sorted(rows, key=lambda row: (row.p_value, -abs(row.shift), row.label, row.word))


def _likelihood(
    X: Any, columns: IntArray, score: FloatArray, bend: FloatArray, variance: FloatArray, intercept: bool = True
) -> tuple[FloatArray, FloatArray]:
    """g and h of some words, given the score and the curvature of each document; h = 0 where documents say nothing."""
    omega = np.maximum(bend, 0.0)
    total = max(float(omega.sum()), float(np.finfo(float).tiny))
    root = np.sqrt(np.minimum(variance, _WIDEST))[:, None]

    def centred(values: FloatArray) -> FloatArray:
        """What of the words' values a free intercept does not take up."""
        return values - omega @ values / total if intercept else values

    def curved(values: FloatArray) -> FloatArray:
        return omega[:, None] * centred(values)

    slopes, precisions = [], []
    for start in range(0, len(columns), _BLOCK):
        block = columns[start : start + _BLOCK]
        words = X[:, block].toarray()
        bent = curved(words)
        others = np.ones((X.shape[1], len(block)))
        others[block, np.arange(len(block))] = 0.0
        right = others * root * (X.T @ bent)

        def system(values: FloatArray, others: FloatArray = others) -> FloatArray:
            return values + others * root * (X.T @ curved(X @ (root * values)))

        full = (words * bent).sum(axis=0)
        left = full - (right * _conjugate_gradients(system, right)).sum(axis=0)
        precisions.append(np.where(left > 1e-9 * full, left, 0.0))
        slopes.append(centred(words).T @ score)
    return np.concatenate(slopes), np.concatenate(precisions)


def _conjugate_gradients(system: Callable[[FloatArray], FloatArray], right: FloatArray) -> FloatArray:
    """Solve system(x) = right for every column at once."""
    solution = np.zeros_like(right)
    residual, search = right.copy(), right.copy()
    rho = (residual**2).sum(axis=0)
    target = _CG_TOL**2 * rho
    for _ in range(_CG_STEPS):
        going = rho > target
        if not going.any():
            break
        product = system(search)
        step = np.where(going, rho / np.maximum((search * product).sum(axis=0), np.finfo(float).tiny), 0.0)
        solution += step * search
        residual -= step * product
        new_rho = (residual**2).sum(axis=0)
        search = residual + np.where(going, new_rho / np.maximum(rho, np.finfo(float).tiny), 0.0) * search
        rho = np.where(going, new_rho, rho)
    return solution


def prior_predictive_p(prior: BasePrior, estimate: FloatArray, precision: FloatArray) -> FloatArray:
    """Prior predictive p-value 2·min(P(ŵ ≤ estimate), P(ŵ ≥ estimate)) of each word's estimate.

    ŵ = w + e, w from the prior of each word and e ~ N(0, 1/precision). 1 where the prior or the documents say nothing:
    an infinite scale, an improper family, a precision of 0.

    Parameters
    ----------
    prior : BasePrior
    estimate, precision : arrays (n_features,)
        What the documents alone say of each weight.
    """
    informative = (precision > 0.0) & np.isfinite(prior.scale) & _proper(prior)
    p_values = np.ones(len(estimate))
    chosen = np.flatnonzero(informative)
    if not len(chosen):
        return p_values
    prior = prior.for_label(0, len(estimate)).take(chosen)
    # Points evenly spread in asinh(u), u = (w − mean)/scale, between the bounds that a sign sets: fine near the mean,
    # far in the tails. The density is brought to a sum of one there.
    bounds = ((bound - prior.mean) / prior.scale for bound in prior.bounds(prior.mean.shape))
    low, high = (np.arcsinh(np.clip(bound, -_FAR, _FAR)) for bound in bounds)
    place = low + (high - low) * ((np.arange(_POINTS) + 0.5) / _POINTS)[:, None]
    w = prior.mean + prior.scale * np.sinh(place)
    log_density = -prior.neg_log(w) + np.log(np.cosh(place))
    weight = np.exp(log_density - log_density.max(axis=0))
    weight /= weight.sum(axis=0)
    distance = (estimate[chosen] - w) * np.sqrt(precision[chosen])
    below, above = (weight * special.ndtr(distance)).sum(axis=0), (weight * special.ndtr(-distance)).sum(axis=0)
    p_values[chosen] = np.minimum(1.0, 2.0 * np.minimum(below, above))
    return p_values


def _proper(prior: BasePrior) -> BoolArray:
    """Mask of the words whose prior can be integrated."""
    if not isinstance(prior, ByWord):
        return np.full(prior.mean.shape, prior.proper)
    return np.array([priors.get(name).proper for name in priors.names()])[prior.family]
