"""Starting points of fits: they matter to priors that are not log-concave, and so are said and not left to chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import linalg, sparse

from textbayes.core.errors import NotSupportedError
from textbayes.inference.base import BaseInference, FitInfo, Posterior, Problem
from textbayes.inference.newton import Newton
from textbayes.priors.gaussian import Gaussian

_RIDGE = 1e-6  # keeps least squares defined where words always come together; Figueiredo & Jain's value
_TOL, _MAX_ITER = 1e-6, 100  # a start need not be exact, but must not depend on how it was found either


def ridge_start(
    problem: Problem, factor: float = 1.0, n_jobs: int = 1, newton: type[BaseInference] = Newton
) -> Posterior:
    """Ridge start: the mode under the Gaussian prior of the same mean and ``factor`` times the scale.

    Figueiredo & Jain (2001) start from a ridge regression for the same reason: EM cannot leave a weight of zero.

    Every word then has a weight.

    Parameters
    ----------
    problem : Problem
    factor : float
    n_jobs : int
        Threads.
    newton : class of the inference
    """
    prior, intercept = problem.prior, problem.intercept_prior
    smooth = problem._replace(
        prior=Gaussian(factor * prior.scale, prior.mean),
        intercept_prior=None if intercept is None else Gaussian(intercept.scale, intercept.mean),
    )
    return newton(_TOL, _MAX_ITER, n_jobs).run(smooth)


def least_squares_start(problem: Problem, negative: float = -1.0) -> Posterior:
    """Least-squares start: (XᵀX + 1e-6 I)⁻¹ Xᵀy, the intercept being a column of ones, as Figueiredo & Jain (2001) do.

    EM cannot move a weight that is zero, so the start must not have any.

    Parameters
    ----------
    problem : Problem
    negative : float
        What y is where a label is absent, −1 or 0; where it is present y is 1.
    """
    n_docs, n_words = problem.X.shape
    shift = np.ones((n_docs, 1)) if problem.intercept_prior is not None else np.zeros((n_docs, 1))
    X = sparse.csr_matrix(sparse.hstack([problem.X, shift]))
    gram = (X.T @ X).toarray()
    gram[np.diag_indices(n_words + 1)] += _RIDGE
    beta = linalg.solve(gram, X.T @ np.where(problem.y > 0.0, 1.0, negative), assume_a="pos").T
    k = len(beta)
    info = FitInfo(np.zeros(k), np.zeros(k), np.zeros(k, np.int64), np.zeros(k, np.bool_))
    return Posterior(np.ascontiguousarray(beta[:, :-1]), beta[:, -1].copy(), None, info)


def away_from_pole(
    problem: Problem, start: Posterior | None, n_jobs: int, newton: type[BaseInference] = Newton
) -> Posterior | None:
    """Start as given; else, for a prior with a pole at its mean, from which no weight ever leaves, the ridge start.

    Parameters
    ----------
    problem : Problem
    start : Posterior or None
    n_jobs : int
        Threads.
    newton : class of the inference
    """
    return ridge_start(problem, n_jobs=n_jobs, newton=newton) if start is None and problem.prior.pole else start


def best_of_starts(inference: BaseInference, problem: Problem, starts: Sequence[Posterior | None]) -> Posterior:
    """Fit from every start and keep, label by label, the mode of highest posterior.

    For links and priors that are not log-concave. A prior with a pole is refused: its posterior is unbounded wherever
    a weight is at its mean, so that modes with different words cannot be compared.

    Parameters
    ----------
    inference : BaseInference
    problem : Problem
    starts : sequence of Posterior or None
        None starts at the prior means.
    """
    if problem.prior.pole:
        raise NotSupportedError(
            f"modes under prior {problem.prior.name!r} cannot be compared, for its density is infinite at the mean; "
            "compare the fits on held-out documents instead"
        )
    fits = [inference.run(problem, start) for start in starts]
    best = np.argmin([fit.info.objective for fit in fits], axis=0)
    labels = np.arange(len(best))

    def pick(name: str, source: Sequence[object]) -> np.ndarray:
        return np.stack([getattr(item, name) for item in source])[best, labels]

    infos = [fit.info for fit in fits]
    info = FitInfo(*(pick(name, infos) for name in FitInfo._fields))
    return Posterior(pick("mean", fits), pick("intercept", fits), None, info)
