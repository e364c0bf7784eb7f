"""The mode of a softmax regression by coordinate descent on working sets, class by class.

With the other classes held, a class has a logistic regression with an offset (see ``kernels.multinomial.softmax``), so
the working sets, kernels and line search of the linear models serve here as they are. A round computes the gradient of
all classes in one reading of the matrix; then every class in turn takes Newton steps on the words that violate its
optimality conditions most, given the classes as the ones before it left them.
"""

from __future__ import annotations

import numpy as np

from textbayes.core.types import FloatArray
from textbayes.inference._label import LabelFit
from textbayes.inference._working_set import WorkingSet, choose
from textbayes.inference.base import BaseInference, Posterior, Problem
from textbayes.inference.starts import away_from_pole
from textbayes.kernels.multinomial.softmax import rest_of
from textbayes.models.multinomial.newton import SoftmaxNewton
from textbayes.models.multinomial.state import SoftmaxFit

_GROWTH = 1.0  # times the support: words that a working set may add to it
_PASSES = 2  # over the classes, between two readings of the whole matrix
_SWEEP_TOL = 0.2  # sweeps end when the quadratic model's violation has fallen to this share
_SUB_GOAL = 0.1  # or until its violation has fallen to this share of the full one
_SETTLED = 1e-3  # documents with less than this share of the largest curvature are settled: see the kernels


class SoftmaxCoordinate(BaseInference):
    """Coordinate descent on working sets, class by class, for any prior."""

    name = "coordinate"
    keeps_signs = True

    def run(self, problem: Problem, start: Posterior | None = None) -> Posterior:
        """The mode, from ``start`` where one is given."""
        state = SoftmaxFit(problem, away_from_pole(problem, start, self.n_jobs, SoftmaxNewton))
        if problem.prior.pole:  # a fit that must not start at the prior mean is measured against what is there
            state.reference = SoftmaxFit(problem, None).largest_slope()
        for round_ in range(self.max_iter + 1):
            _, violations, left = state.violations()
            if round_ == self.max_iter or left <= self.tol:
                break
            self._round(state, violations, max(_SUB_GOAL * left, 0.3 * self.tol) * state.reference)
        return state.posterior(left, self.tol)

    def _round(self, state: SoftmaxFit, violations: list[FloatArray], target: float) -> None:
        sets = [
            WorkingSet(fit, choose(fit, violation, _GROWTH))
            for fit, violation in zip(state.classes, violations, strict=True)
        ]
        rest = np.empty(state.eta.shape[0])
        for _ in range(_PASSES):
            moved = [
                self._class_step(state, fit, working_set, rest, target)
                for fit, working_set in zip(state.classes, sets, strict=True)
            ]
            state.n_iter += 1
            if not any(moved):
                break
        state.refresh()

    def _class_step(
        self, state: SoftmaxFit, fit: LabelFit, working_set: WorkingSet, rest: FloatArray, target: float
    ) -> bool:
        rest_of(state.eta, fit.label, rest)
        fit.eta = state.eta[:, fit.label] - rest
        fit.refresh()
        if not working_set.newton_step(_SWEEP_TOL, _SETTLED * float(fit.omega.max()), target):
            return False
        fit.relinearise()
        state.eta[:, fit.label] = fit.eta + rest
        return True
