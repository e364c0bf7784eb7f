"""Anderson acceleration of a fixed-point map."""

from __future__ import annotations

import numpy as np

from textbayes.core.types import FloatArray

_DEPTH = 15  # images remembered


class Anderson:
    """Proposes the point where the last few steps of a map, taken as linear, would no longer move.

    With residuals f_i = g(x_i) − x_i it is g(x_k) − ΔG γ, γ = argmin ‖f_k − ΔF γ‖: a multi-secant quasi-Newton method
    that needs nothing but the map. It is not monotone: the caller checks what is proposed and calls ``clear`` after a
    bad proposal.

    References
    ----------
    Walker & Ni (2011), Anderson acceleration for fixed-point iterations, SIAM J. Numer. Anal. 49.
    Henderson & Varadhan (2019), Damped Anderson acceleration with restarts and monotonicity control for accelerating
    EM and EM-like algorithms, J. Comput. Graph. Stat. 28.

    >>> import numpy as np
    >>> memory, x = Anderson(), np.zeros(1)
    >>> for _ in range(2):
    ...     image = 0.9 * x + 1.0
    ...     proposal, x = memory.propose(x, image), image
    >>> proposal  # the fixed point of a linear map, from two steps
    array([10.])
    """

    def __init__(self) -> None:
        self._residuals: list[FloatArray] = []
        self._images: list[FloatArray] = []

    def propose(self, point: FloatArray, image: FloatArray) -> FloatArray | None:
        """Remember a step of the map; None as long as there is nothing to compare it with."""
        self._residuals = [*self._residuals[1 - _DEPTH :], image - point]
        self._images = [*self._images[1 - _DEPTH :], image]
        if len(self._images) < 2:
            return None
        steps = np.diff(np.stack(self._residuals, axis=1), axis=1)
        gamma = np.linalg.lstsq(steps, self._residuals[-1], rcond=1e-12)[0]
        return np.asarray(image - np.diff(np.stack(self._images, axis=1), axis=1) @ gamma)

    def clear(self) -> None:
        self._residuals, self._images = [], []
