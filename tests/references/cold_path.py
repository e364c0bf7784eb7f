"""Fits at every scale of a path, each from the prior means: a reference for ``regularisation_path``."""

from __future__ import annotations

from numpy.typing import ArrayLike

from textbayes.inference import Problem
from textbayes.inference.coordinate import Coordinate
from textbayes.tune import Path, regularisation_path
from textbayes.tune.path import check_factors


def cold_path(problem: Problem, factors: ArrayLike, tol: float = 1e-8) -> Path:
    """Fit the points one by one, each from the prior means and to a tight tolerance."""
    factors = check_factors(factors, problem.y.shape[1])
    alone = [regularisation_path(problem, row[None], Coordinate(tol, 1000)) for row in factors]
    return Path(factors, [path.solutions[0] for path in alone], problem.X.shape[1])
