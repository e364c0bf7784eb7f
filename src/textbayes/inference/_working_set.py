"""The words a label is solved on between two readings of the whole matrix."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from textbayes.core.memory import COPIED, room_for_copy, working_memory
from textbayes.core.types import FloatArray, IntArray
from textbayes.inference._label import LabelFit
from textbayes.kernels.linear.coordinate import newton_step
from textbayes.kernels.linear.gram import count_pairs, gather_row_block, newton_step_gram

_MIN_NEW = 64  # words that a working set may add to the support at least
_MAX_SWEEPS = 50
_MAX_GRAM = 1024  # columns; beyond that the Gram matrix leaves the cache
_TYPICAL_SWEEPS = 10


class WorkingSet:
    """Columns of a label's matrix, solved by the cheaper of the two kernels.

    Copies of the matrix take no more memory than ``working_memory`` allows; the result does not depend on it.
    """

    def __init__(self, fit: LabelFit, columns: IntArray) -> None:
        self._fit, self.columns = fit, columns
        X = fit.problem.X
        starts, stops = column_ends(X, columns)
        self._columns: Any = starts, stops, X.indices, X.data
        self._n_rows, self._size = X.shape[0], int((stops - starts).sum())
        self._most = max(working_memory() // COPIED, 1)
        self._whole: Any = None
        n = len(columns)
        self._by_rows = False
        if n <= _MAX_GRAM:
            n_pairs = count_pairs(starts, stops, X.indices, self._n_rows)
            self._by_rows = n_pairs + n * n * _TYPICAL_SWEEPS < 2 * self._size * _TYPICAL_SWEEPS

    def newton_step(self, sweep_tol: float, floor: float, target: float) -> bool:
        """One Newton step with line search; False where the words violate by no more than ``target`` or none helps.

        Sweeps over the quadratic model end when its violation has fallen to the share ``sweep_tol``; documents with
        curvature below ``floor`` are settled: see the kernels.
        """
        fit, columns = self._fit, self.columns
        center, l1, l2 = (part[columns] for part in fit.penalty)
        step: Any = newton_step_gram if self._by_rows else newton_step
        arrays = (self._blocks,) if self._by_rows else self._columns
        more = () if self._by_rows else room_for_copy(self._size)
        left, new_w, shift, eta_step, _ = step(
            *arrays, fit.score, fit.omega, center, l1, l2, fit.low[columns], fit.high[columns], fit.w[columns],
            fit.b, fit.intercept_l1, fit.intercept_l2, sweep_tol, _MAX_SWEEPS, floor, target, *more,
        )  # fmt: skip
        return left > target and fit.line_search(new_w, shift, eta_step, columns)

    def _blocks(self) -> Iterator[tuple[int, int, Any]]:
        """The rows of the sub-matrix, in blocks that memory has room for: first, last, and CSR arrays."""
        if self._whole is not None:
            yield self._whole
            return
        starts, stops, indices, data = self._columns
        cursors = starts.copy()
        n_blocks = min(-(-self._size // self._most), self._n_rows) or 1
        ends = [self._n_rows * k // n_blocks for k in range(n_blocks + 1)]
        for first, last in pairwise(ends):
            block = first, last, gather_row_block(cursors, stops, indices, data, first, last)
            if n_blocks == 1:
                self._whole = block
            yield block


def column_ends(X: Any, columns: IntArray) -> tuple[IntArray, IntArray]:
    """Where columns of a CSC matrix begin and end, as kernels take it."""
    return X.indptr[columns].astype(np.int64), X.indptr[columns + 1].astype(np.int64)


def choose(fit: LabelFit, violation: FloatArray, growth: float, share: float = 0.0) -> IntArray:
    """The support and the worst violators: ``growth`` times as many as the support, a share of all, or a minimum."""
    chosen = fit.w != fit.penalty.center
    chosen |= (fit.penalty.l1 == 0.0) & (violation > 0.0)  # without a kink every word takes part
    candidates = np.flatnonzero((violation > 0.0) & ~chosen)
    most = max(_MIN_NEW, int(growth * np.count_nonzero(chosen)), int(share * len(candidates)))
    if len(candidates) > most:
        candidates = candidates[np.argpartition(violation[candidates], -most)[-most:]]
    chosen[candidates] = True
    return np.flatnonzero(chosen)
