"""The running state of one label's MAP fit, shared by the inferences that find modes."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import numpy as np

from textbayes.core.executor import in_parallel
from textbayes.core.protocols import LocalPenalty
from textbayes.core.types import AnyArray, FloatArray
from textbayes.inference.base import BaseInference, FitInfo, Posterior, Problem
from textbayes.kernels.linear.coordinate import dot, expected_gain, penalty_value, violation_at, violations

MAX_NEWTON = 50
_GAIN = 0.02  # times tol: share of the objective that single words may still gain at the end
_ARMIJO = 0.01
_SMALLEST_STEP = 1e-10
ROUNDING = 64.0 * float(np.finfo(float).eps)  # relative error that sums over documents and words may have
_HESSIAN_FLOOR = 1e-8  # a document that is certain must not leave a word without curvature
# A document far on the wrong side has a full slope and hardly any curvature: by itself it would ask for a step of any
# length. Its curvature is taken to be at least what sends its own predictor this far. (Where tails are heavy, slopes
# fall off by themselves and predictors do go far.)
_REACH = 8.0
_BLOCK = 8  # labels at most that share one reading of the matrix


def solve_in_blocks(problem: Problem, method: BaseInference, solve: Callable[[range, Posterior], None]) -> Posterior:
    """Have ``solve`` fill a posterior, block of labels by block, on threads or by the executor in use."""
    n_labels, n_features = problem.y.shape[1], problem.X.shape[1]

    def solved(block: range) -> Posterior:
        own = _empty_posterior(n_labels, n_features)  # zeros that are not written to take no memory
        solve(block, own)
        labels = slice(block.start, block.stop)
        info = own.info
        of_block = FitInfo(info.objective[labels], info.violation[labels], info.n_iter[labels], info.converged[labels])
        return Posterior(own.mean[labels], own.intercept[labels], None, of_block)

    out, blocks = _empty_posterior(n_labels, n_features), blocks_of(n_labels)
    if method.trace is None:
        blocks = longest_first(blocks, problem.y)
        solutions: Iterable[Posterior] = in_parallel(solved, blocks, method.n_jobs)
    else:  # a trace is a list of this process: workers could not add to it
        solutions = map(solved, blocks)
    for block, found in zip(blocks, solutions, strict=True):
        labels = slice(block.start, block.stop)
        out.mean[labels], out.intercept[labels] = found.mean, found.intercept
        for whole, part in zip(out.info, found.info, strict=True):
            whole[labels] = part
    return out


def _empty_posterior(n_labels: int, n_features: int) -> Posterior:
    info = FitInfo(np.zeros(n_labels), np.zeros(n_labels), np.zeros(n_labels, np.int64), np.zeros(n_labels, np.bool_))
    return Posterior(np.zeros((n_labels, n_features)), np.zeros(n_labels), None, info)


def blocks_of(n_labels: int) -> list[range]:
    """Labels in blocks of nearly equal size, an even number of them, so that two cores end at the same time.

    The number of threads has no say in it: results must not depend on that.

    >>> blocks_of(11), blocks_of(1)
    ([range(0, 6), range(6, 11)], [range(0, 1)])
    """
    n_blocks = min(n_labels, 2 * math.ceil(n_labels / (2 * _BLOCK)))
    ends = [(k * n_labels + n_blocks - 1) // n_blocks for k in range(n_blocks + 1)]
    return [range(start, stop) for start, stop in pairwise(ends)]


def longest_first(blocks: Sequence[range], y: FloatArray) -> list[range]:
    """Blocks of labels in the order to fit them in, so that workers end at the same time: the last are the shortest.

    As a rule a label takes the longer, the more documents there are on the side that has fewer.

    >>> longest_first([range(0, 1), range(1, 3)], np.array([[1, 1, 1], [1, 1, -1], [1, -1, -1]]))
    [range(1, 3), range(0, 1)]
    """
    positive = np.array([np.count_nonzero(column > 0.0) for column in y.T])
    rarer = np.minimum(positive, len(y) - positive)
    return sorted(blocks, key=lambda block: -int(rarer[block.start : block.stop].sum()))


class LabelFit:
    """Weights, predictor, derivatives and optimality of one label."""

    def __init__(self, problem: Problem, start: Posterior | None, label: int) -> None:
        self.label, self.problem = label, problem
        n_features = problem.X.shape[1]
        self.y = np.ascontiguousarray(problem.y[:, label])
        self.link = problem.link.for_label(label)
        self.prior = problem.prior.for_label(label, n_features)
        self.penalty: LocalPenalty = self.prior.local(np.zeros(n_features))
        self.allowed = None if problem.words is None else problem.words[label]
        self.intercept_prior = problem.intercept_prior_of(label)
        self.intercept_mean = 0.0 if self.intercept_prior is None else float(self.intercept_prior.mean[0])
        self.b = 0.0  # less its prior mean: kernels know intercepts around 0
        self._relinearise_intercept()
        self.eta: FloatArray = np.empty(0)
        # All documents on one side and nothing to hold a free intercept: half a document is added to either side, the
        # intercept alone is fitted and the words stay at their prior means.
        self.one_sided = bool(self.intercept_l1 == self.intercept_l2 == 0.0 and (self._class_weights() <= 0.0).any())
        self.cold = start is None or self.one_sided
        lower, upper = self.prior.bounds((n_features,))
        self.low, self.high = lower - self.penalty.center, upper - self.penalty.center
        at = self.penalty.center if self.cold or start is None else start.mean[label]
        self.w = np.clip(at, lower, upper)  # a start need not know of signs
        if start is not None and not self.cold:
            self.b = float(start.intercept[label]) - self.intercept_mean
        self.n_iter = 0
        self.gain = 0.0  # of the last step: by how much it lowered the objective
        self.stuck = False  # no step improves the objective any more: rounding is all that is left
        self.reference = 0.0
        self.relinearise()

    def rescaled(self, problem: Problem) -> LabelFit:
        """The same label at the start of a problem that differs in the scale of its priors alone."""
        other = copy.copy(self)
        other.problem, other.prior = problem, problem.prior.for_label(self.label, len(self.w))
        other.penalty = other.prior.local(np.zeros_like(self.w))
        other.intercept_prior = problem.intercept_prior_of(self.label)
        other.w, other.b, other.cold = np.clip(other.penalty.center, *other.prior.bounds(self.w.shape)), 0.0, True
        other._relinearise_intercept()
        other.n_iter, other.gain, other.stuck, other.reference = 0, 0.0, False, 0.0
        other.relinearise()
        return other

    @property
    def intercept(self) -> float:
        return self.b + self.intercept_mean

    # -- objective ------------------------------------------------------------------------------------------------
    def refresh(self) -> FloatArray:
        """Derivatives at the present eta; returns the score."""
        self.likelihood, self.score, self.omega = self._derivatives(self.eta, self.y, self.problem.sample_weight)
        return self.score

    def _derivatives(
        self, eta: FloatArray, y: FloatArray, weight: FloatArray | None
    ) -> tuple[float, FloatArray, FloatArray]:
        link = self.link
        total, score, omega = link.likelihood(eta, y, weight)
        floor = _HESSIAN_FLOOR if weight is None else _HESSIAN_FLOOR * weight
        if link.log_concave:
            return total, score, np.maximum(omega, np.maximum(np.abs(score) / _REACH, floor))
        if (bent := omega <= 0.0).any():
            # Newton needs a model that is convex: where the exact one is not, the majorising one takes its place.
            omega[bent] = link.curvature(eta[bent], y[bent]) * (1.0 if weight is None else weight[bent])
        return total, score, np.maximum(omega, floor)

    def relinearise(self) -> None:
        """See the prior from the present weights, where its local penalty depends on them.

        The penalty lies above the prior and touches it here: what lowers the objective with it lowers the true one.
        """
        if not self.prior.exact_local:
            self.penalty = self.prior.local(self.w)
        if self.intercept_prior is not None and not self.intercept_prior.exact_local:
            self._relinearise_intercept()

    def _relinearise_intercept(self) -> None:
        """(l1, l2) of the intercept; l1 = −1 tells the kernels that there is none."""
        self.intercept_l1, self.intercept_l2 = -1.0, 0.0
        if self.intercept_prior is not None:
            _, l1, l2 = self.intercept_prior.local(np.array([self.intercept]))
            self.intercept_l1, self.intercept_l2 = float(l1[0]), float(l2[0])

    def objective(self) -> float:
        """−log likelihood − log prior up to the prior's constant, of the weights as they are."""
        return self.prior_penalty() - self.likelihood

    def prior_penalty(self) -> float:
        """−log prior of the weights and the intercept as they are, up to a constant."""
        intercept = self.intercept_prior
        if self.prior.exact_local and (intercept is None or intercept.exact_local):
            return self._penalty_value(self.w, self.b, self.penalty)
        of_intercept = 0.0 if intercept is None else float(intercept.penalty(np.array([self.intercept]))[0])
        return float(self.prior.penalty(self.w).sum()) + of_intercept

    def _class_weights(self) -> FloatArray:
        """Total weight of the positive and of the negative documents."""
        positive, weight = self.y > 0.0, self.problem.sample_weight
        if weight is None:
            return np.array([positive.sum(), (~positive).sum()], dtype=np.float64)
        return np.array([weight[positive].sum(), weight[~positive].sum()])

    def _penalty_value(self, w: FloatArray, b: float, penalty: LocalPenalty) -> float:
        of_intercept = max(self.intercept_l1, 0.0) * abs(b) + 0.5 * self.intercept_l2 * b * b
        return float(penalty_value(w, *penalty)) + of_intercept

    # -- optimality -----------------------------------------------------------------------------------------------
    def violation(self, gradient: FloatArray) -> FloatArray:
        """Per word the distance of zero from the subdifferential of the objective."""
        self.relinearise()
        violation: FloatArray = violations(gradient, self.w, *self.penalty, self.low, self.high)
        if self.one_sided:
            violation[:] = 0.0
        if self.allowed is not None:
            violation[~self.allowed] = 0.0
        if self.reference == 0.0:  # violations are measured against the largest partial derivative at the start
            self.reference = self.reference_at_mean() if self.prior.pole else self.largest_slope(gradient)
        return violation

    def largest_slope(self, gradient: FloatArray) -> float:
        """The largest partial derivative, or a share of all scores where no word tells anything."""
        of_scores = 1e-3 * float(np.abs(self.score).sum())
        return max(float(np.abs(gradient).max(initial=of_scores)), float(np.finfo(float).tiny))

    def reference_at_mean(self) -> float:
        """The largest partial derivative at the prior mean: the reference of a fit that must not start there."""
        cold = LabelFit(self.problem, None, self.label)
        cold.eta = np.asarray(self.problem.X @ cold.w) + cold.intercept
        cold.start_intercept()
        return cold.largest_slope(self.problem.X.T @ cold.refresh())

    def intercept_violation(self) -> float:
        if self.intercept_prior is None or self.one_sided:
            return 0.0
        return float(violation_at(self.score.sum(), self.b, self.intercept_l1, self.intercept_l2, -np.inf, np.inf))

    def worst(self, violation: FloatArray) -> float:
        """The largest violation, the intercept's included."""
        return float(violation.max(initial=self.intercept_violation()))

    def finished(self, violation: FloatArray, tol: float) -> bool:
        """Whether no word violates by more than ``tol`` times the reference and none has much to gain.

        The largest slope at the start may be that of a column far longer than the others, and then all of theirs look
        small beside it. What steps would gain does not depend on a column's length: where it is a share of the
        objective that matters, the reference is lowered.
        """
        worst = self.worst(violation)
        if worst > tol * self.reference:
            return False
        X, of_intercept = self.problem.X, self.intercept_violation()
        gain = float(expected_gain(X.indptr, X.indices, X.data, self.omega, violation, self.penalty.l2))
        if of_intercept > 0.0:
            gain += 0.5 * of_intercept**2 / (float(self.omega.sum()) + self.intercept_l2)
        if gain <= _GAIN * tol * (abs(self.prior_penalty()) - self.likelihood):
            return True
        self.reference = 0.1 * worst / tol
        return False

    # -- steps ----------------------------------------------------------------------------------------------------
    def start_intercept(self) -> None:
        """Move a cold start to the best intercept for the prior means, so that the first gradient is informative."""
        if self.cold:
            self.solve_intercept()

    def solve_intercept(self) -> None:
        """Move the intercept to its optimum, the words held."""
        if self.intercept_prior is None:
            return
        eta, y, weight = self.eta, self.y, self.problem.sample_weight
        if self.one_sided or np.ptp(eta) == 0.0:  # documents differ only in y
            counts = self._class_weights() + (0.5 if self.one_sided else 0.0)
            eta, y, weight = np.full(2, 0.0 if self.one_sided else eta[0]), np.array([1.0, -1.0]), counts
        l1, l2 = (0.0, 0.0) if self.one_sided else (self.intercept_l1, self.intercept_l2)

        def at(shift: float) -> tuple[float, float, float]:
            """What is to be highest, and slope and curvature of the likelihood."""
            likelihood, score, omega = self._derivatives(eta + shift, y, weight)
            b = self.b + shift
            # No document may count: there is some curvature all the same.
            return likelihood - l1 * abs(b) - 0.5 * l2 * b * b, score.sum(), max(omega.sum(), _HESSIAN_FLOOR)

        shift, (value, slope, curvature) = 0.0, at(0.0)
        for _ in range(MAX_NEWTON):
            if l1 == l2 == 0.0:
                step = slope / curvature
            else:
                b = self.b + shift
                pull = curvature * b + slope
                step = math.copysign(max(abs(pull) - l1, 0.0), pull) / (curvature + l2) - b
            while abs(step) > 1e-6 and (there := at(shift + step))[0] < value:
                step /= 2.0
            shift += step
            if abs(step) <= 1e-6:
                break
            value, slope, curvature = there
        self.eta = self.eta + shift
        self.b += shift

    def line_search(
        self, new_w: FloatArray, shift: float, eta_step: FloatArray, columns: AnyArray | slice = slice(None)
    ) -> bool:
        """Go from the present weights towards ``new_w`` as far as the objective falls enough; False if it cannot."""
        self.n_iter += 1
        w, penalty = self.w[columns], LocalPenalty(*(part[columns] for part in self.penalty))
        old = self._penalty_value(w, self.b, penalty)
        change = self._penalty_value(new_w, self.b + shift, penalty) - old
        slope = change - float(dot(self.score, eta_step))
        # Close to the optimum a step's gain drowns in the rounding of the sums it is read from.
        rounding = ROUNDING * (abs(self.likelihood) + old)
        size, here = 1.0, new_w
        while size > _SMALLEST_STEP:
            eta = self.eta + size * eta_step
            likelihood, score, omega = self._derivatives(eta, self.y, self.problem.sample_weight)
            loss = change - likelihood + self.likelihood
            if loss <= _ARMIJO * size * slope + rounding:
                self.w[columns] = here
                self.b += size * shift
                self.eta, self.likelihood, self.score, self.omega = eta, likelihood, score, omega
                self.gain = -loss
                return True
            size /= 2.0
            here = w + size * (new_w - w)
            change = self._penalty_value(here, self.b + size * shift, penalty) - old
        self.stuck = True
        return False

    def relative(self, violation: FloatArray) -> float:
        """The largest violation as a share of the reference."""
        return self.worst(violation) / self.reference

    def write(self, out: Posterior, violation: float, tol: float) -> None:
        """Put the result, with its relative violation, where it belongs in the posterior."""
        k, info = self.label, out.info
        out.mean[k], out.intercept[k] = self.w, self.intercept
        info.objective[k] = self.objective()
        info.violation[k] = violation
        info.n_iter[k] = self.n_iter
        info.converged[k] = info.violation[k] <= tol
