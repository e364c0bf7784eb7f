"""Warm-started MAP fits of a block of labels along a falling penalty, for priors with a kink; its working sets.

What makes a point of the path cheap is shared with its neighbours. A label enters it from its own solution at the point
before or, where there is a guide (the path on all documents, when this is a fold of them), from the better of two: the
guide's solution at the same point, and its own moved as the guide moved. The gradient that ended the last point screens
the words of this one: only a working set of those that violate the new penalty most is solved on, and one reading of
the matrix for all labels of the block tells whether a word left out should have been in. (The
sequential strong rule of Tibshirani et al. 2012, JRSS B 74, would keep every word: on a grid of ten values the penalty
falls by more than half from point to point.) Newton steps read documents that are settled only once
(``kernels/linear/coordinate.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from textbayes.core.machine import COPIED, room_for_copy, working_memory
from textbayes.core.types import FloatArray, IntArray
from textbayes.inference._label import MAX_NEWTON, LabelFit
from textbayes.inference.base import Problem
from textbayes.kernels.linear.coordinate import gather_columns, newton_step
from textbayes.kernels.linear.gram import count_pairs, gather_row_block, newton_step_gram
from textbayes.kernels.sparse import times, transpose_times

_MIN_NEW = 64  # words that a working set may add to the support at least
_MAX_SWEEPS = 50
_MAX_GRAM = 1024  # columns; beyond that the Gram matrix leaves the cache
_TYPICAL_SWEEPS = 10


class WorkingSet:
    """Columns of a label's matrix, solved by the cheaper of the two kernels.

    Copies of the matrix take no more memory than ``working_memory`` allows; the result does not depend on it.
    """

    def __init__(self, fit: LabelFit, columns: IntArray) -> None:
        self._fit, self.columns = fit, columns
        X = fit.problem.X
        starts, stops = column_ends(X, columns)
        self._columns: Any = starts, stops, X.indices, X.data
        self._n_rows, self._size = X.shape[0], int((stops - starts).sum())
        self._most = max(working_memory() // COPIED, 1)
        self._whole: Any = None
        n = len(columns)
        self._by_rows = False
        if n <= _MAX_GRAM:
            n_pairs = count_pairs(starts, stops, X.indices, self._n_rows)
            self._by_rows = n_pairs + n * n * _TYPICAL_SWEEPS < 2 * self._size * _TYPICAL_SWEEPS

    def newton_step(self, sweep_tol: float, floor: float, target: float) -> bool:
        """One Newton step with line search; False where the words violate by no more than ``target`` or none helps.

        Sweeps over the quadratic model end when its violation has fallen to the share ``sweep_tol``; documents with
        curvature below ``floor`` are settled: see the kernels.
        """
        fit, columns = self._fit, self.columns
        center, l1, l2 = (part[columns] for part in fit.penalty)
        step: Any = newton_step_gram if self._by_rows else newton_step
        arrays = (self._blocks,) if self._by_rows else self._columns
        more = () if self._by_rows else room_for_copy(self._size)
        left, new_w, shift, eta_step, _ = step(
            *arrays, fit.score, fit.omega, center, l1, l2, fit.low[columns], fit.high[columns], fit.w[columns],
            fit.b, fit.intercept_l1, fit.intercept_l2, sweep_tol, _MAX_SWEEPS, floor, target, *more,
        )  # fmt: skip
        return left > target and fit.line_search(new_w, shift, eta_step, columns)

    def _blocks(self) -> Iterator[tuple[int, int, Any]]:
        """The rows of the sub-matrix, in blocks that memory has room for: first, last, and CSR arrays."""
        if self._whole is not None:
            yield self._whole
            return
        starts, stops, indices, data = self._columns
        cursors = starts.copy()
        n_blocks = min(-(-self._size // self._most), self._n_rows) or 1
        ends = [self._n_rows * k // n_blocks for k in range(n_blocks + 1)]
        for first, last in pairwise(ends):
            block = first, last, gather_row_block(cursors, stops, indices, data, first, last)
            if n_blocks == 1:
                self._whole = block
            yield block


def column_ends(X: Any, columns: IntArray) -> tuple[IntArray, IntArray]:
    """Where columns of a CSC matrix begin and end, as kernels take it."""
    return X.indptr[columns].astype(np.int64), X.indptr[columns + 1].astype(np.int64)


def choose(fit: LabelFit, violation: FloatArray, growth: float, share: float = 0.0) -> IntArray:
    """The support and the worst violators: ``growth`` times as many as the support, a share of all, or a minimum."""
    chosen = fit.w != fit.penalty.center
    chosen |= (fit.penalty.l1 == 0.0) & (violation > 0.0)  # without a kink every word takes part
    candidates = np.flatnonzero((violation > 0.0) & ~chosen)
    most = max(_MIN_NEW, int(growth * np.count_nonzero(chosen)), int(share * len(candidates)))
    if len(candidates) > most:
        candidates = candidates[np.argpartition(violation[candidates], -most)[-most:]]
    chosen[candidates] = True
    return np.flatnonzero(chosen)


_GROWTH = 0.5  # times the support: words that a working set may add to it
_SWEEP_TOL = 0.1  # the quadratic model need not be solved better than the likelihood resembles it
_SUB_GOAL = 0.1  # a working set is left when its violation has fallen to this share of the full one
_STALLED = 10.0  # times tol²: relative gain in a round below which a fit has arrived
_THIN = 0.01  # documents whose curvature is below this share of the smallest penalty are settled
_THIN_MOST = 1e-3  # and below this share of the largest curvature


class Solution(NamedTuple):
    """One label at one point: the words away from zero and their weights; optimality as in ``FitInfo``."""

    columns: IntArray
    weights: FloatArray
    intercept: float
    objective: float
    violation: float
    n_iter: int
    converged: bool


class _End(NamedTuple):
    gradient: FloatArray
    violation: float
    converged: bool


class _Start(NamedTuple):
    w: FloatArray
    b: float
    eta: FloatArray
    gradient: FloatArray | None  # where it is known


def solve_path(
    problems: Sequence[Problem], labels: range, tol: float, max_iter: int, guide: Sequence[Sequence[Solution]] | None
) -> list[list[Solution]]:
    """Solutions[point][label in block] of problems that differ in the scale of their prior alone, widest last.

    A fit ends when its largest violation is at most ``tol`` times the largest partial derivative at its start, or when
    a whole round lowers the objective by less than 10·tol² of itself.
    """
    X = problems[0].X
    largest = float(np.abs(X.data).max(initial=0.0)) or 1.0
    own: list[_Start | None] = [None] * len(labels)
    path: list[list[Solution]] = []
    fits = [LabelFit(problems[0], None, label) for label in labels]
    for point, problem in enumerate(problems):
        fits, gradients = [fit.rescaled(problem) for fit in fits], []
        for k, fit in enumerate(fits):
            gradients.append(_enter(fit, own[k], None if guide is None else [row[k] for row in guide[: point + 1]]))
        ends = _BlockSolver(X, tol, max_iter, largest).run(fits, gradients)
        own = [_Start(fit.w, fit.b, fit.eta, end.gradient) for fit, end in zip(fits, ends, strict=True)]
        path.append([_solution(fit, end) for fit, end in zip(fits, ends, strict=True)])
    return path


def _solution(fit: LabelFit, end: _End) -> Solution:
    columns = np.flatnonzero(fit.w)
    violation = end.violation / fit.reference
    return Solution(columns, fit.w[columns], fit.intercept, fit.objective(), violation, fit.n_iter, end.converged)


def null_gradient(problem: Problem) -> FloatArray:
    """The gradient (n_labels, n_features) of the log-likelihood at the prior means and the best intercept for them."""
    X, n_labels = problem.X, problem.y.shape[1]
    fits = [LabelFit(problem, None, label) for label in range(n_labels)]
    for fit in fits:
        _enter(fit, None, None)
    gradient = transpose_times(X.indptr, X.indices, X.data, np.stack([fit.score for fit in fits], axis=1)).T
    for fit, row in zip(fits, gradient, strict=True):
        if fit.allowed is not None:
            row[~fit.allowed] = 0.0
        if fit.one_sided:
            row[:] = 0.0
    return gradient


# -- where a fit starts -----------------------------------------------------------------------------------------------
def _enter(fit: LabelFit, own: _Start | None, guide: Sequence[Solution] | None) -> FloatArray | None:
    """Put the fit at the start of highest posterior; returns the gradient there, if it is known."""
    starts: list[_Start] = []
    if guide is not None and not fit.one_sided:
        starts.append(_at(fit, guide[-1]))
        if own is not None and len(guide[-1].columns):
            starts.append(_moved(fit, own, guide[-2], guide[-1]))
    elif own is not None and not fit.one_sided:
        starts.append(own)
    if not starts:
        fit.eta = (np.asarray(fit.problem.X @ fit.w) if fit.w.any() else np.zeros(len(fit.y))) + fit.intercept
        fit.start_intercept()
        fit.refresh()
        return None
    tried = [(_put(fit, start), start, fit.likelihood, fit.score, fit.omega) for start in starts]
    _, best, fit.likelihood, fit.score, fit.omega = min(tried, key=lambda one: one[0])
    fit.w, fit.b, fit.eta = best.w.copy(), best.b, best.eta
    if best.w.any():
        return best.gradient
    # Where the prior holds every word at zero, a fit is its intercept, which needs no reading of the matrix.
    fit.cold = True
    fit.start_intercept()
    if fit.b == best.b:
        return best.gradient
    fit.refresh()
    return None


def _put(fit: LabelFit, start: _Start) -> float:
    fit.w, fit.b, fit.eta = start.w, start.b, start.eta
    fit.refresh()
    return fit.objective()


def _at(fit: LabelFit, solution: Solution) -> _Start:
    w = np.zeros_like(fit.w)
    w[solution.columns] = solution.weights
    eta = _predictor(fit.problem.X, solution.columns, w, solution.intercept)
    return _Start(w, solution.intercept - fit.intercept_mean, eta, None)


def _moved(fit: LabelFit, own: _Start, before: Solution, after: Solution) -> _Start:
    """The label's own last solution, moved as the guide moved from the last point to this one."""
    move = np.zeros_like(own.w)
    move[after.columns] = after.weights
    move[before.columns] -= before.weights
    w = own.w + move
    w[w * own.w < 0.0] = 0.0  # a word that would change sides stops at zero
    w = np.clip(w, fit.low + fit.penalty.center, fit.high + fit.penalty.center)
    b = own.b + after.intercept - before.intercept
    return _Start(w, b, _predictor(fit.problem.X, np.flatnonzero(w), w, b + fit.intercept_mean), None)


def _predictor(X: Any, columns: IntArray, w: FloatArray, b: float) -> FloatArray:
    arrays: tuple[Any, Any, Any] = gather_columns(X.indptr, X.indices, X.data, columns)
    return times(*arrays, w[columns][:, None], X.shape[0])[:, 0] + b


# -- the rounds of a point --------------------------------------------------------------------------------------------
class _BlockSolver:
    """Rounds of working sets for fits that share readings of the matrix."""

    def __init__(self, X: Any, tol: float, max_iter: int, largest: float) -> None:
        self.X, self.tol, self.max_iter, self.largest = X, tol, max_iter, largest
        self.stalled = _STALLED * tol * tol

    def run(self, fits: list[LabelFit], gradients: list[FloatArray | None]) -> list[_End]:
        """Fit them all; per fit its last gradient and the largest violation left."""
        ends: dict[int, _End] = {}
        values = [np.inf] * len(fits)
        going = list(range(len(fits)))
        for round_ in range(self.max_iter + 1):
            self._read([k for k in going if gradients[k] is None], fits, gradients)
            for k in going:
                fit, gradient = fits[k], gradients[k]
                assert gradient is not None
                violation = fit.violation(gradient)
                worst, value = fit.worst(violation), fit.objective()
                arrived = fit.finished(violation, self.tol) or values[k] - value <= self.stalled * abs(value)
                if arrived or round_ == self.max_iter or fit.stuck:
                    ends[k] = _End(gradient, worst, arrived or fit.stuck)
                else:
                    values[k], gradients[k] = value, None
                    self._solve_working_set(fit, choose(fit, violation, _GROWTH), worst, value)
            going = [k for k in going if k not in ends]
            if not going:
                break
        return [ends[k] for k in range(len(fits))]

    def _read(self, needed: list[int], fits: list[LabelFit], gradients: list[FloatArray | None]) -> None:
        """The missing gradients, all in one reading of the matrix."""
        if needed:
            scores = np.stack([fits[k].score for k in needed], axis=1)
            columns = transpose_times(self.X.indptr, self.X.indices, self.X.data, scores)
            for k, gradient in zip(needed, np.ascontiguousarray(columns.T), strict=True):
                gradients[k] = gradient

    def _solve_working_set(self, fit: LabelFit, columns: IntArray, worst: float, value: float) -> None:
        working_set = WorkingSet(fit, columns)
        target = max(_SUB_GOAL * worst, 0.3 * self.tol * fit.reference)
        smallest = float(fit.penalty.l1[columns].min(initial=np.inf)) / self.largest
        for _ in range(MAX_NEWTON):
            floor = min(_THIN * smallest, _THIN_MOST * float(fit.omega.max()))
            if not working_set.newton_step(_SWEEP_TOL, floor, target):
                return
            if fit.gain <= 0.1 * self.stalled * abs(value):
                return
