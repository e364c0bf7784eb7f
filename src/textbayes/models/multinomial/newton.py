"""The mode of a softmax regression by truncated Newton with conjugate gradients, for priors without a kink.

All classes take part in one system, whose product with a vector costs two readings of the matrix whatever their number.
A step need not be known better than it is worth, so these products are in single precision until the end is near.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from textbayes.core.types import AnyArray, FloatArray
from textbayes.inference.base import BaseInference, Posterior, Problem
from textbayes.kernels.multinomial.products import times_classes, transpose_times_classes
from textbayes.kernels.multinomial.softmax import curvature_times
from textbayes.kernels.sparse import times
from textbayes.models.multinomial.state import SoftmaxFit

_MAX_CG = 200
_LOOSEST, _TIGHTEST = 0.7, 0.01  # a Newton system is solved to this share of its slope, more tightly near the end
_SINGLE = 1e-4  # relative violation down to which single precision serves
_ARMIJO = 0.01
_SMALLEST_STEP = 1e-10
_ROUNDING = 64.0 * float(np.finfo(float).eps)  # relative error that sums over documents and words may have


class SoftmaxNewton(BaseInference):
    """Truncated Newton, faster than coordinate descent where every word has a weight."""

    name = "newton"
    requires_prior = ("smooth",)

    def run(self, problem: Problem, start: Posterior | None = None) -> Posterior:
        """The mode, from ``start`` where one is given."""
        state = SoftmaxFit(problem, start)
        double = _System(problem.X, np.float64)
        single = _System(problem.X, np.float32)
        for round_ in range(self.max_iter + 1):
            gradients, _, left = state.violations()
            if round_ == self.max_iter or left <= self.tol:
                break
            step = _Step(state, gradients)
            tol = float(np.clip(np.sqrt(left), _TIGHTEST, _LOOSEST))
            if not ((left > _SINGLE and step.take(single, tol)) or step.take(double, tol)):
                break
        return state.posterior(left, self.tol)


class _System:
    """Products with the matrix in one precision."""

    def __init__(self, X: Any, dtype: Any) -> None:
        self.dtype, self._X = dtype, X

    @cached_property
    def _data(self) -> AnyArray:
        return self._X.data.astype(self.dtype, copy=False)

    def curvature_times(self, search: AnyArray, proba: AnyArray, weight: AnyArray) -> AnyArray:
        """XᵀHX times a change of the weights, that of the intercepts last."""
        X, moved = self._X, np.empty(proba.shape, self.dtype)
        times_classes(X.indptr, X.indices, self._data, search[:-1], moved)
        moved += search[-1]
        bent = np.empty_like(moved)
        curvature_times(proba, weight, moved, bent)
        product = np.empty_like(search)
        transpose_times_classes(X.indptr, X.indices, self._data, bent, product[:-1])
        product[-1] = bent.sum(axis=0)
        return product


class _Step:
    """One Newton step of all classes; arrays are (n_features + 1, n_classes), the intercepts last."""

    def __init__(self, state: SoftmaxFit, gradients: FloatArray) -> None:
        self._state = state
        fits = state.classes
        self._has_intercept = state.problem.intercept_prior is not None
        self._offset = np.empty((gradients.shape[1] + 1, len(fits)))
        self._l2 = np.empty_like(self._offset)
        for c, fit in enumerate(fits):
            self._offset[:-1, c], self._offset[-1, c] = fit.w - fit.penalty.center, fit.b
            self._l2[:-1, c], self._l2[-1, c] = fit.penalty.l2, fit.intercept_l2
        self._slope = np.vstack([gradients.T, [fit.score.sum() for fit in fits]]) - self._l2 * self._offset
        if not self._has_intercept:
            self._slope[-1] = 0.0

    def take(self, system: _System, tol: float) -> bool:
        """Solve for the step, to ``tol``, and go along it; False where nothing can be gained by it."""
        direction, X = self._direction(system, tol), self._state.problem.X
        # In double precision: predictors that drift away from the weights would lead to another optimum.
        eta_step = times(X.indptr, X.indices, X.data, direction[:-1], X.shape[0]) + direction[-1]
        return self._line_search(direction, eta_step)

    def _direction(self, system: _System, tol: float) -> FloatArray:
        """Solve (XᵀHX + diag(l2)) d = slope by conjugate gradients."""
        state, dtype = self._state, system.dtype
        proba, weight = state.proba.astype(dtype), state.document_weight.astype(dtype)
        l2, residual = self._l2.astype(dtype), self._slope.astype(dtype)
        scale = self._preconditioner().astype(dtype)
        scaled = residual * scale
        search, rho = scaled.copy(), _dot(residual, scaled)
        direction = np.zeros_like(residual)
        target = tol**2 * rho
        for _ in range(_MAX_CG):
            product = system.curvature_times(search, proba, weight)
            product += l2 * search
            if not self._has_intercept:
                product[-1] = 0.0
            curvature = _dot(search, product)
            if not curvature > 0.0:
                break
            size = dtype(rho / curvature)
            direction += size * search
            residual -= size * product
            scaled = residual * scale
            rho, before = _dot(residual, scaled), rho
            if rho <= target:
                break
            search *= dtype(rho / before)
            search += scaled
        return direction.astype(np.float64)

    def _preconditioner(self) -> FloatArray:
        """Inverse curvatures: the prior's and an average of the documents' for words, exact ones for intercepts.

        Exact ones for words as well take more steps: words of many documents go together.
        """
        state = self._state
        bent = state.proba * (1.0 - state.proba)
        if len(state.document_weight):
            bent *= state.document_weight[:, None]
        of_intercepts = bent.sum(axis=0)
        X = state.problem.X
        average = float((X.data @ X.data) / max(1, X.shape[1] * X.shape[0]) * of_intercepts.mean())
        curvature = self._l2.copy()
        curvature[:-1] += average
        curvature[-1] += of_intercepts
        return 1.0 / np.maximum(curvature, 1e-12)

    def _line_search(self, direction: FloatArray, eta_step: FloatArray) -> bool:
        state = self._state
        straight = float(np.sum(self._l2 * self._offset * direction))
        bent = float(np.sum(self._l2 * direction**2))
        slope = -float(np.sum(self._slope * direction))
        rounding = _ROUNDING * (abs(state.likelihood) + float(np.sum(self._l2 * self._offset**2)))
        proba, size = np.empty_like(state.proba), 1.0
        while slope < 0.0 and size > _SMALLEST_STEP:
            eta = state.eta + size * eta_step
            likelihood = state.likelihood_at(eta, proba)
            loss = size * straight + 0.5 * size**2 * bent - likelihood + state.likelihood
            if loss <= _ARMIJO * size * slope + rounding:
                for c, fit in enumerate(state.classes):
                    fit.w = fit.w + size * direction[:-1, c]
                    fit.b += size * float(direction[-1, c])
                    fit.relinearise()
                state.eta, state.proba, state.likelihood = eta, proba, likelihood
                state.n_iter += 1
                return True
            size /= 2.0
        return False


def _dot(a: AnyArray, b: AnyArray) -> float:
    """Σ a·b in double precision."""
    return float(np.sum(a * b, dtype=np.float64))
