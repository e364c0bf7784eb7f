"""Scales to try: a grid from where the prior holds every weight to where it hardly holds any, or BBR's default."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.core.types import FloatArray, Matrix
from textbayes.core.validation import check_choice
from textbayes.inference import Problem
from textbayes.inference._path import null_gradient

_WIDEST = {False: 2e3, True: 1e3}  # of the narrowest scale, of a prior with a kink and of a smooth one
_MOVE = 0.1  # how far a smooth prior's narrowest scale lets a linear predictor move


def narrowest_factor(problem: Problem) -> FloatArray:
    """Per label the largest multiple of its prior's scale at which every weight stays at its prior mean.

    A kink of slope l1_j = 1/scale_j holds the weight of word j while |g_j| ≤ l1_j, with g the gradient of the
    log-likelihood at the prior means and the best intercept for them; multiplying the scale by f divides l1 by f, so
    that f = min_j l1_j/|g_j| (the λ_max of Friedman, Hastie & Tibshirani 2010). A smooth prior holds no weight; its
    narrowest scale is the one at which, to first order, no document's linear predictor moves by more than 0.1:
    w = f²·g/l2 gives f² = 0.1/max_i |x_i'(g/l2)|. Words without a prior are left out, and a label that no word tells
    anything of gets 1.

    References
    ----------
    Friedman, Hastie & Tibshirani (2010), Regularization paths for generalized linear models via coordinate descent,
    Journal of Statistical Software 33(1).
    """
    gradient = null_gradient(problem)
    n_labels, n_features = gradient.shape
    factor = np.ones(n_labels)
    for label in range(n_labels):
        _, l1, l2 = problem.prior.for_label(label, n_features).local(np.zeros(n_features))
        g = gradient[label]
        if (l1 > 0.0).any():
            held = (l1 > 0.0) & (g != 0.0)
            if held.any():
                factor[label] = (l1[held] / np.abs(g[held])).min()
        else:
            moved = np.divide(g, l2, out=np.zeros_like(g), where=l2 > 0.0)
            most = np.abs(problem.X @ moved).max(initial=0.0)
            if most > 0.0:
                factor[label] = np.sqrt(_MOVE / most)
    return factor


def factor_grid(problem: Problem, n_points: int = 10, per_label: bool = True) -> FloatArray:
    """Make a grid of factors (n_points, n_labels) of the prior's scale, evenly spaced in their logarithm.

    Each label's run from its narrowest (see ``narrowest_factor``) to 2,000 times that for a prior with a kink and
    1,000 times for a smooth one. Without ``per_label`` all share one grid, from the narrowest of all
    labels to the widest of the label in the middle: labels with many documents need narrow scales, those with few wide.

    Parameters
    ----------
    problem : Problem
    n_points : int
    per_label : bool
    """
    if n_points < 1:
        raise InputError(f"{n_points} scales were asked for; pass 1 or more")
    narrowest = narrowest_factor(problem)
    widest = narrowest * _WIDEST[problem.prior.smooth]
    if not per_label:
        narrowest, widest = np.full_like(narrowest, narrowest.min()), np.full_like(widest, np.median(widest))
    if n_points == 1:
        return np.sqrt(narrowest * widest)[None, :]
    return np.geomspace(narrowest, widest, n_points)


def norm_variance(X: Matrix | ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """BBR's default prior variance: the number of features divided by the mean squared length of the documents.

        σ² = d / ( (1/n) Σ_i |x_i|² )

    Under it the linear predictor of an average document, Σ_j x_ij w_j, has variance Σ_j x_ij² σ² = d a priori if the
    weights are independent: a wide prior, whatever the units of X. A column that is always zero counts as a feature, as
    in BBR; the intercept does not.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
    sample_weight : array (n_docs,), optional
        How much each document counts.

    References
    ----------
    Genkin, Lewis & Madigan (2007), Large-scale Bayesian logistic regression for text categorization, Technometrics 49,
    291–304, and the authors' program BBR (``NormBasedDefaultVar``: dim / average squared norm, constant term left out).

    >>> norm_variance([[3.0, 4.0], [0.0, 5.0]])  # two features, both documents of length 5
    0.08
    """
    squares = sparse.csr_matrix(X, dtype=np.float64).power(2).sum(axis=1)
    lengths = np.asarray(squares).ravel()
    mean = float(np.average(lengths, weights=None if sample_weight is None else np.asarray(sample_weight)))
    if not mean > 0.0:
        raise InputError("all documents are empty: no scale follows from their lengths; check the features")
    return float(np.shape(X)[1]) / mean


def norm_scale(X: Matrix | ArrayLike, prior: str = "laplace", sample_weight: ArrayLike | None = None) -> float:
    """Scale of a prior with variance ``norm_variance(X)``.

    A Gaussian prior of scale s has variance s²; a Laplace prior of scale b, density exp(−|w|/b)/(2b), has variance
    2b², so that b = √(σ²/2): the inverse of BBR's λ = √(2/σ²).

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
    prior : {"laplace", "gaussian"}
    sample_weight : array (n_docs,), optional
        How much each document counts.

    Examples
    --------
    >>> norm_scale([[3.0, 4.0], [0.0, 5.0]]), norm_scale([[3.0, 4.0], [0.0, 5.0]], "gaussian") ** 2
    (0.2, 0.08)
    """
    check_choice("prior", prior, ("laplace", "gaussian"))
    variance = norm_variance(X, sample_weight)
    return float(np.sqrt(variance / 2.0 if prior == "laplace" else variance))
