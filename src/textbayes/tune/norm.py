"""A scale from the lengths of the documents alone: no fit, no folds."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.core.types import Matrix
from textbayes.core.validation import check_choice


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
