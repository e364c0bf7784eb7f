"""Minima of penalised objectives of many labels in step, whoever evaluates them.

Each label minimises f(u) + Σ_j l1_j |u_j| + ½ l2_j u_j², f smooth and convex. All labels that are not done take part in
every evaluation, each with a step of its own, so that the documents are read once for all of them. Where no penalty has
a kink a label goes by L-BFGS (``lbfgs.py``), else by proximal Newton steps on the words that matter, which ask for the
second derivatives of these (``proximal_newton.py``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits  # scikit-learn brings it

from textbayes.core.types import BoolArray, FloatArray, IntArray

_ARMIJO = 0.01
_HALVINGS = 30


class Minimum(NamedTuple):
    """Outcome for k labels: points (k, p), objectives, iterations, and whether each came to its end."""

    point: FloatArray
    objective: FloatArray
    n_iter: IntArray
    converged: BoolArray


class Search(ABC):
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

    def told(self, value: float, gradient: FloatArray) -> None:
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

    def told_second(self, hessian: FloatArray) -> None:
        """Take the second derivatives of ``columns``."""
        raise NotImplementedError


Evaluate = Callable[[IntArray, FloatArray], tuple[FloatArray, FloatArray]]
Second = Callable[[IntArray, FloatArray, list[IntArray]], list[FloatArray]]


def minimise(searches: Sequence[Search], evaluate: Evaluate, second: Second) -> Minimum:
    """Bring all labels to their minima.

    Parameters
    ----------
    searches : sequence of Search
    evaluate : function
        Of the labels' numbers (m,) and points (m, p): values (m,) and gradients (m, p) of their smooth parts f.
    second : function
        Of numbers, points and m arrays of coordinates: m matrices of second derivatives of f.
    """
    with threadpool_limits(1, "blas"):  # on vectors its threads wait for each other far longer than they work
        while len(asked := _numbers(searches)):
            values, gradients = evaluate(asked, np.stack([searches[k].trial for k in asked]))
            for k, value, gradient in zip(asked, values, gradients, strict=True):
                searches[k].told(float(value), gradient)
            wanted = {int(k): columns for k in asked if (columns := searches[k].columns) is not None}
            if wanted:
                numbers = np.array(list(wanted))
                points = np.stack([searches[k].point for k in numbers])
                for k, hessian in zip(numbers, second(numbers, points, list(wanted.values())), strict=True):
                    searches[k].columns = None
                    searches[k].told_second(hessian)
    return Minimum(
        np.stack([one.point for one in searches]),
        np.array([one.objective for one in searches]),
        np.array([one.n_iter for one in searches]),
        np.array([one.converged for one in searches]),
    )


def _numbers(searches: Sequence[Search]) -> IntArray:
    return np.array([k for k, one in enumerate(searches) if not one.done], dtype=np.int64)
