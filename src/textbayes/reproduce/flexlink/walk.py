"""Fits over a grid of degrees of freedom and γ for one skewness: posterior modes, and the paper's EM as printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from textbayes.core.types import BoolArray, FloatArray
from textbayes.inference import Posterior, Problem
from textbayes.inference.coordinate import Coordinate
from textbayes.inference.em import Em
from textbayes.inference.starts import best_of_starts, least_squares_start
from textbayes.links import make_link
from textbayes.links.base import BaseLink
from textbayes.priors.laplace import Laplace

Rate = Callable[[float], float]

PROBIT_DF, LOGIT_DF = 30.0, 8.0  # degrees of freedom that stand for the probit and for the logit link

_COLD = 1e-4  # tolerance of a cold start, as a share of the largest gradient there
_WARM = 1e-2  # tolerance of a warm start, as a share of the penalty that the gradients must not exceed
_MAX_ITER = 300
PRINTED_STOP = 0.005  # Δ, the relative change ‖β′ − β‖/‖β‖ at which the paper ends EM
_MAX_STEPS = 5000  # a bound that no fit comes near
_HALF = 0.5 + 1e-12  # a document that no weight moves has p = ½ up to rounding, and p must be above ½
_FEW_DF = 2.0  # up to here a second start found modes of a higher posterior often enough to be worth its time


class GridFit(NamedTuple):
    """The weights of all labels at one point of the grid."""

    df: float
    gamma: float
    link: BaseLink
    posterior: Posterior

    def probability(self, X: Any) -> FloatArray:
        """p(y = 1) of every document and label."""
        return self.link.probability(np.asarray(X @ self.posterior.mean.T) + self.posterior.intercept)

    def decide(self, X: Any) -> BoolArray:
        """Whether p(y = 1) > ½, the rule of eq. 2."""
        return above_half(self.probability(X))


def above_half(probability: FloatArray) -> BoolArray:
    """Whether probabilities are above ½ by more than rounding."""
    return probability > _HALF


def printed_rate(gamma: float) -> float:
    """The Laplace rate of γ in the E-step as printed, E[1/τ] = γ/|β| (eq. 9): γ itself."""
    return gamma


def derived_rate(gamma: float) -> float:
    """The Laplace rate of γ in the model as stated: √γ, which is what τ ~ (γ/2) exp(−γτ/2) integrates to."""
    return float(np.sqrt(gamma))


def walk(
    X: Any,
    y: BoolArray,
    skew: float,
    dfs: Sequence[float],
    gammas: Sequence[float],
    words: BoolArray | None = None,
    rate: Rate = derived_rate,
    intercept: bool = True,
) -> Iterator[GridFit]:
    """Fits from the largest degrees of freedom to the smallest, and for each from the largest γ to the smallest.

    With ν → ∞ the log-likelihood is concave, with few degrees of freedom it is not: the mode found depends on the
    start. A fit starts at the mode of the next larger γ; with 2 degrees of freedom or fewer it is run from the mode of
    the next larger ν as well, and the mode of higher posterior is kept, label by label.

    Parameters
    ----------
    X : matrix (n_docs, n_words)
    y : bool array (n_docs, n_labels)
    skew, dfs, gammas
        δ and the grids of ν and γ.
    words : bool array (n_labels, n_words), optional
        The words each label may use.
    rate
        The Laplace rate of a γ.
    intercept
        Whether there is one; it is free.
    """
    above: dict[float, Posterior] = {}
    columns = as_columns(X)
    for df in sorted(dfs, reverse=True):
        link = make_link(f"skew_t:df={df},skew={skew}")
        last: Posterior | None = None
        before = 0.0  # the penalty at the last mode, and so the largest gradient there, which tolerances are shares of
        here: dict[float, Posterior] = {}
        for gamma in sorted(gammas, reverse=True):
            level = rate(gamma)
            problem = _problem(columns, y, link, level, words, intercept)
            starts = [last] if last is not None else [above.get(gamma)]
            if df <= _FEW_DF and gamma in above:
                starts = [last, above[gamma]]
            warm = _WARM * (level / before if last is not None else 1.0)
            tolerance = _COLD if any(start is None for start in starts) else warm
            here[gamma] = last = best_of_starts(Coordinate(tolerance, _MAX_ITER), problem, starts)
            before = level
            yield GridFit(df, gamma, link, last)
        above = here


def printed_em(
    X: Any,
    y: BoolArray,
    skew: float,
    dfs: Sequence[float],
    gammas: Sequence[float],
    words: BoolArray | None = None,
    rate: Rate = derived_rate,
    intercept: bool = True,
    stop: float = PRINTED_STOP,
) -> Iterator[GridFit]:
    """Fits by the paper's EM (eq. 5 to 15), from (εI + H'H)⁻¹H'y to a relative change of ``stop``.

    At the printed 0.005 they end well before the mode: most weights that the mode has at zero, and many others, are
    still on their way. Parameters as for :func:`walk`.
    """
    columns, start = as_columns(X), None
    for df in dfs:
        link = make_link(f"skew_t:df={df},skew={skew}")
        for gamma in gammas:
            problem = _problem(columns, y, link, rate(gamma), words, intercept)
            if start is None:  # the same for every point of the grid
                start = least_squares_start(problem, negative=0.0)
            yield GridFit(df, gamma, link, Em(stop, _MAX_STEPS, plain=True).run(problem, start))


def _problem(
    columns: Any, y: BoolArray, link: BaseLink, level: float, words: BoolArray | None, intercept: bool
) -> Problem:
    """The regressions of all labels with a Laplace prior of rate ``level``; an intercept is free."""
    prior = Laplace(scale=1.0 / level)
    free = prior.rescaled(np.inf) if intercept else None
    return Problem(columns, np.where(y, 1.0, -1.0), link, prior, free, None, words)


def as_columns(X: Any) -> sparse.csc_matrix:
    """X as the inferences take it: columns of floats with int32 row numbers."""
    columns = sparse.csc_matrix(X)
    arrays = columns.data.astype(np.float64), columns.indices.astype(np.int32), columns.indptr.astype(np.int32)
    return sparse.csc_matrix(arrays, shape=columns.shape)
