"""The MAP fits of a problem along a sequence of prior scales, from the narrowest to the widest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.core.executor import in_parallel
from textbayes.core.types import AnyArray, FloatArray, IntArray, Matrix
from textbayes.inference import BaseInference, FitInfo, Posterior, Problem, make_inference
from textbayes.inference._label import blocks_of, longest_first
from textbayes.inference._path import Solution, solve_path
from textbayes.inference.coordinate import Coordinate
from textbayes.priors.base import BasePrior


class Path(NamedTuple):
    """Fits of all labels at every point: ``factors`` (n_points, n_labels) are multiples of the prior's own scale.

    ``solutions[point][label]`` holds the weights away from zero. ``posterior`` and ``linear_predictor`` unpack them.
    """

    factors: FloatArray
    solutions: list[list[Solution]]
    n_features: int

    def posterior(self, points: int | IntArray) -> Posterior:
        """All labels at one point, or each label at its own."""
        n_labels = self.factors.shape[1]
        chosen = np.broadcast_to(points, (n_labels,))
        mean, intercept = np.zeros((n_labels, self.n_features)), np.zeros(n_labels)
        for label, point in enumerate(chosen):
            solution = self.solutions[point][label]
            mean[label, solution.columns], intercept[label] = solution.weights, solution.intercept
        picked = [self.solutions[point][label] for label, point in enumerate(chosen)]
        names = ("objective", "violation", "n_iter", "converged")
        info = FitInfo(*(np.array([getattr(solution, name) for solution in picked]) for name in names))
        return Posterior(mean, intercept, None, info)

    def linear_predictor(self, X: Matrix | ArrayLike) -> FloatArray:
        """eta (n_points, n_docs, n_labels) of documents X, sparse or dense."""
        rows = sparse.csr_matrix(X)
        out = np.empty((len(self.solutions), rows.shape[0], self.factors.shape[1]))
        for point, fits in enumerate(self.solutions):
            columns = [fit.columns for fit in fits]
            starts = np.cumsum([0, *map(len, columns)])
            arrays = (np.concatenate([fit.weights for fit in fits]), np.concatenate(columns), starts)
            weights = sparse.csr_matrix(arrays, shape=(len(fits), self.n_features))
            out[point] = (rows @ weights.T).toarray() + np.array([fit.intercept for fit in fits])
        return out

    def n_words(self) -> IntArray:
        """Words with a weight, (n_points, n_labels)."""
        return np.array([[len(fit.columns) for fit in fits] for fits in self.solutions])


def scaled(prior: BasePrior, factor: FloatArray) -> BasePrior:
    """Prior with ``factor`` (n_labels,) times its scale."""
    return type(prior)(**{**vars(prior), "scale": prior.scale * factor[:, None]})


def at_scale(problem: Problem, factor: FloatArray, tie_intercept: bool = False) -> Problem:
    """Problem with ``factor`` (n_labels,) times the scale of its prior.

    ``tie_intercept`` gives a penalised intercept that factor as well, as liblinear does; it must be common to all.
    """
    intercept = problem.intercept_prior
    if tie_intercept and intercept is not None:
        if np.ptp(factor) > 0.0:
            raise InputError("tie_intercept needs one scale for all labels at each point; pass factors (n_points,)")
        intercept = intercept.rescaled(intercept.scale * factor[0], intercept.mean)
    return problem._replace(prior=scaled(problem.prior, factor), intercept_prior=intercept)


def check_factors(factors: ArrayLike, n_labels: int) -> FloatArray:
    """Check factors (n_points, n_labels) that grow from point to point, one column for all labels or one each."""
    array = np.asarray(factors, dtype=np.float64)
    if array.ndim == 1:
        array = np.repeat(array[:, None], n_labels, axis=1)
    if array.ndim != 2 or array.shape[1] != n_labels or not len(array):
        raise InputError(f"factors have shape {array.shape}; pass (n_points,) or (n_points, {n_labels})")
    if not (np.isfinite(array) & (array > 0.0)).all():
        raise InputError("some factors are zero, negative, infinite or NaN; a scale is a positive number")
    if (np.diff(array, axis=0) <= 0.0).any():
        raise InputError("factors must grow from point to point: the path runs from the narrowest prior to the widest")
    return array


def regularisation_path(
    problem: Problem,
    factors: ArrayLike,
    inference: str | BaseInference = "coordinate",
    tol: float = 1e-2,
    max_iter: int = 100,
    n_jobs: int = 1,
    guide: Path | None = None,
    tie_intercept: bool = False,
) -> Path:
    """Fit a problem at every one of ``factors`` times the scale of its prior, each point warm-started.

    Parameters
    ----------
    problem : Problem
    factors : array (n_points,) or (n_points, n_labels), growing
    inference : str or inference
        ``"coordinate"`` with a prior that has a kink (``laplace``, ``elastic_net``) shares what it can between
        neighbouring points, labels and, by ``guide``, folds (see ``inference/_path.py``); with a Gaussian prior, whose
        optimum ``"newton"`` finds faster, it stands for that. Every other inference is run from point to point, each
        starting where the last ended.
    tol, max_iter : float and int
        A fit ends when its largest violation is at most ``tol`` times the largest partial derivative at its start, or
        when a round lowers the objective by less than 10·tol² of itself; after ``max_iter`` rounds at the latest.
    n_jobs : int
        Threads over blocks of labels; the result does not depend on it.
    guide : Path or None
        The path of the same labels and factors on all documents, where ``problem`` holds a fold of them: its solutions
        are further starts.
    tie_intercept : bool
        Scale the intercept's prior along, as liblinear does.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from textbayes.links import make_link
    >>> from textbayes.priors import make_prior
    >>> X = sparse.csc_matrix(np.eye(6)[np.arange(60) % 6])
    >>> y = np.where(np.arange(60) % 6 < 2, 1.0, -1.0)[:, None]
    >>> prior = make_prior("laplace", 1.0)
    >>> problem = Problem(X, y, make_link("logit"), prior, prior.rescaled(np.inf))
    >>> regularisation_path(problem, [0.1, 0.2, 1.0]).n_words()[:, 0].tolist()
    [0, 2, 2]
    """
    factors = check_factors(factors, problem.y.shape[1])
    problems = [at_scale(problem, row, tie_intercept) for row in factors]
    prior = problem.prior
    if inference == "coordinate" and prior.smooth and prior.log_concave and not prior.signed:
        inference = "newton"
    if inference != "coordinate" or prior.smooth or not prior.exact_local:
        method = make_inference(inference, tol, max_iter, n_jobs)
        return _one_after_the_other(problems, factors, method, guide)
    Coordinate.check(problem.link, prior)
    n_labels = factors.shape[1]
    blocks = blocks_of(n_labels)
    in_turn = longest_first(blocks, problem.y)

    def solve(block: range) -> list[list[Solution]]:
        known = None if guide is None else [row[block.start : block.stop] for row in guide.solutions]
        return solve_path(problems, block, tol, max_iter, known)

    solved = dict(zip(in_turn, in_parallel(solve, in_turn, n_jobs), strict=True))
    joined = [[fit for block in blocks for fit in solved[block][point]] for point in range(len(factors))]
    return Path(factors, joined, problem.X.shape[1])


def _one_after_the_other(
    problems: Sequence[Problem], factors: FloatArray, inference: BaseInference, guide: Path | None
) -> Path:
    """Each fit from the guide's at the same point, else from the one before, else from the prior means."""
    solutions: list[list[Solution]] = []
    start: Posterior | None = None
    for point, problem in enumerate(problems):
        inference.check(problem.link, problem.prior)
        if guide is not None:
            start = guide.posterior(point)
        start = inference.run(problem, start)
        solutions.append([_packed(start, label) for label in range(len(start.intercept))])
    return Path(factors, solutions, problems[0].X.shape[1])


def _packed(fit: Posterior, label: int) -> Solution:
    columns: AnyArray = np.flatnonzero(fit.mean[label])
    info = fit.info
    return Solution(
        columns, fit.mean[label, columns], float(fit.intercept[label]), float(info.objective[label]),
        float(info.violation[label]), int(info.n_iter[label]), bool(info.converged[label]),
    )  # fmt: skip
