"""The support vector machine that the paper runs beside its model: ``ksvm`` of R's kernlab with its defaults.

From kernlab's source (version 0.9-33, ``R/ksvm.R`` and ``R/sigest.R``): C-svc with C = 1 for a factor; kernel
exp(−σ‖x − x'‖²), σ the mean of 1/q₉₀ and 1/q₁₀, quantiles of ‖x − x'‖² between ⌊n/2⌋ random pairs of training documents
(``sigest``); columns scaled to mean 0 and standard deviation 1 (denominator n − 1). Where any column is constant in the
training part, none is scaled ("Cannot scale data"), which is the case for the matrix of all words. Probabilities, where
asked for, are Platt's on decision values of 3-fold cross-validation.

The problem solved is that of scikit-learn's ``SVC`` (both are LIBSVM's), given the kernel matrix.

References: Karatzoglou, Smola, Hornik & Zeileis (2004), kernlab: an S4 package for kernel methods in R, Journal of
Statistical Software 11; Platt (1999), Probabilistic outputs for support vector machines; Lin, Lin & Weng (2007), A note
on Platt's probabilistic outputs, Machine Learning 68.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import optimize, special
from sklearn.svm import SVC

from textbayes.core.types import BoolArray, FloatArray

Kernel = Literal["rbf", "linear"]
_N_FOLDS = 3


class KernlabMachine(NamedTuple):
    """Decision values, positive where the category is given, and Platt's probabilities of the test documents."""

    train: FloatArray
    test: FloatArray
    probability: FloatArray


def machine(X: Any, y: BoolArray, kernel: Kernel, rng: np.random.Generator) -> KernlabMachine:
    """kernlab's machine of the first ``len(y)`` documents of X, which are those for training."""
    n = len(y)
    K = kernel_matrix(X, n, kernel, rng)
    decision = decisions(K, y)
    held_out, order = np.empty(n), rng.permutation(n)
    for fold in np.array_split(order, _N_FOLDS):
        rest = np.setdiff1d(order, fold)
        at = np.concatenate([rest, fold])
        held_out[fold] = decisions(K[np.ix_(at, at)], y[rest])[len(rest) :]
    return KernlabMachine(decision[:n], decision[n:], platt_scaling(held_out, y)(decision[n:]))


def kernel_matrix(X: Any, n_train: int, kernel: Kernel, rng: np.random.Generator) -> FloatArray:
    """Kernel of all documents, columns scaled by the first ``n_train`` of them unless one is constant there."""
    train = X[:n_train]
    total, squares = (np.asarray(part.sum(axis=0)).ravel() for part in (train, train.multiply(train)))
    variance = np.maximum(squares - total**2 / n_train, 0.0) / (n_train - 1)
    # Rounding leaves a trace of variance in a column whose entries are all alike.
    if (variance > 1e-12 * squares / n_train).all():
        scaled = (X.toarray() - total / n_train) / np.sqrt(variance)
        inner = scaled @ scaled.T
    else:
        inner = (X @ X.T).toarray()
    if kernel == "linear":
        return inner
    length = np.diag(inner)
    distance = np.maximum(length[:, None] + length - 2.0 * inner, 0.0)
    np.fill_diagonal(distance, 0.0)
    return np.exp(-automatic_sigma(distance[:n_train, :n_train], rng) * distance)


def automatic_sigma(squared_distance: FloatArray, rng: np.random.Generator) -> float:
    """``sigest``'s σ: the mean of 1/q₉₀ and 1/q₁₀ of the squared distances of ⌊n/2⌋ random pairs, zeros left out."""
    n = len(squared_distance)
    first, second = rng.integers(n, size=(2, n // 2))
    drawn = squared_distance[first, second]
    return float(np.mean(1.0 / np.quantile(drawn[drawn != 0.0], [0.9, 0.1])))


def decisions(K: FloatArray, y: BoolArray) -> FloatArray:
    """Decision values of all documents of a kernel matrix by the machine of its first ``len(y)``."""
    n = len(y)
    fitted = SVC(C=1.0, kernel="precomputed").fit(K[:n, :n], y)
    return np.asarray(fitted.decision_function(K[:, :n]), dtype=np.float64)


def platt_scaling(decision: FloatArray, y: BoolArray) -> Callable[[FloatArray], FloatArray]:
    """Platt's sigmoid 1/(1 + exp(a·f + b)) by maximum likelihood of his smoothed targets, as a function of f."""
    n_in, n_out = np.count_nonzero(y), np.count_nonzero(~y)
    target = np.where(y, (n_in + 1.0) / (n_in + 2.0), 1.0 / (n_out + 2.0))

    def loss(at: FloatArray) -> tuple[float, FloatArray]:
        linear = at[0] * decision + at[1]
        residual = target - special.expit(-linear)
        value = -(target * special.log_expit(-linear) + (1.0 - target) * special.log_expit(linear)).sum()
        return float(value), np.array([residual @ decision, residual.sum()])

    def curvature(at: FloatArray) -> FloatArray:
        linear = at[0] * decision + at[1]
        weight = special.expit(linear) * special.expit(-linear)
        mixed = weight @ decision
        return np.array([[weight @ decision**2, mixed], [mixed, weight.sum()]])

    start = np.array([0.0, np.log((n_out + 1.0) / (n_in + 1.0))])
    # By Newton's steps: BFGS silences warnings of its line search, which is not safe where machines run in threads.
    found = optimize.minimize(loss, start, jac=True, hess=curvature, method="trust-exact", options={"gtol": 1e-8})
    a, b = found.x
    return lambda f: np.asarray(special.expit(-(a * f + b)))
