"""Labels that share strength: each word has a mean weight, common to all labels, which is found with the weights."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import optimize
from sklearn.exceptions import ConvergenceWarning

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.types import FloatArray
from textbayes.core.validation import check_positive
from textbayes.inference import FitInfo, Posterior, Problem

_FINEST = 1e-7  # relative violation: below it the rounding of the objective stops a line search
_ROUNDS = 20  # steps of L-BFGS for each round that the inference may take


def with_shared_mean(problem: Problem, scale: float, tol: float, max_iter: int) -> tuple[Problem, Posterior]:
    """The problem with the common means of its words in its prior, and the weights that were found with them.

    w_kj ~ N(c_kj + m_j, s_kj²) with m_j ~ N(0, t²): the joint mode of all m and w. With w_kj = c_kj + t·u_j + s_kj·v_kj
    all u and v are N(0, 1), so that it is one smooth problem with an identity as its prior; L-BFGS solves it. It is
    also a single regression on documents that stand there once for each label, with shared columns of scale t and
    columns of each label of scale s; and, m integrated out, a prior with variance s² + t² and covariance t² between
    labels.

    Given m labels are independent again, and any inference that takes a Gaussian prior finishes their fits.

    Parameters
    ----------
    problem : Problem
        Of two labels or more with a Gaussian prior.
    scale : float
        t, how far common means may be from zero.
    tol, max_iter : float and int
        As of the inference: the largest derivative left is ``tol`` times the largest at the start.

    References
    ----------
    Evgeniou & Pontil (2004), Regularized multi-task learning, KDD (the equivalence). Gelman & Hill (2007), Data
    Analysis Using Regression and Multilevel/Hierarchical Models.
    """
    check_positive("shared_scale", scale, "1.0")
    n_labels, n_features = problem.y.shape[1], problem.X.shape[1]
    if n_labels < 2:
        raise InputError(
            "shared_scale is for two labels or more with weights of their own, not two classes; leave it out"
        )
    if problem.prior.name != "gaussian" or problem.prior.signed:
        raise NotSupportedError(
            f"shared_scale needs a Gaussian prior without signs and the prior is {problem.prior.name!r}; take "
            "a Gaussian one and no prior file"
        )
    if problem.words is not None:
        raise NotSupportedError("shared_scale is for the same words in all labels; leave out select and refit_k")
    center, precision, b_center, b_precision = _penalties(problem)
    if not (precision > 0.0).all():
        raise InputError("shared_scale needs a finite scale for every word; some are inf")
    X, y, link, own = problem.X, problem.y, problem.link, 1.0 / np.sqrt(precision)
    weight = 1.0 if problem.sample_weight is None else problem.sample_weight[:, None]
    free = problem.intercept_prior is not None
    size = n_features * (n_labels + 1)

    def weights_of(theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        white = theta[:size].reshape(n_labels + 1, n_features)
        return white, center + scale * white[0] + own * white[1:], theta[size:]

    def objective(theta: FloatArray) -> tuple[float, FloatArray]:
        white, w, b = weights_of(theta)
        eta = np.asarray(X @ w.T) + b
        score = weight * link.score(eta, y)
        of_words = np.asarray(X.T @ score).T
        off = b_precision * (b - b_center)
        value = -(weight * link.log_prob(eta, y)).sum() + 0.5 * (white**2).sum() + 0.5 * off @ (b - b_center)
        slope = white - np.vstack([scale * of_words.sum(axis=0), own * of_words])
        of_intercepts = (off - score.sum(axis=0)) * free
        return float(value), np.concatenate([slope.ravel(), of_intercepts])

    start = np.concatenate([np.zeros(size), b_center])
    largest = float(np.abs(objective(start)[1]).max())
    tol = max(tol, _FINEST)
    options: dict[str, Any] = {"gtol": tol * largest, "ftol": 0.0, "maxiter": _ROUNDS * max_iter, "maxfun": 10**9}
    found = optimize.minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    violation = float(np.abs(found.jac).max()) / max(largest, 1e-300)
    if violation > tol:
        warnings.warn(
            f"the common means of the labels were left at a relative violation of {violation:.1e}, above tol={tol:g}; "
            "raise max_iter or tol, or use smaller scales",
            ConvergenceWarning,
            stacklevel=2,
        )
    white, w, b = weights_of(found.x)
    prior = type(problem.prior)(scale=problem.prior.scale, mean=center + scale * white[0])
    same = np.full(n_labels, violation)
    info = FitInfo(np.full(n_labels, found.fun), same, np.full(n_labels, found.nit), same <= tol)
    return problem._replace(prior=prior), Posterior(w, b.copy(), None, info)


def _penalties(problem: Problem) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Means and precisions of the weights, (n_labels, n_features), and of the intercepts, (n_labels,)."""
    n_labels, n_features = problem.y.shape[1], problem.X.shape[1]
    own = [problem.prior.for_label(k, n_features).local(np.zeros(n_features)) for k in range(n_labels)]
    intercepts = [problem.intercept_prior_of(k) for k in range(n_labels)]
    told = [
        (0.0, 0.0) if one is None else [float(part[0]) for part in one.local(np.zeros(1))[::2]] for one in intercepts
    ]
    b_center, b_precision = np.array(told, dtype=np.float64).T
    return np.array([one[0] for one in own]), np.array([one[2] for one in own]), b_center, b_precision
