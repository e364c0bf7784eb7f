"""Proximal Newton on working sets: for penalties with a kink, where few coordinates are away from it."""

from __future__ import annotations

import numpy as np

from textbayes.core.types import FloatArray
from textbayes.scale.descent import Search

_MOST = 2_000  # coordinates of a working set: second derivatives of more would not be worth their message
_LEAST_NEW = 100  # coordinates that a working set may add at least
_SWEEPS = 500
_SWEEP_TOL = 0.01  # sweeps end when the model's violation has fallen to this share


class ProximalNewton(Search):
    """One label by Newton steps on the coordinates that have most to gain; parameters as for ``Search``.

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

    def told_second(self, hessian: FloatArray) -> None:
        from textbayes.kernels.linear.coordinate import minimise_quadratic  # loads numba, which is slow

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
