"""MAP by proximal Newton with coordinate descent on working sets: the fast default.

Labels are solved in blocks. A round computes the full gradient of every unfinished label of the block in one reading
of the matrix; each label then takes the words that violate its optimality conditions most into its working set and
solves on those alone (with the exact curvature of a document where it is positive, else with a majorising one, and
with a line search in either case). A label is finished when no word violates by more than ``tol`` times the largest
slope at the start and steps of single words would gain next to nothing (``LabelFit.finished``).

A prior that is not log-concave is seen from the present weights anew after every step, as a weighted lasso or ridge
penalty that lies above it (local linear approximation, Zou & Li 2008), so that no step lowers the posterior.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from textbayes.core.types import FloatArray
from textbayes.inference import inferences
from textbayes.inference._label import MAX_NEWTON, LabelFit, solve_in_blocks
from textbayes.inference._path import WorkingSet, choose
from textbayes.inference.base import BaseInference, Posterior, Problem
from textbayes.inference.starts import away_from_pole
from textbayes.kernels.sparse import times, transpose_times

_GROWTH = 1.0  # times the support: words that a working set may add to it
_SHARE_NEW = 1 / 32  # or this share of those that violate: where these are many, so will be the support
_NEWTON_STEPS = 3  # per working set: a new reading of the matrix, shared by 8 labels, costs less than one more;
_HASTY_ROUNDS = 20  # in a fit that takes more rounds than this, the words are settled and the steps decide
_SUB_GOAL = 0.1  # or until its violation has fallen to this share of the full one
_INTERCEPT = 0.3  # of the words' largest violation: an intercept that is off by more is moved by itself
_SWEEP_TOL = 0.2  # sweeps end when the quadratic model's violation has fallen to this share
_SETTLED = 2e-2  # documents with less than this share of the largest curvature are settled: see the kernels


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

        return solve_in_blocks(problem, self, solve)

    def _solve_block(self, X: Any, fits: list[LabelFit], out: Posterior) -> None:
        weights = np.stack([fit.w for fit in fits], axis=1)
        if weights.any():
            eta = times(X.indptr, X.indices, X.data, weights, X.shape[0])
        else:  # the usual cold start
            eta = np.zeros((X.shape[0], len(fits)))
        for k, fit in enumerate(fits):
            fit.eta = eta[:, k] + fit.intercept
            fit.start_intercept()
            self.record(fit.label, fit.w, fit.intercept)
            fit.refresh()
        for round_ in range(self.max_iter + 1):
            scores = np.stack([fit.score for fit in fits], axis=1)
            gradients = np.ascontiguousarray(transpose_times(X.indptr, X.indices, X.data, scores).T)
            unfinished = []
            for fit, gradient in zip(fits, gradients, strict=True):
                violation = fit.violation(gradient)
                if fit.finished(violation, self.tol) or round_ == self.max_iter:
                    fit.write(out, fit.relative(violation), self.tol)
                else:
                    self._solve_working_set(fit, violation, _NEWTON_STEPS if round_ < _HASTY_ROUNDS else MAX_NEWTON)
                    unfinished.append(fit)
            fits = unfinished
            if not fits:
                return

    def _solve_working_set(self, fit: LabelFit, violation: FloatArray, most_steps: int) -> None:
        """Newton steps on the words that violate most, until their violation is a fraction of the full one."""
        working_set = WorkingSet(fit, choose(fit, violation, _GROWTH, _SHARE_NEW))
        target = max(_SUB_GOAL * fit.worst(violation), 0.3 * self.tol * fit.reference)
        for _ in range(most_steps):
            if not working_set.newton_step(_SWEEP_TOL, _SETTLED * float(fit.omega.max()), target):
                break
            fit.relinearise()
            self.record(fit.label, fit.w, fit.intercept)
        # A sum over all documents is soon large beside those over a word's, and would keep settled words from ending.
        if fit.intercept_violation() > max(_INTERCEPT * float(violation.max(initial=0.0)), target):
            fit.solve_intercept()
            fit.refresh()
            self.record(fit.label, fit.w, fit.intercept)
