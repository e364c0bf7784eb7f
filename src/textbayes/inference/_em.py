"""EM for the mode of the posterior: settings and rounds, which ``em`` and ``block_em`` share."""

from __future__ import annotations

from abc import abstractmethod
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController  # scikit-learn brings it

from textbayes.core.errors import NotSupportedError
from textbayes.core.types import IntArray
from textbayes.core.validation import check_choice
from textbayes.inference._em_steps import EmSteps
from textbayes.inference._label import LabelFit, solve_in_blocks
from textbayes.inference.base import BaseInference, Posterior, Problem
from textbayes.inference.starts import ridge_start
from textbayes.kernels.sparse import times, transpose_times

_STALLED = 3  # rounds that gain nothing but rounding before a fit is given up


@cache
def _blas() -> Any:
    """The linear algebra libraries of this process."""
    return ThreadpoolController()


class BaseEm(BaseInference):
    """Settings and steps of EM; see ``em`` for what they mean."""

    def __init__(
        self, tol: float = 1e-4, max_iter: int = 100, n_jobs: int = 1, start: str | None = None, plain: bool = False
    ) -> None:
        super().__init__(tol, max_iter, n_jobs)
        check_choice("start", start, (None, "ridge", "mean"))
        self.start, self.plain = start, plain

    @abstractmethod
    def blocks(self, columns: IntArray, n_docs: int) -> list[IntArray]:
        """The sets of words that an M-step moves together, given the words that move at all."""

    def run(self, problem: Problem, start: Posterior | None = None) -> Posterior:
        begin = self._begin(problem) if start is None else start

        def solve(labels: range, out: Posterior) -> None:
            for label in labels:
                self._solve(LabelFit(problem, begin, label), out)

        # Threads are for labels; those of the linear algebra would, on a busy machine, mostly wait for each other.
        with _blas().limit(limits=1, user_api="blas"):
            return solve_in_blocks(problem, self, solve)

    def _begin(self, problem: Problem) -> Posterior | None:
        prior = problem.prior
        start = self.start or ("mean" if prior.smooth else "ridge")
        if start == "ridge":
            return ridge_start(problem, n_jobs=self.n_jobs)
        if prior.pole or (self.plain and not prior.smooth):
            raise NotSupportedError(
                f"EM under prior {prior.name!r} cannot move a weight away from the prior mean; use start='ridge'"
            )
        return None

    def _solve(self, fit: LabelFit, out: Posterior) -> None:
        X = fit.problem.X
        fit.eta = times(X.indptr, X.indices, X.data, fit.w[:, None], X.shape[0])[:, 0] + fit.intercept
        fit.start_intercept()
        fit.reference = fit.reference_at_mean()
        self.record(fit.label, fit.w, fit.intercept)
        steps = EmSteps(fit, self.tol, self.blocks, self.record)
        ended = fit.one_sided
        while self.plain and not ended and fit.n_iter < self.max_iter:
            ended = steps.step_plainly()
        stalled, best = 0, np.inf
        for round_ in range(self.max_iter + 1):
            gradient = transpose_times(X.indptr, X.indices, X.data, fit.refresh()[:, None])[:, 0]
            violation = fit.violation(gradient)
            left = fit.worst(violation)
            stalled = stalled + 1 if left > 0.9 * best and not steps.gained else 0
            best = min(best, left)
            done = ended or (not self.plain and fit.finished(violation, self.tol))
            if done or self.plain or round_ == self.max_iter or stalled == _STALLED:
                fit.write(out, fit.relative(violation), self.tol)
                out.info.converged[fit.label] = done
                return
            steps.round(gradient, violation)
