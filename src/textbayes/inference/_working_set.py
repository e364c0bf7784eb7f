"""The words a label is solved on between two readings of the whole matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from textbayes.core.types import FloatArray, IntArray
from textbayes.inference._label import LabelFit
from textbayes.kernels.linear.coordinate import gather_columns, newton_step
from textbayes.kernels.linear.gram import gather_rows, newton_step_gram

_MIN_NEW = 64  # words that a working set may add to the support at least
_MAX_SWEEPS = 50
_MAX_GRAM = 1024  # columns; beyond that the Gram matrix leaves the cache
_TYPICAL_SWEEPS = 10


class WorkingSet:
    """Columns of a label's matrix, laid out for the cheaper of the two kernels."""

    def __init__(self, fit: LabelFit, columns: IntArray) -> None:
        self._fit, self.columns = fit, columns
        X = fit.problem.X
        indptr, indices, data = gather_columns(X.indptr, X.indices, X.data, columns)
        self._arrays: tuple[Any, ...] = indptr, indices, data
        self._step: Any = newton_step
        size = len(columns)
        if size <= _MAX_GRAM:
            *rows, n_pairs = gather_rows(indptr, indices, data, X.shape[0])
            if n_pairs + size * size * _TYPICAL_SWEEPS < 2 * len(data) * _TYPICAL_SWEEPS:
                self._arrays, self._step = tuple(rows), newton_step_gram

    def newton_step(self, sweep_tol: float, floor: float, target: float) -> bool:
        """One Newton step with line search; False where the words violate by no more than ``target`` or none helps.

        Sweeps over the quadratic model end when its violation has fallen to the share ``sweep_tol``; documents with
        curvature below ``floor`` are settled: see the kernels.
        """
        fit, columns = self._fit, self.columns
        center, l1, l2 = (part[columns] for part in fit.penalty)
        left, new_w, shift, eta_step, _ = self._step(
            *self._arrays, fit.score, fit.omega, center, l1, l2, fit.low[columns], fit.high[columns], fit.w[columns],
            fit.b, fit.intercept_l1, fit.intercept_l2, sweep_tol, _MAX_SWEEPS, floor, target,
        )  # fmt: skip
        return left > target and fit.line_search(new_w, shift, eta_step, columns)


def choose(fit: LabelFit, violation: FloatArray, growth: float) -> IntArray:
    """The support and the worst violators, ``growth`` times as many as the support or a minimum."""
    chosen = fit.w != fit.penalty.center
    chosen |= (fit.penalty.l1 == 0.0) & (violation > 0.0)  # without a kink every word takes part
    candidates = np.flatnonzero((violation > 0.0) & ~chosen)
    most = max(_MIN_NEW, int(growth * np.count_nonzero(chosen)))
    if len(candidates) > most:
        candidates = candidates[np.argpartition(violation[candidates], -most)[-most:]]
    chosen[candidates] = True
    return np.flatnonzero(chosen)
