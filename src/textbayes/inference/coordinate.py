"""MAP by proximal Newton with coordinate descent on working sets: the fast default.

Labels are solved in blocks. A round computes the full gradient of every unfinished label of the block in one reading
of the matrix; each label then takes the words that violate its optimality conditions most into its working set and
solves on those alone (exact Newton curvature where the link is log-concave, a majorising one elsewhere, line search in
either case). A label is finished when no word violates by more than ``tol`` times the largest violation at the start.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from textbayes.core.protocols import LocalPenalty
from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.inference import inferences
from textbayes.inference.base import BaseInference, FitInfo, Posterior, Problem
from textbayes.kernels import coordinate as kernel
from textbayes.kernels.gram import gather_rows, newton_step_gram
from textbayes.kernels.sparse import times, transpose_times

_MIN_WORKING_SET = 64
_MAX_NEWTON = 50
_MAX_SWEEPS = 50
_SWEEP_TOL = 0.05  # sweeps end when the quadratic model's violation has fallen to this share
_MAX_GRAM = 1024  # columns; beyond that the Gram matrix leaves the cache
_TYPICAL_SWEEPS = 10
_ARMIJO = 0.01
_BLOCK = 16  # labels that share one reading of the matrix: bounds memory at n_docs × 16 scores
_SMALLEST_STEP = 1e-10
_HESSIAN_FLOOR = 1e-8  # a document that is certain must not leave a word without curvature


@inferences.register("coordinate")
class Coordinate(BaseInference):
    """Proximal Newton with coordinate descent on working sets.

    Parameters
    ----------
    tol : float
        Largest optimality violation left, relative to the start's.
    max_iter : int
        Rounds of full gradients per label.
    n_jobs : int
        Threads; the kernels release the interpreter lock.
    """

    name = "coordinate"

    def __init__(self, tol: float = 1e-4, max_iter: int = 100, n_jobs: int = 1) -> None:
        self.tol, self.max_iter, self.n_jobs = tol, max_iter, n_jobs

    def run(self, problem: Problem, start: Posterior | None = None) -> Posterior:
        n_labels, n_features = problem.y.shape[1], problem.X.shape[1]
        mean = np.zeros((n_labels, n_features))
        out = Posterior(mean, np.zeros(n_labels), None, _empty_info(n_labels))
        size = max(1, min(_BLOCK, -(-n_labels // max(self.n_jobs, 1))))
        blocks = [range(first, min(first + size, n_labels)) for first in range(0, n_labels, size)]
        with ThreadPoolExecutor(max_workers=max(self.n_jobs, 1)) as pool:
            for _ in pool.map(lambda block: self._solve_block(problem, start, block, out), blocks):
                pass
        return out

    def _solve_block(self, problem: Problem, start: Posterior | None, labels: range, out: Posterior) -> None:
        X = problem.X
        open_labels = [_Label(problem, start, label) for label in labels]
        for solver, eta in zip(open_labels, _predict(X, open_labels).T, strict=True):
            solver.eta = np.ascontiguousarray(eta)
            solver.fit_intercept_alone(start is None)
        for round_ in range(self.max_iter + 1):
            scores = np.stack([solver.refresh() for solver in open_labels], axis=1)
            gradients = np.ascontiguousarray(transpose_times(X.indptr, X.indices, X.data, scores).T)
            unfinished = []
            for solver, gradient in zip(open_labels, gradients, strict=True):
                violation = solver.violation(gradient)
                if round_ == self.max_iter or violation.max(initial=solver.intercept_violation()) <= (
                    self.tol * solver.reference(gradient)
                ):
                    solver.write(out, violation, self.tol)
                else:
                    solver.solve_working_set(violation, self.tol)
                    unfinished.append(solver)
            open_labels = unfinished
            if not open_labels:
                return


class _WorkingSet:
    """The columns a label is solved on, laid out for the cheaper of the two kernels."""

    def __init__(self, X: Any, columns: IntArray) -> None:
        self.columns = columns
        self._arrays: tuple[Any, ...] = kernel.gather_columns(X.indptr, X.indices, X.data, columns)
        self._step: Any = kernel.newton_step
        nnz, size = len(self._arrays[2]), len(columns)
        if size <= _MAX_GRAM:
            indptr, indices, data = self._arrays
            *rows, n_pairs = gather_rows(indptr, indices, data, X.shape[0])
            if n_pairs + size * size * _TYPICAL_SWEEPS < 2 * nnz * _TYPICAL_SWEEPS:
                self._arrays, self._step = tuple(rows), newton_step_gram

    def newton_step(self, *model: AnyArray | float) -> tuple[float, FloatArray, float, FloatArray, int]:
        return self._step(*self._arrays, *model, _SWEEP_TOL, _MAX_SWEEPS)


class _Label:
    """The running state of one label's fit."""

    def __init__(self, problem: Problem, start: Posterior | None, label: int) -> None:
        self.label, self.problem = label, problem
        n_features = problem.X.shape[1]
        self.y = np.ascontiguousarray(problem.y[:, label])
        self.penalty: LocalPenalty = problem.prior.for_label(label, n_features).local(np.zeros(n_features))
        self.w = self.penalty.center.copy() if start is None else start.mean[label].copy()
        self.b = 0.0 if start is None else float(start.intercept[label])
        self.intercept_l1, self.intercept_l2 = _intercept_penalty(problem)
        self.eta: FloatArray = np.empty(0)
        self.n_iter = 0
        self._reference = 0.0

    # -- objective ------------------------------------------------------------------------------------------------
    def refresh(self) -> FloatArray:
        """Derivatives at the present eta; returns the score."""
        self.likelihood, self.score, self.omega = self._derivatives(self.eta, self.y, self.problem.sample_weight)
        return self.score

    def _derivatives(
        self, eta: FloatArray, y: FloatArray, weight: FloatArray | None
    ) -> tuple[float, FloatArray, FloatArray]:
        link = self.problem.link
        log_prob, score, hessian = link.derivatives(eta, y)
        omega = hessian if link.log_concave else link.curvature(eta, y)
        omega = np.maximum(omega, _HESSIAN_FLOOR)
        if weight is not None:
            log_prob, score, omega = weight * log_prob, weight * score, weight * omega
        return float(log_prob.sum()), score, omega

    def _penalty_value(self, w: FloatArray, b: float, columns: AnyArray | slice = slice(None)) -> float:
        center, l1, l2 = (part[columns] for part in self.penalty)
        offset = w - center
        of_intercept = max(self.intercept_l1, 0.0) * abs(b) + 0.5 * self.intercept_l2 * b * b
        return float(l1 @ np.abs(offset) + 0.5 * (l2 @ offset**2)) + of_intercept

    # -- optimality -----------------------------------------------------------------------------------------------
    def violation(self, gradient: FloatArray) -> FloatArray:
        """Per word the distance of zero from the subdifferential of the objective."""
        offset = self.w - self.penalty.center
        smooth = gradient - self.penalty.l2 * offset
        at_center = np.maximum(np.abs(smooth) - self.penalty.l1, 0.0)
        return np.where(offset == 0.0, at_center, np.abs(smooth - np.sign(offset) * self.penalty.l1))

    def intercept_violation(self) -> float:
        if self.problem.intercept_prior is None:
            return 0.0
        return float(kernel.violation_at(self.score.sum(), self.b, self.intercept_l1, self.intercept_l2))

    def reference(self, gradient: FloatArray) -> float:
        """What violations are measured against: the largest partial derivative at the start."""
        if self._reference == 0.0:
            self._reference = max(float(np.abs(gradient).max(initial=0.0)), np.finfo(float).tiny)
        return self._reference

    # -- steps ----------------------------------------------------------------------------------------------------
    def fit_intercept_alone(self, cold: bool) -> None:
        """Start a cold fit at the best intercept for the prior means, so that the first gradient is informative."""
        if not cold or self.problem.intercept_prior is None:
            return
        eta, y, weight = self.eta, self.y, self.problem.sample_weight
        if not eta.any():  # prior means of zero: documents differ only in y
            counts = [np.sum(y == sign) if weight is None else weight[y == sign].sum() for sign in (1.0, -1.0)]
            eta, y, weight = np.zeros(2), np.array([1.0, -1.0]), np.array(counts, dtype=np.float64)
        shift = 0.0
        for _ in range(_MAX_NEWTON):
            likelihood, score, omega = self._derivatives(eta + shift, y, weight)
            step = float(score.sum() / omega.sum())
            while abs(step) > 1e-6 and self._derivatives(eta + shift + step, y, weight)[0] < likelihood:
                step /= 2.0
            shift += step
            if abs(step) <= 1e-6:
                break
        self.eta = self.eta + shift
        self.b += shift

    def solve_working_set(self, violation: FloatArray, tol: float) -> None:
        """Newton steps on the words that violate most, until their violation is a fraction of the full one."""
        working_set = _WorkingSet(self.problem.X, self._choose(violation))
        target = max(0.1 * float(violation.max(initial=self.intercept_violation())), 0.3 * tol * self._reference)
        for _ in range(_MAX_NEWTON):
            if self._newton(working_set, target):
                return

    def _choose(self, violation: FloatArray) -> IntArray:
        """The support and the worst violators, twice as many as the support or a minimum."""
        support = self.w != self.penalty.center
        support |= (self.penalty.l1 == 0.0) & (violation > 0.0)  # without a kink every word takes part
        size = max(_MIN_WORKING_SET, 2 * int(support.sum()))
        ranked = np.where(support, np.inf, violation)
        size = min(size, int((ranked > 0.0).sum()))
        return np.sort(np.argsort(-ranked, kind="stable")[:size]) if size < len(ranked) else np.arange(len(ranked))

    def _newton(self, working_set: _WorkingSet, target: float) -> bool:
        """One Newton step with line search; True when the working set is solved or cannot be improved."""
        columns = working_set.columns
        center, l1, l2 = (part[columns] for part in self.penalty)
        w = self.w[columns]
        violation, new_w, shift, eta_step, _ = working_set.newton_step(
            self.score, self.omega, center, l1, l2, w, self.b, self.intercept_l1, self.intercept_l2
        )
        if violation <= target:
            return True
        self.n_iter += 1
        step = new_w - w
        old = self._penalty_value(w, self.b, columns)
        slope = self._penalty_value(new_w, self.b + shift, columns) - old - float(self.score @ eta_step)
        # Close to the optimum a step's gain drowns in the rounding of the sums it is read from.
        rounding = 4.0 * np.finfo(float).eps * (abs(self.likelihood) + old)
        size = 1.0
        while size > _SMALLEST_STEP:
            eta = self.eta + size * eta_step
            likelihood, score, omega = self._derivatives(eta, self.y, self.problem.sample_weight)
            change = self._penalty_value(w + size * step, self.b + size * shift, columns) - old
            if change - likelihood + self.likelihood <= _ARMIJO * size * slope + rounding:
                # A full step takes the new weights themselves: w + (new − w) would leave dust where new is exact.
                self.w[columns] = new_w if size == 1.0 else w + size * step
                self.b += size * shift
                self.eta, self.likelihood, self.score, self.omega = eta, likelihood, score, omega
                return False
            size /= 2.0
        return True

    def write(self, out: Posterior, violation: FloatArray, tol: float) -> None:
        """Put the result where it belongs in the posterior."""
        k, info = self.label, out.info
        out.mean[k], out.intercept[k] = self.w, self.b
        info.objective[k] = self._penalty_value(self.w, self.b) - self.likelihood
        info.violation[k] = violation.max(initial=self.intercept_violation()) / self._reference
        info.n_iter[k] = self.n_iter
        info.converged[k] = info.violation[k] <= tol


def _intercept_penalty(problem: Problem) -> tuple[float, float]:
    """(l1, l2) of the intercept; l1 = −1 tells the kernels that there is none."""
    if problem.intercept_prior is None:
        return -1.0, 0.0
    _, l1, l2 = problem.intercept_prior.local(np.zeros(1))
    return float(l1[0]), float(l2[0])


def _predict(X: Any, solvers: list[_Label]) -> FloatArray:
    weights = np.stack([solver.w for solver in solvers], axis=1)
    eta = times(X.indptr, X.indices, X.data, weights, X.shape[0])
    return eta + np.array([solver.b for solver in solvers])


def _empty_info(n_labels: int) -> FitInfo:
    return FitInfo(np.zeros(n_labels), np.zeros(n_labels), np.zeros(n_labels, np.int64), np.zeros(n_labels, np.bool_))
