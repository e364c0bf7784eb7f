"""L-BFGS: steps by what the last steps told of the curvature, for objectives without a kink."""

from __future__ import annotations

from collections import deque
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg.blas import saxpy

from textbayes.core.types import FloatArray
from textbayes.scale.descent import Search

_Short: TypeAlias = npt.NDArray[np.float32]

_MEMORY = 20  # steps and changes of the gradient that are remembered
_CURVED = 1e-10  # pairs that show less curvature than this share say nothing


class Lbfgs(Search):
    """One label by L-BFGS around the diagonal; parameters as for ``Search``.

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
