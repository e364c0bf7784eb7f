"""Minima of penalised objectives of many labels in step, whoever evaluates them.

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
from scipy.linalg.blas import saxpy
from threadpoolctl import threadpool_limits  # scikit-learn brings it

from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.kernels.linear.coordinate import minimise_quadratic

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
