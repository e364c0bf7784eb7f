"""The paper's fits of one topic: EM from a least-squares start that stops early, and the optimum itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from textbayes.core.types import FloatArray
from textbayes.inference import BaseInference, FitInfo, Posterior, Problem
from textbayes.inference.coordinate import Coordinate
from textbayes.inference.em import Em
from textbayes.inference.newton import Newton

_RIDGE = 1e-6  # keeps the least-squares start defined where words always come together; Figueiredo & Jain's value
_EXACT = 1e-5
_ROUNDS = 1000


class Stop(NamedTuple):
    """When EM ends: at a relative change ‖β′ − β‖ ≤ tol ‖β′‖; parameters of at most ``zero`` then count as zero.

    The paper says "until successive values of β differ by less than a specified tolerance" and does not name it. The
    defaults are those that come closest to its Table 4, see :mod:`textbayes.reproduce.sparse.study`.
    """

    tol: float = 1e-2
    zero: float = 1e-10
    max_steps: int = 2000


def fit(problem: Problem, stop: Stop, exact: bool = False) -> Posterior:
    """The weights of a topic as the paper found them, or the posterior mode itself with ``exact``.

    For the logistic link both are the same: column relaxation converges, and every inference of the toolkit finds the
    mode that ``clg`` finds.
    """
    if not exact and problem.link.name != "logit":
        return Em(stop.tol, stop.max_steps, plain=True).run(problem, least_squares_start(problem))
    method: type[BaseInference] = Newton if problem.prior.smooth else Coordinate
    return method(_EXACT, _ROUNDS).run(problem)


def least_squares_start(problem: Problem, ridge: float = _RIDGE) -> Posterior:
    """β = (XᵀX + ridge I)⁻¹ Xᵀy with the intercept as a column of ones: where Figueiredo & Jain (2001) start EM.

    EM cannot move a weight that is zero, so the start must not have any.
    """
    n_docs, n_words = problem.X.shape
    X = sparse.csr_matrix(sparse.hstack([problem.X, np.ones((n_docs, 1))]))
    gram = (X.T @ X).toarray()
    gram[np.diag_indices(n_words + 1)] += ridge
    beta = linalg.solve(gram, X.T @ problem.y, assume_a="pos").T
    k = len(beta)
    info = FitInfo(np.zeros(k), np.zeros(k), np.zeros(k, np.int64), np.zeros(k, np.bool_))
    return Posterior(np.ascontiguousarray(beta[:, :-1]), beta[:, -1].copy(), None, info)


def parameters(posterior: Posterior) -> FloatArray:
    """Weights and intercept of the first label as one vector: the paper's β."""
    return np.append(posterior.mean[0], posterior.intercept[0])


def size(posterior: Posterior, zero: float) -> int:
    """How many parameters are further from zero than ``zero``, the intercept's included (301 = 300 + 1)."""
    return int(np.count_nonzero(np.abs(parameters(posterior)) > zero))
