"""MAP by expectation-maximisation in closed form (Figueiredo & Jain), of all words at once or of blocks of them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.types import IntArray
from textbayes.inference import inferences
from textbayes.inference._em import BaseEm

_LARGEST = 16_384  # rows of the system: 2 GiB


@inferences.register("em")
class Em(BaseEm):
    """EM with normal scale-mixture priors: the reference for testing the faster inferences.

    E-step: the link gives every document its expected precision and response (ω, ωz) = (E[λ | y], E[λz | y]): probit 1
    and the mean of a truncated normal; logit ω = tanh(m/2)/(2m); Student-t ω = T_{ν+2}(m √((ν+2)/ν)) / T_ν(m), where
    m = y·eta (Eyheramendy & Madigan, eq. 6 and 8). The prior gives every word E[1/τ_j | w] = −(d log p/dw_j)/w_j.
    M-step: the least squares problem Σ_i ω_i (z_i − x_i·w − b)² + Σ_j E[1/τ_j] w_j² is solved directly, by words or by
    documents, whichever are fewer, in a form that never divides by a weight. The skewed Student-t link is cut at a mode
    that moves with the weights; there the step is Newton's for the M-step, halved where it would overshoot. No step
    lowers the log-posterior.

    Plain EM approaches a weight of zero without arriving, never leaves zero, and converges linearly. Unless ``plain``
    is set, steps are therefore extrapolated (Anderson acceleration, cut back where the log-posterior would fall), and
    every 20 steps the words at or near their prior's kink are soft-thresholded. ``max_iter`` counts these rounds; they
    end when no partial derivative violates its optimality condition by more than ``tol`` times the largest one at the
    prior mean.

    Parameters
    ----------
    tol, max_iter, n_jobs
        As in every inference.
    start : {"ridge", "mean"}, optional
        Where a fit without a given start begins: the mode under the Gaussian prior of the same scale, or the prior mean
        (not for priors with a pole there). By default ridge for priors with a kink, else the mean.
    plain : bool
        The algorithm as published: ``max_iter`` counts single EM steps, and they end when a step changes the weights by
        no more than ``tol`` times their length before it. Weights that the optimum holds at zero are then small, not
        zero.

    Notes
    -----
    A step costs the Gram matrix and O(min(n, q)³) for the q words that can move; words of weight zero drop out.

    References
    ----------
    Figueiredo & Jain (2001), Bayesian learning of sparse classifiers, CVPR.
    Eyheramendy & Madigan (2007), A flexible Bayesian generalized linear model for dichotomous response data, IMS LN 54.
    Lange (1995), A gradient algorithm locally equivalent to the EM algorithm, JRSS B 57.
    Polson & Scott (2013), Data augmentation for non-Gaussian regression models using variance-mean mixtures.

    Examples
    --------
    >>> import numpy as np
    >>> from textbayes import BayesLinearClassifier
    >>> X = np.array([[0.0, 1.0], [0.2, 1.0], [1.0, 0.0], [1.0, 0.3]])
    >>> model = BayesLinearClassifier("probit", prior="jeffreys", inference="em", scale=3.0)
    >>> bool(model.fit(X, [0, 0, 1, 1]).fit_info_.converged[0])
    True
    """

    name = "em"

    def blocks(self, columns: IntArray, n_docs: int) -> list[IntArray]:
        side = min(len(columns), n_docs)
        if side > _LARGEST:
            raise NotSupportedError(
                f"inference 'em' would solve a dense system of {side} rows ({side * side * 8 / 2**30:.1f} GiB); "
                "use 'block_em', or 'coordinate', which is faster"
            )
        return [columns]


_MATRICES = 3  # of the system's size are alive at once: the Gram matrix, its scaled copy and a factor


@inferences.register("block_em")
class BlockEm(BaseEm):
    """``em`` with the words in blocks: an EM step moves one block and the intercept while the other words stay.

    Each step is an EM step of the problem in which the other weights are known, so no step lowers the log-posterior,
    and a system has as many rows as its block has words. Where one row per document fits into memory there is one
    block, and this is ``em``.

    Parameters
    ----------
    tol, max_iter, n_jobs, start, plain
        As in ``em``.
    memory : int, optional
        Bytes that the systems of one label may take, by default 64 MiB; they decide how many words a block has.

    References
    ----------
    Meng & Rubin (1993), Maximum likelihood estimation via the ECM algorithm: a general framework, Biometrika 80.
    """

    name = "block_em"
    default_memory: ClassVar[int] = 2**26

    def __init__(
        self,
        tol: float = 1e-4,
        max_iter: int = 100,
        n_jobs: int = 1,
        start: str | None = None,
        plain: bool = False,
        memory: int | None = None,
    ) -> None:
        super().__init__(tol, max_iter, n_jobs, start, plain)
        self.memory = memory
        if memory is not None and memory < 1024:
            raise InputError(f"memory={memory} holds no block of words; pass at least 1024 bytes")

    def blocks(self, columns: IntArray, n_docs: int) -> list[IntArray]:
        memory = self.default_memory if self.memory is None else self.memory
        rows = int(np.sqrt(memory / (8 * _MATRICES)))
        n_blocks = 1 if n_docs <= rows else -(-len(columns) // rows)
        return np.array_split(columns, max(n_blocks, 1))
