"""Linear models of documents with workers: only weights go out, only sums of gradients come back.

Each label minimises f(u) + Σ_j l1_j |u_j| + ½ l2_j u_j², f smooth and convex. All labels that are not done take part in
every evaluation, each with a step of its own, so that the documents are read once for all of them. Where no penalty has
a kink a label goes by L-BFGS, else by proximal Newton steps on the words that matter, which ask for the second
derivatives of these.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.linalg.blas import saxpy
from sklearn.base import clone
from threadpoolctl import threadpool_limits  # scikit-learn brings it

from textbayes.core.errors import NotSupportedError
from textbayes.core.executor import Executor
from textbayes.core.labels import LabelSpace
from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.inference import FitInfo, Posterior, Problem, samples
from textbayes.inference._label import LabelFit
from textbayes.kernels.linear.coordinate import minimise_quadratic
from textbayes.kernels.sparse import times, transpose_times
from textbayes.links.base import BaseLink
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.priors import make_prior
from textbayes.tune import BayesLinearClassifierCV

_ARMIJO = 0.01
_HALVINGS = 30


class Minimum(NamedTuple):
    """Outcome for k labels: points (k, p), objectives, iterations, and whether each came to its end."""

    point: FloatArray
    objective: FloatArray
    n_iter: IntArray
    converged: BoolArray


class LabelDescent(ABC):
    """One label on its way: where it is, and what it wants to know next.

    Parameters
    ----------
    start, l1, l2 : arrays (p,)
    diagonal : array (p,)
        About the second derivative of f in each coordinate.
    tol : float
        What may still be gained at the end, as a share of the objective.
    max_iter : int

    Attributes
    ----------
    trial : array (p,)
        The point to evaluate next.
    columns : array or None
        The coordinates whose second derivatives at ``point`` are wanted first.
    """

    def __init__(
        self, start: FloatArray, l1: FloatArray, l2: FloatArray, diagonal: FloatArray, tol: float, max_iter: int
    ) -> None:
        self.l1, self.l2, self.tol, self.max_iter = l1, l2, tol, max_iter
        self.diagonal = np.maximum(diagonal, 1e-12) + l2
        self.point, self.trial = start, start
        self.objective, self.n_iter = np.inf, 0
        self.done = self.converged = False
        self.columns: IntArray | None = None
        self._step: FloatArray | None = None
        self._halvings, self._slope = 0, 0.0

    def take(self, value: float, gradient: FloatArray) -> None:
        """Take value and gradient of f at the trial: go there and on, or half as far."""
        objective = value + self.penalty(self.trial)
        if self._step is not None:
            size = 0.5**self._halvings
            if not objective <= self.objective + _ARMIJO * size * self._slope:
                self._halvings += 1
                if self._halvings > _HALVINGS:  # rounding is all that is left
                    self.end()
                else:
                    self.trial = self.point + 0.5 * size * self._step
                return
            self.n_iter += 1
        before, self.point, self.objective = self.objective, self.trial, objective
        if self.n_iter >= self.max_iter:
            self.done = True
        else:
            self.moved(gradient, before - objective)

    def end(self) -> None:
        """Stop here: no more is to be gained."""
        self.done = self.converged = True

    def aim(self, step: FloatArray, slope: float) -> None:
        """Try a whole step next, along which the objective falls at first by ``slope`` (negative)."""
        self._step, self._slope, self._halvings = step, slope, 0
        self.trial = self.point + step

    def penalty(self, u: FloatArray) -> float:
        """Penalty of a point."""
        return float(self.l1 @ np.abs(u) + 0.5 * (self.l2 * u) @ u)

    def left_to_gain(self, slope: FloatArray) -> float:
        """About what steps of single coordinates would gain."""
        return 0.5 * float((slope**2 / self.diagonal).sum())

    @abstractmethod
    def moved(self, gradient: FloatArray, gain: float) -> None:
        """Choose what comes next at a new point: ``aim``, ``end`` or ``columns``."""

    def take_second(self, hessian: FloatArray) -> None:
        """Take the second derivatives of ``columns``."""
        raise NotImplementedError


Evaluate = Callable[[IntArray, FloatArray], tuple[FloatArray, FloatArray]]
Second = Callable[[IntArray, FloatArray, list[IntArray]], list[FloatArray]]


def minimise(searches: Sequence[LabelDescent], evaluate: Evaluate, second: Second) -> Minimum:
    """Bring all labels to their minima.

    Parameters
    ----------
    searches : sequence of LabelDescent
    evaluate : function
        Of the labels' numbers (m,) and points (m, p): values (m,) and gradients (m, p) of their smooth parts f.
    second : function
        Of numbers, points and m arrays of coordinates: m matrices of second derivatives of f.
    """
    with threadpool_limits(1, "blas"):  # on vectors its threads wait for each other far longer than they work
        while len(asked := _numbers(searches)):
            values, gradients = evaluate(asked, np.stack([searches[k].trial for k in asked]))
            for k, value, gradient in zip(asked, values, gradients, strict=True):
                searches[k].take(float(value), gradient)
            wanted = {int(k): columns for k in asked if (columns := searches[k].columns) is not None}
            if wanted:
                numbers = np.array(list(wanted))
                points = np.stack([searches[k].point for k in numbers])
                for k, hessian in zip(numbers, second(numbers, points, list(wanted.values())), strict=True):
                    searches[k].columns = None
                    searches[k].take_second(hessian)
    return Minimum(
        np.stack([one.point for one in searches]),
        np.array([one.objective for one in searches]),
        np.array([one.n_iter for one in searches]),
        np.array([one.converged for one in searches]),
    )


def _numbers(searches: Sequence[LabelDescent]) -> IntArray:
    return np.array([k for k, one in enumerate(searches) if not one.done], dtype=np.int64)


_Short: TypeAlias = npt.NDArray[np.float32]

_MEMORY = 20  # steps and changes of the gradient that are remembered
_CURVED = 1e-10  # pairs that show less curvature than this share say nothing


class Lbfgs(LabelDescent):
    """One label by L-BFGS around the diagonal; parameters as for ``LabelDescent``.

    References
    ----------
    Nocedal & Wright (2006), Numerical optimization, section 7.2.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._before: tuple[FloatArray, FloatArray] | None = None
        self._pairs: deque[tuple[_Short, _Short, float]] = deque(maxlen=_MEMORY)
        self._scale = 1.0  # of the inverse diagonal, to go with the last pair

    def moved(self, gradient: FloatArray, gain: float) -> None:
        slope = gradient + self.l2 * self.point
        if self._before is not None:
            step, change = self.point - self._before[0], slope - self._before[1]
            curvature, by_diagonal = float(step @ change), float((change / self.diagonal) @ change)
            if curvature > _CURVED * by_diagonal:
                self._pairs.append((step.astype(np.float32), change.astype(np.float32), curvature))
                self._scale = curvature / by_diagonal
        self._before = self.point, slope
        if self.left_to_gain(slope) <= self.tol * abs(self.objective):
            self.end()
            return
        direction = -self._times_inverse_hessian(slope)
        self.aim(direction, float(slope @ direction))

    def _times_inverse_hessian(self, vector: FloatArray) -> FloatArray:
        """The two loops of the method, in single precision: reading the pairs is most of a step's work."""
        q, shares = vector.astype(np.float32), []
        for step, change, curvature in reversed(self._pairs):
            share = float(step @ q) / curvature
            saxpy(change, q, a=-share)  # in place
            shares.append(share)
        q *= self._scale / self.diagonal
        for (step, change, curvature), share in zip(self._pairs, reversed(shares), strict=True):
            saxpy(step, q, a=share - float(change @ q) / curvature)
        return q.astype(np.float64)


_MOST = 2_000  # coordinates of a working set: second derivatives of more would not be worth their message
_LEAST_NEW = 100  # coordinates that a working set may add at least
_SWEEPS = 500
_SWEEP_TOL = 0.01  # sweeps end when the model's violation has fallen to this share


class ProximalNewton(LabelDescent):
    """One label by Newton steps on the coordinates that have most to gain; parameters as for ``LabelDescent``.

    The last coordinate is the intercept: it is solved for along with every step unless it has a kink itself.
    """

    def moved(self, gradient: FloatArray, gain: float) -> None:
        u, slope = self.point, gradient + self.l2 * self.point
        away = u != 0.0
        at_kink = np.sign(slope) * np.maximum(np.abs(slope) - self.l1, 0.0)
        violation = np.where(away, slope + self.l1 * np.sign(u), at_kink)
        if self.left_to_gain(violation) <= self.tol * abs(self.objective):
            self.end()
            return
        # Those away from the kink, and others that violate most, as many again.
        worth = violation**2 / self.diagonal
        n_away = int(away.sum())
        if 2 * n_away > _MOST:  # a part of them at a time
            chosen = np.argsort(-worth, kind="stable")[:_MOST]
        else:
            new = np.flatnonzero(~away & (worth > 0.0))
            most = min(max(_LEAST_NEW, n_away), _MOST - n_away)
            new = new[np.argsort(-worth[new], kind="stable")[:most]]
            chosen = np.concatenate([np.flatnonzero(away), new])
        self.columns = self._chosen = np.union1d(chosen, [len(u) - 1])
        self._gradient, self._violation = gradient, float(np.abs(violation).max())

    def take_second(self, hessian: FloatArray) -> None:
        columns = self._chosen
        u, gradient, l1, l2 = (array[columns] for array in (self.point, self._gradient, self.l1, self.l2))
        own, of_words = hessian[-1, -1] + l2[-1], hessian[-1, :-1]
        profiled = l1[-1] == 0.0
        if profiled:  # the best intercept moves along with the words: its curvature is taken out of theirs
            pull = gradient[-1] + l2[-1] * u[-1]
            model = hessian[:-1, :-1] - np.outer(of_words, of_words) / own
            words = slice(0, -1)
            v = np.append(
                minimise_quadratic(
                    model, gradient[words] - of_words * pull / own, u[words], l1[words], l2[words],
                    _SWEEP_TOL * self._violation, _SWEEPS,
                ),
                0.0,
            )  # fmt: skip
            v[-1] = u[-1] - (pull + of_words @ (v[words] - u[words])) / own
        else:
            v = minimise_quadratic(hessian, gradient, u, l1, l2, _SWEEP_TOL * self._violation, _SWEEPS)
        step = np.zeros_like(self.point)
        step[columns] = v - u
        slope = float(gradient @ (v - u)) + self.penalty(self.point + step) - self.penalty(self.point)
        if not slope < 0.0:  # rounding is all that is left
            self.end()
        else:
            self.aim(step, slope)


_TOL = 1e-7  # share of the objective that steps of single words may still gain at the end
_LEAST_ITERATIONS = 1_000
_NUMBERS = 2**26  # kept at a time of all labels of a block: half a gigabyte
_REACH = 8.0  # as in ``inference/_label.py``: a document far on the wrong side has at least this much curvature


class WorkerDocuments(NamedTuple):
    """Documents of one worker: X (n, p) in CSC, outcomes (n, k) of −1 and +1, and how much each counts or None."""

    X: Any
    y: FloatArray
    weight: FloatArray | None


def check_in_parts(estimator: BayesLinearClassifier) -> None:
    """Refuse a linear model that gradients of parts do not tell how to fit."""
    way = "or train it where all documents are in one place"
    if isinstance(estimator, BayesLinearClassifierCV):
        raise NotSupportedError(f"a search for scales or links needs all documents in one place; name them, {way}")
    if samples(estimator.inference):
        raise NotSupportedError(f"inference 'gibbs' needs all documents in each chain; use 'coordinate', {way}")
    for name in ("intervals", "word_scales", "shared_scale", "warm_start"):
        if getattr(estimator, name):
            raise NotSupportedError(f"{name} needs all documents in one place; leave it out, {way}")
    prior = make_prior(estimator.prior, estimator.scale, estimator.mean, estimator.sign)
    if prior.signed or not (prior.exact_local and prior.log_concave) or not estimator._link().log_concave:
        raise NotSupportedError(
            f"prior {prior.name!r} with link {estimator._link().name!r} has no single optimum that gradients lead to, "
            f"or asks for signs; use 'laplace', 'gaussian' or 'elastic_net' with 'logit' or 'probit', {way}"
        )


def fit_in_parts(
    executor: Executor, parts: Sequence[Any], estimator: BayesLinearClassifier, space: LabelSpace, n_features: int,
    start: BayesLinearClassifier | None = None,
) -> BayesLinearClassifier:  # fmt: skip
    """A fitted copy of a linear classifier, one regression for each column; the optimum is that of all documents.

    Parameters
    ----------
    executor : Executor
    parts : sequence
        ``WorkerDocuments``, or what stands for them with the executor.
    estimator : BayesLinearClassifier
    space : LabelSpace
    n_features : int
    start : BayesLinearClassifier, optional
        Fitted to other documents: where to start.
    """
    check_in_parts(estimator)
    one: BayesLinearClassifier = clone(estimator)
    one._check_settings()
    prior, link = make_prior(one.prior, one.scale, one.mean, one.sign), one._link()
    n_labels = space.n_columns
    link.check_labels(n_labels)
    y = np.repeat([[1.0], [-1.0]], n_labels, axis=1)
    X = sparse.csc_matrix((2, n_features))
    problem = Problem(X, y, link, prior, one._intercept_prior(link, prior, n_labels))
    masses = executor.map_reduce(_masses, np.add, parts)
    size = max(1, _NUMBERS // (60 * (n_features + 1)))
    posterior = _empty(n_labels, n_features)
    for first in range(0, n_labels, size):
        _fit_block(executor, parts, problem, masses, range(first, min(first + size, n_labels)), one, start, posterior)
    one._keep(posterior, space)
    one.link_, one.held_scale_ = link, one._typical_scale()
    one.n_features_in_, one.approximation_, one.standard_errors_ = n_features, None, None
    one._warn_if_unfinished()
    return one


def _empty(n_labels: int, n_features: int) -> Posterior:
    info = FitInfo(np.zeros(n_labels), np.zeros(n_labels), np.zeros(n_labels, np.int64), np.ones(n_labels, np.bool_))
    return Posterior(np.zeros((n_labels, n_features)), np.zeros(n_labels), None, info)


def _fit_block(
    executor: Executor, parts: Sequence[Any], problem: Problem, masses: FloatArray, block: range,
    estimator: BayesLinearClassifier, start: BayesLinearClassifier | None, out: Posterior,
) -> None:  # fmt: skip
    """Fit some of the labels; what is minimised is of the weights less their prior means."""
    n_features = problem.X.shape[1]
    shape = (len(block), n_features + 1)
    l1, l2, center, at = np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape)
    open_labels = []
    for k, label in enumerate(block):
        # Two documents that count as much as the positive and the negative ones: the intercept to start with, and the
        # answer where all documents are on one side.
        fit = LabelFit(problem._replace(sample_weight=masses[:, label]), None, label)
        fit.eta = np.full(2, fit.intercept)
        fit.start_intercept()
        fit.refresh()
        l1[k, :-1], l2[k, :-1], center[k, :-1] = fit.penalty.l1, fit.penalty.l2, fit.penalty.center
        l1[k, -1], l2[k, -1], center[k, -1] = max(fit.intercept_l1, 0.0), fit.intercept_l2, fit.intercept_mean
        at[k, -1] = fit.b
        out.mean[label], out.intercept[label] = fit.penalty.center, fit.intercept
        out.info.objective[label] = fit.objective()
        if not fit.one_sided:
            open_labels.append(k)
            if start is not None:
                at[k] = np.append(start.coef_[label], start.intercept_[label]) - center[k]
    if not open_labels:
        return
    free = problem.intercept_prior is not None
    labels, chosen = np.asarray(block), np.array(open_labels)

    def place(asked: IntArray, points: FloatArray) -> tuple[IntArray, FloatArray]:
        """Numbers of labels among all, and weights."""
        return labels[chosen[asked]], points + center[chosen[asked]]

    def evaluate(asked: IntArray, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        sums = executor.map_reduce(_evaluated, np.add, parts, place(asked, points), problem.link)
        if not free:
            sums[:, -1] = 0.0
        return -sums[:, 0], -sums[:, 1:]

    def second(asked: IntArray, points: FloatArray, columns: list[IntArray]) -> list[FloatArray]:
        found = executor.map_reduce(_second, _sums, parts, place(asked, points), columns, problem.link)
        for matrix in found if not free else []:
            matrix[-1], matrix[:, -1], matrix[-1, -1] = 0.0, 0.0, 1.0
        return found

    everything = place(np.arange(len(chosen)), at[chosen])
    diagonal = executor.map_reduce(_curvatures, np.add, parts, everything, problem.link)
    effort = _TOL, max(estimator.max_iter, _LEAST_ITERATIONS)
    searches = [
        (ProximalNewton if l1[k].any() else Lbfgs)(at[k], l1[k], l2[k], diagonal[number], *effort)
        for number, k in enumerate(chosen)
    ]
    found = minimise(searches, evaluate, second)
    weights = found.point + center[chosen]
    for number, label in enumerate(labels[chosen]):
        out.mean[label], out.intercept[label] = weights[number, :-1], weights[number, -1]
        for part, value in zip(out.info, (found.objective, None, found.n_iter, found.converged), strict=True):
            if value is not None:
                part[label] = value[number]


# -- what workers do --------------------------------------------------------------------------------------------------
def _masses(documents: WorkerDocuments) -> FloatArray:
    """Total weight of the positive and of the negative documents of every label, (2, k)."""
    weight = np.ones(len(documents.y)) if documents.weight is None else documents.weight
    return np.stack([weight @ (documents.y > 0.0), weight @ (documents.y < 0.0)])


def _derivatives(documents: WorkerDocuments, at: tuple[IntArray, FloatArray], link: BaseLink) -> list[Any]:
    """Likelihood, scores and curvatures of the documents for each of some labels at weights (m, p + 1)."""
    X, (labels, weights) = documents.X, at
    eta = times(X.indptr, X.indices, X.data, np.ascontiguousarray(weights[:, :-1].T), X.shape[0]) + weights[:, -1]
    return [
        link.for_label(int(label)).likelihood(
            np.ascontiguousarray(eta[:, k]), np.ascontiguousarray(documents.y[:, label]), documents.weight
        )
        for k, label in enumerate(labels)
    ]


def _evaluated(documents: WorkerDocuments, at: tuple[IntArray, FloatArray], link: BaseLink) -> FloatArray:
    """Log-likelihood and gradient of each of some labels, (m, 1 + p + 1)."""
    X, found = documents.X, _derivatives(documents, at, link)
    scores = np.stack([one.score for one in found], axis=1)
    gradients = transpose_times(X.indptr, X.indices, X.data, scores).T
    return np.column_stack([[one.total for one in found], gradients, scores.sum(axis=0)])


def _curvatures(documents: WorkerDocuments, at: tuple[IntArray, FloatArray], link: BaseLink) -> FloatArray:
    """Second derivatives of −log-likelihood in every weight of each of some labels, (m, p + 1)."""
    X, found = documents.X, _derivatives(documents, at, link)
    omega = np.stack([one.hessian for one in found], axis=1)
    return np.column_stack([transpose_times(X.indptr, X.indices, X.data**2, omega).T, omega.sum(axis=0)])


def _second(
    documents: WorkerDocuments, at: tuple[IntArray, FloatArray], columns: list[IntArray], link: BaseLink
) -> list[FloatArray]:
    """Second derivatives of −log-likelihood in some weights of each of some labels, the intercept's the last."""
    X, matrices = documents.X, []
    for own, found in zip(columns, _derivatives(documents, at, link), strict=True):
        omega = np.maximum(found.hessian, np.abs(found.score) / _REACH)
        words = X[:, own[:-1]].tocsr()
        weighted = words.multiply(omega[:, None]).tocsr()
        of_intercept = np.asarray(weighted.sum(axis=0)).ravel()
        top = np.column_stack([(words.T @ weighted).toarray(), of_intercept])
        matrices.append(np.vstack([top, np.append(of_intercept, omega.sum())]))
    return matrices


def _sums(one: list[FloatArray], other: list[FloatArray]) -> list[FloatArray]:
    return [left + right for left, right in zip(one, other, strict=True)]
