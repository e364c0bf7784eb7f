"""Solvers that find the mode of a softmax: the fit that they share, by classes in turn, and by Newton's method.

Identifiability. Adding the same number to a word's weights in all classes changes no probability. A prior with
curvature decides which of these vectors is the mode; the others leave a choice, which must not depend on the path that
a solver took:

- a free word or intercept (infinite scale in all classes): its weights add up to 0;
- a Laplace prior: the penalty Σ_c |w_c + t − m_c|/s_c is least at a weighted median of m_c − w_c, and where that is an
  interval (as many classes above the mean as below), at its middle.

For two classes both make the weights opposite numbers, so that each is half of the log-odds' weight.

``SoftmaxCoordinate``: with the other classes held, a class has a logistic regression with an offset (see
``kernels.multinomial``), so the working sets, kernels and line search of the linear models serve here as they
are. A round computes the gradient of all classes in one reading of the matrix; then every class in turn takes Newton
steps on the words that violate its optimality conditions most, given the classes as the ones before it left them.

``SoftmaxNewton``: all classes take part in one system, whose product with a vector costs two readings of the matrix
whatever their number. A step need not be known better than it is worth, so these products are in single precision until
the end is near.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax

from textbayes.core.types import AnyArray, FloatArray
from textbayes.inference._label import LabelFit
from textbayes.inference._path import WorkingSet, choose
from textbayes.inference.base import BaseInference, FitInfo, Posterior, Problem
from textbayes.inference.laplace_approximation import (
    active_words,
    intercept_precision,
    laplace_approximation,
    least_precision,
)
from textbayes.inference.starts import away_from_pole
from textbayes.kernels.multinomial import (
    curvature_times,
    rest_of,
    softmax_likelihood,
    times_classes,
    transpose_times_classes,
)
from textbayes.kernels.sparse import times, transpose_times
from textbayes.posterior.gaussian import LARGEST, primal_form
from textbayes.priors.base import BasePrior


def centred(problem: Problem, posterior: Posterior) -> Posterior:
    """The mode of the same probabilities and the same prior density that depends on nothing but the problem."""
    weights, intercept = posterior.mean, posterior.intercept
    weights = weights + shifts(problem.prior, weights)
    if problem.intercept_prior is not None:
        intercept = intercept + shifts(problem.intercept_prior, intercept[:, None])[0]
    return posterior._replace(mean=weights, intercept=intercept)


def shifts(prior: BasePrior, weights: FloatArray) -> FloatArray:
    """Shift to add to the weights (n_classes, n_words) of each word, 0 where the prior has a mode of its own."""
    moved = np.zeros(weights.shape[1])
    signed = np.broadcast_to(prior.sign != 0.0, weights.shape).any(axis=0)
    free = np.broadcast_to(np.isinf(prior.scale), weights.shape).all(axis=0) & ~signed
    moved[free] = -weights[:, free].mean(axis=0)
    if prior.exact_local:
        center, l1, l2 = prior.local(weights)
        open_ = ~free & ~signed & ~(l2 > 0.0).any(axis=0) & (weights != center).any(axis=0)
        moved[open_] = median_shifts((weights - center)[:, open_], l1[:, open_])
    return moved


def median_shifts(offsets: FloatArray, l1: FloatArray) -> FloatArray:
    """The middle of where Σ_c l1_c |offset_c + t| is least, for each column.

    >>> 0.0 + median_shifts(np.array([[3.0, 3.0], [0.0, 0.0], [0.0, -1.0], [0.0, -1.0]]), np.ones((4, 2)))
    array([0. , 0.5])
    """
    order = np.argsort(-offsets, axis=0)
    breaks = np.take_along_axis(-offsets, order, axis=0)
    below = np.cumsum(np.take_along_axis(l1, order, axis=0), axis=0)
    half = 0.5 * below[-1]
    rounding = 1e-9 * half
    first = (below >= half - rounding).argmax(axis=0)
    last = (below > half + rounding).argmax(axis=0)
    columns = np.arange(offsets.shape[1])
    middle: FloatArray = 0.5 * (breaks[first, columns] + breaks[last, columns])
    return middle


class SoftmaxFit:
    """Weights, predictors and derivatives of all classes together.

    The problem is that of one regression per class, y +1 for the documents of that class; every document has one. The
    fits of the classes hold the weights and see the prior; of the likelihood they get their own part.
    """

    def __init__(self, problem: Problem, start: Posterior | None) -> None:
        self.problem = problem
        self.codes = np.ascontiguousarray(problem.y.argmax(axis=1))
        self.classes = [LabelFit(problem, start, c) for c in range(problem.y.shape[1])]
        self.n_iter, self.reference, self.stuck = 0, 0.0, False
        if start is None:
            self._start_intercepts()
        X, weights = problem.X, self.weights
        self.eta: FloatArray = np.tile(self.intercepts, (X.shape[0], 1))
        if weights.any():  # not at a usual cold start
            self.eta += times(X.indptr, X.indices, X.data, weights, X.shape[0])
        self.proba: FloatArray = np.empty_like(self.eta)
        self.refresh()

    @property
    def weights(self) -> FloatArray:
        """(n_features, n_classes), as kernels read them."""
        return np.stack([fit.w for fit in self.classes], axis=1)

    @property
    def intercepts(self) -> FloatArray:
        return np.array([fit.intercept for fit in self.classes])

    @property
    def document_weight(self) -> FloatArray:
        """One weight per document, or none where all are 1: what kernels take."""
        weight = self.problem.sample_weight
        return np.empty(0) if weight is None else weight

    def _start_intercepts(self) -> None:
        """A cold start knows how many documents each class has, so that the first gradient is informative."""
        if self.problem.intercept_prior is None:
            return
        sums = np.bincount(self.codes, self.problem.sample_weight, minlength=len(self.classes))
        log_sums = np.log(np.maximum(sums, 0.5))
        for fit, value in zip(self.classes, log_sums - log_sums.mean(), strict=True):
            fit.b = float(value)

    def likelihood_at(self, eta: FloatArray, proba: FloatArray) -> float:
        """The log-likelihood at these predictors; fills ``proba``."""
        return float(softmax_likelihood(eta, self.codes, self.document_weight, proba))

    def refresh(self) -> None:
        """Likelihood and probabilities at the present predictors."""
        self.likelihood = self.likelihood_at(self.eta, self.proba)

    def scores(self) -> FloatArray:
        """∂ log-likelihood/∂eta of every document, (n_docs, n_classes)."""
        scores = -self.proba
        scores[np.arange(len(self.codes)), self.codes] += 1.0
        weight = self.problem.sample_weight
        return scores if weight is None else scores * weight[:, None]

    def gradients(self) -> FloatArray:
        """∂ log-likelihood/∂w, (n_classes, n_features), in one reading of the matrix; classes get their scores."""
        X, scores = self.problem.X, self.scores()
        for fit, score in zip(self.classes, np.ascontiguousarray(scores.T), strict=True):
            fit.score = score
        return np.ascontiguousarray(transpose_times(X.indptr, X.indices, X.data, scores).T)

    def largest_slope(self) -> float:
        """The largest partial derivative of the likelihood: what violations are measured against, at the start."""
        pairs = zip(self.classes, self.gradients(), strict=True)
        return max(fit.largest_slope(gradient) for fit, gradient in pairs)

    def violations(self) -> tuple[FloatArray, list[FloatArray], float]:
        """Gradients, every class's violations, and the largest of them relative to the largest slope at the start."""
        gradients = self.gradients()
        if self.reference == 0.0:
            self.reference = max(map(LabelFit.largest_slope, self.classes, gradients))
        for fit in self.classes:
            fit.reference = self.reference
        violations = list(map(LabelFit.violation, self.classes, gradients))
        return gradients, violations, max(map(LabelFit.worst, self.classes, violations)) / self.reference

    def objective(self) -> float:
        """−log likelihood − log prior up to the prior's constant."""
        return sum(fit.prior_penalty() for fit in self.classes) - self.likelihood

    def posterior(self, violation: float, tol: float) -> Posterior:
        """The result, given the relative violation that is left."""
        info = FitInfo(
            np.array([self.objective()]), np.array([violation]), np.array([self.n_iter]), np.array([violation <= tol])
        )
        return centred(self.problem, Posterior(np.ascontiguousarray(self.weights.T), self.intercepts, None, info))


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


_HELD = 1e6  # times the largest precision: the sum of free intercepts is 0, not merely likely to be


def standard_errors(problem: Problem, posterior: Posterior) -> tuple[FloatArray, FloatArray]:
    """Posterior standard deviations of the weights (n_classes, n_features) and of the intercepts (n_classes,).

    NaN for words that a kink or a sign holds, 0 for intercepts that are held or not there. The precision over the
    active words of all classes and the intercepts has the blocks

        X_c' diag(ω p_c (1[c = k] − p_k)) X_k + 1[c = k] diag(l2_c),

    l2 being that of the prior's local penalty, see ``laplace_approximation``. With 2,000 active weights or fewer it is
    inverted as a whole. With more, the blocks of the classes are inverted one by one: then the errors are those given
    the other classes' weights, which are smaller, by a factor of √2 for two classes of which the documents say much.
    """
    proba = softmax(np.asarray(problem.X @ posterior.mean.T) + posterior.intercept, axis=1)
    blocks = [_block(problem, posterior, c) for c in range(len(posterior.mean))]
    if sum(len(block.l2) for block in blocks) <= LARGEST:
        return _joint_errors(problem, posterior, proba, blocks)
    weight = 1.0 if problem.sample_weight is None else problem.sample_weight[:, None]
    return laplace_approximation(problem, posterior, curvature=weight * proba * (1.0 - proba)).standard_errors()


class _Block(NamedTuple):
    """The active words of a class and, as the last entry where it is not held, its intercept."""

    columns: AnyArray
    l1: FloatArray
    l2: FloatArray
    has_intercept: bool

    @property
    def is_free(self) -> bool:
        return self.has_intercept and self.l1[-1] == self.l2[-1] == 0.0


def _block(problem: Problem, posterior: Posterior, c: int) -> _Block:
    fit = LabelFit(problem, posterior, c)
    columns, l1, l2 = active_words(fit, posterior.mean[c])
    corner = intercept_precision(problem, fit, float(posterior.intercept[c]))
    if corner is not None:
        l2, l1 = np.append(l2, corner[0]), np.append(l1, corner[1])
    return _Block(columns, l1, l2, corner is not None)


def _joint_errors(
    problem: Problem, posterior: Posterior, proba: FloatArray, blocks: list[_Block]
) -> tuple[FloatArray, FloatArray]:
    ends = np.cumsum([0, *(len(block.l2) for block in blocks)])
    places = [slice(start, end) for start, end in pairwise(ends)]
    designs = [
        np.hstack([problem.X[:, b.columns].toarray(), np.ones((len(proba), int(b.has_intercept)))]) for b in blocks
    ]
    weight = 1.0 if problem.sample_weight is None else problem.sample_weight
    precision = np.empty((ends[-1], ends[-1]))
    for c, left in enumerate(designs):
        for k, right in enumerate(designs):
            bent = weight * proba[:, c] * ((c == k) - proba[:, k])
            precision[places[c], places[k]] = (left * bent[:, None]).T @ right
    l1, l2 = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("l1", "l2"))
    precision[np.diag_indices_from(precision)] += l2
    least = least_precision(precision, l1, l2)
    if all(block.is_free for block in blocks):
        precision[np.ix_(ends[1:] - 1, ends[1:] - 1)] += _HELD * float(np.diag(precision).max())
    root = primal_form(np.arange(len(l1)), precision, least, check=bool((l2 == 0.0).any())).root
    errors = np.sqrt(np.einsum("ij,ij->i", root, root))
    words, intercepts = np.full(posterior.mean.shape, np.nan), np.zeros(len(blocks))
    for c, (place, block) in enumerate(zip(places, blocks, strict=True)):
        words[c, block.columns] = errors[place][: len(block.columns)]
        if block.has_intercept:
            intercepts[c] = errors[place][-1]
    return words, intercepts
