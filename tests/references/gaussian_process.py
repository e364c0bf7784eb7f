"""The sparse online Gaussian process as published: dense, one document at a time, one label, no tricks.

Csató & Opper (2001), Sparse representation for Gaussian process models, NIPS 13; § 3.2 and A.3–A.4 of the online paper.
``textbayes.models.online.gp`` is tested against this file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from textbayes.core.types import FloatArray
from textbayes.models.online.likelihood import OnlineLikelihood

Kernel = Callable[[FloatArray, FloatArray], FloatArray]


@dataclass
class ReferenceGP:
    """f has mean α'k(x) and covariance K(x, x') + k(x)'C k(x'), k(x) its kernel values with the basis documents.

    Q is the inverse of their kernel matrix. ``numbers`` tells which documents they are: the jitter on the diagonal
    belongs to a document, so one that comes again meets its own.
    """

    kernel: Kernel
    budget: int
    tolerance: float
    jitter: float
    basis: FloatArray
    numbers: list[int]
    alpha: FloatArray
    C: FloatArray
    Q: FloatArray

    @classmethod
    def start(cls, kernel: Kernel, n_features: int, budget: int, tolerance: float, jitter: float) -> ReferenceGP:
        empty = np.zeros((0, 0))
        return cls(kernel, budget, tolerance, jitter, np.zeros((0, n_features)), [], np.zeros(0), empty, empty)

    def predict(self, x: FloatArray, number: int = -1) -> tuple[float, float, FloatArray, float]:
        """Mean and variance of f(x), k and k*."""
        k = self.kernel(self.basis, x[None])[:, 0] + self.jitter * (np.array(self.numbers, dtype=int) == number)
        own = float(self.kernel(x[None], x[None])[0, 0]) + self.jitter
        return float(self.alpha @ k), float(own + k @ self.C @ k), k, own

    def learn(self, x: FloatArray, y: float, number: int, likelihood: OnlineLikelihood) -> float:
        """Learn one document and return ln⟨p(y | x)⟩."""
        mean, var, k, own = self.predict(x, number)
        log_z, d1, d2 = (float(part) for part in likelihood.moments(np.array(mean), max(var, 0.0), np.array(y)))
        e = self.Q @ k
        novelty = own - k @ e
        if number in self.numbers or abs(novelty * d1) <= self.tolerance or novelty <= 1e-10 * own:
            s = self.C @ k + e  # the new input is replaced by its projection on the basis
            self.alpha = self.alpha + d1 * s
            self.C = self.C + d2 * np.outer(s, s)
            return log_z
        s = np.append(self.C @ k, 1.0)
        z = np.append(e, -1.0)
        self.alpha = np.append(self.alpha, 0.0) + d1 * s
        self.C = np.pad(self.C, (0, 1)) + d2 * np.outer(s, s)
        self.Q = np.pad(self.Q, (0, 1)) + np.outer(z, z) / novelty
        self.basis, self.numbers = np.vstack([self.basis, x]), [*self.numbers, number]
        if len(self.alpha) > self.budget:
            self.remove(int(np.argmin(np.abs(self.alpha) / np.diag(self.Q))))
        return log_z

    def remove(self, i: int) -> None:
        """Take a basis document out, so that the process keeps its distribution at all the others."""
        rest = np.arange(len(self.alpha)) != i
        Qi, qi, Ci, ci = self.Q[rest, i], self.Q[i, i], self.C[rest, i], self.C[i, i]
        self.alpha = self.alpha[rest] - self.alpha[i] * Qi / qi
        cross = np.outer(Qi, Ci) / qi
        self.C = self.C[np.ix_(rest, rest)] + ci * np.outer(Qi, Qi) / qi**2 - cross - cross.T
        self.Q = self.Q[np.ix_(rest, rest)] - np.outer(Qi, Qi) / qi
        self.basis, self.numbers = self.basis[rest], [n for n, kept in zip(self.numbers, rest, strict=True) if kept]
