"""L-BFGS: steps by what the last steps told of the curvature, for objectives without a kink."""

from __future__ import annotations

from collections import deque
from typing import Any

from textbayes.core.types import FloatArray
from textbayes.scale.descent import Search

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
        self._pairs: deque[tuple[FloatArray, FloatArray, float]] = deque(maxlen=_MEMORY)

    def moved(self, gradient: FloatArray, gain: float) -> None:
        slope = gradient + self.l2 * self.point
        if self._before is not None:
            step, change = self.point - self._before[0], slope - self._before[1]
            curvature = float(step @ change)
            if curvature > _CURVED * float((change / self.diagonal) @ change):
                self._pairs.append((step, change, curvature))
        self._before = self.point, slope
        if self.left_to_gain(slope) <= self.tol * abs(self.objective):
            self.end()
            return
        direction = -self._times_inverse_hessian(slope)
        self.aim(direction, float(slope @ direction))

    def _times_inverse_hessian(self, vector: FloatArray) -> FloatArray:
        """The two loops of the method."""
        q, shares = vector.copy(), []
        for step, change, curvature in reversed(self._pairs):
            share = float(step @ q) / curvature
            q -= share * change
            shares.append(share)
        q /= self.diagonal
        if self._pairs:
            _, change, curvature = self._pairs[-1]
            q *= curvature / float((change / self.diagonal) @ change)
        for (step, change, curvature), share in zip(self._pairs, reversed(shares), strict=True):
            q += (share - float(change @ q) / curvature) * step
        return q
