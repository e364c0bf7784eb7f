"""MAP by proximal Newton with coordinate descent on working sets: the fast default.

Labels are solved in blocks. A round computes the full gradient of every unfinished label of the block in one reading
of the matrix; each label then takes the words that violate its optimality conditions most into its working set and
solves on those alone (with the exact curvature of a document where it is positive, else with a majorising one, and
with a line search in either case). A label is finished when no word violates by more than ``tol`` times the largest
violation at the start.

A prior that is not log-concave is seen from the present weights anew after every step, as a weighted lasso or ridge
penalty that lies above it (local linear approximation, Zou & Li 2008), so that no step lowers the posterior.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.inference import inferences
from textbayes.inference._label import MAX_NEWTON, LabelFit, solve_in_blocks
from textbayes.inference.base import BaseInference, Posterior, Problem
from textbayes.inference.starts import away_from_pole
from textbayes.kernels.coordinate import gather_columns, newton_step
from textbayes.kernels.gram import gather_rows, newton_step_gram
from textbayes.kernels.sparse import times, transpose_times

_MIN_WORKING_SET = 64
_MAX_SWEEPS = 50
_SWEEP_TOL = 0.05  # sweeps end when the quadratic model's violation has fallen to this share
_MAX_GRAM = 1024  # columns; beyond that the Gram matrix leaves the cache
_TYPICAL_SWEEPS = 10


@inferences.register("coordinate")
class Coordinate(BaseInference):
    """Proximal Newton with coordinate descent on working sets, for any link and any prior."""

    name = "coordinate"
    keeps_signs = True

    def run(self, problem: Problem, start: Posterior | None = None) -> Posterior:
        start = away_from_pole(problem, start, self.n_jobs)

        def solve(labels: range, out: Posterior) -> None:
            fits = [LabelFit(problem, start, label) for label in labels]
            self._solve_block(problem.X, fits, out)

        return solve_in_blocks(problem, self.n_jobs, solve)

    def _solve_block(self, X: Any, fits: list[LabelFit], out: Posterior) -> None:
        weights = np.stack([fit.w for fit in fits], axis=1)
        eta = times(X.indptr, X.indices, X.data, weights, X.shape[0])
        for k, fit in enumerate(fits):
            fit.eta = eta[:, k] + fit.b
            fit.start_intercept()
            self.record(fit.label, fit.w, fit.b)
        for round_ in range(self.max_iter + 1):
            scores = np.stack([fit.refresh() for fit in fits], axis=1)
            gradients = np.ascontiguousarray(transpose_times(X.indptr, X.indices, X.data, scores).T)
            unfinished = []
            for fit, gradient in zip(fits, gradients, strict=True):
                violation = fit.violation(gradient)
                if round_ == self.max_iter or fit.worst(violation) <= self.tol * fit.reference:
                    fit.write(out, violation, self.tol)
                else:
                    self._solve_working_set(fit, violation)
                    unfinished.append(fit)
            fits = unfinished
            if not fits:
                return

    def _solve_working_set(self, fit: LabelFit, violation: FloatArray) -> None:
        """Newton steps on the words that violate most, until their violation is a fraction of the full one."""
        working_set = _WorkingSet(fit.problem.X, _choose(fit, violation))
        columns = working_set.columns
        target = max(0.1 * fit.worst(violation), 0.3 * self.tol * fit.reference)
        for _ in range(MAX_NEWTON):
            center, l1, l2 = (part[columns] for part in fit.penalty)
            left, new_w, shift, eta_step, _ = working_set.newton_step(
                fit.score, fit.omega, center, l1, l2, fit.low[columns], fit.high[columns], fit.w[columns], fit.b,
                fit.intercept_l1, fit.intercept_l2,
            )  # fmt: skip
            if left <= target or not fit.line_search(new_w, shift, eta_step, columns):
                return
            fit.relinearise()
            self.record(fit.label, fit.w, fit.b)


class _WorkingSet:
    """The columns a label is solved on, laid out for the cheaper of the two kernels."""

    def __init__(self, X: Any, columns: IntArray) -> None:
        self.columns = columns
        indptr, indices, data = gather_columns(X.indptr, X.indices, X.data, columns)
        self._arrays: tuple[Any, ...] = indptr, indices, data
        self._step: Any = newton_step
        size = len(columns)
        if size <= _MAX_GRAM:
            *rows, n_pairs = gather_rows(indptr, indices, data, X.shape[0])
            if n_pairs + size * size * _TYPICAL_SWEEPS < 2 * len(data) * _TYPICAL_SWEEPS:
                self._arrays, self._step = tuple(rows), newton_step_gram

    def newton_step(self, *model: AnyArray | float) -> tuple[float, FloatArray, float, FloatArray, int]:
        return self._step(*self._arrays, *model, _SWEEP_TOL, _MAX_SWEEPS)


def _choose(fit: LabelFit, violation: FloatArray) -> IntArray:
    """The support and the worst violators, twice as many as the support or a minimum."""
    support = fit.w != fit.penalty.center
    support |= (fit.penalty.l1 == 0.0) & (violation > 0.0)  # without a kink every word takes part
    ranked = np.where(support, np.inf, violation)
    size = min(max(_MIN_WORKING_SET, 2 * int(support.sum())), int((ranked > 0.0).sum()))
    return np.sort(np.argsort(-ranked, kind="stable")[:size])
