"""MAP by dual coordinate ascent, for the logit link with Gaussian priors: the fastest where words are many.

Each document has one dual variable; a step reads and changes only the words of its document, whatever the number of
columns. Documents that are settled are read once in a while. Where that would take too long, as for words without a
prior or tolerances that only a second-order method reaches in reasonable time, ``newton`` goes on from there.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from textbayes.core.errors import NotSupportedError
from textbayes.core.types import FloatArray, IntArray
from textbayes.inference import inferences
from textbayes.inference._label import LabelFit, solve_in_blocks
from textbayes.inference.base import Posterior, Problem
from textbayes.inference.newton import Newton
from textbayes.kernels.linear.dual import ascend, scale_columns
from textbayes.links.base import BaseLink
from textbayes.links.logit import Logit
from textbayes.priors.base import BasePrior

_FINEST = 1e-4  # relative violation from which on newton, which converges faster than linearly, takes over
_SWEEPS = 5  # over the documents that count as one iteration: most of them visit few
_MAX_SWEEPS = 500


class _DualData(NamedTuple):
    """The matrix by rows, these and the columns rearranged for the kernels.

    Documents are in random order, as the ascent wants them. Words that many documents have lie together, so that most
    of what a step reads is in the cache.
    """

    X: Any
    documents: IntArray
    words: IntArray

    @classmethod
    def of(cls, X: Any) -> _DualData:
        documents = np.random.default_rng(0).permutation(X.shape[0])
        words = np.argsort(-np.diff(X.indptr), kind="stable")
        return cls(X[:, words].tocsr()[documents], documents, words)

    def times(self, w: FloatArray) -> FloatArray:
        """X w, all three in their own order."""
        eta = np.zeros(len(self.documents))
        if w.any():  # seldom so at a cold start
            eta[self.documents] = self.X @ w[self.words]
        return eta


@inferences.register("dual")
class Dual(Newton):
    """Dual coordinate ascent for logistic regression with Gaussian priors, fast for many words.

    A fit ends when the duality gap, which bounds what the objective can still fall (of a free intercept the part is an
    estimate), is at most tol² times the objective: a rule that does not depend on the length of a column.
    √(gap/objective) is the ``violation`` reported. Below 1e-4, and where 500 sweeps are not enough, ``newton`` ends the
    fit by its own rule.

    Notes
    -----
    A sweep visits the documents that are not settled, and now and then those that are; five sweeps count as one
    iteration, and so does a Newton step. Besides one more copy of the matrix, by rows, memory is that of the weights.

    References
    ----------
    Yu, Huang & Lin (2011), Dual coordinate descent methods for logistic regression and maximum entropy models, Machine
    Learning 85.
    """

    name = "dual"
    requires_prior = ("smooth", "exact_local")

    @classmethod
    def check(cls, link: BaseLink, prior: BasePrior) -> None:
        super().check(link, prior)
        if not isinstance(link, Logit):
            raise NotSupportedError(
                f"inference 'dual' knows the dual of the logistic link; link {link.name!r} is another: "
                "use link 'logit', or inference 'newton'"
            )

    def run(self, problem: Problem, start: Posterior | None = None) -> Posterior:
        rows = _DualData.of(problem.X)

        def solve(labels: range, out: Posterior) -> None:
            unfinished = []
            for label in labels:
                fit = LabelFit(problem, start, label)
                left = self._ascend(fit, rows)
                if left <= self.tol:
                    fit.write(out, left, self.tol)
                else:
                    unfinished.append(fit)
            if unfinished:
                self._solve_block(problem.X, unfinished, out)

        return solve_in_blocks(problem, self, solve)

    def _ascend(self, fit: LabelFit, rows: _DualData) -> float:
        """Bring a label near its optimum; returns the relative violation that is left, inf where nothing was done."""
        free = fit.penalty.l2 == 0.0
        allowed = np.ones(len(free), np.bool_) if fit.allowed is None else fit.allowed
        if fit.one_sided or (free & allowed).any():
            return math.inf
        fit.eta = rows.times(fit.w) + fit.intercept
        fit.start_intercept()
        self.record(fit.label, fit.w, fit.intercept)
        score, before = np.abs(fit.refresh()), (fit.w.copy(), fit.b, fit.eta)
        objective = fit.objective()
        center, weight = fit.penalty.center, fit.problem.sample_weight
        offset = rows.times(center) + fit.intercept_mean
        deviation = np.where(allowed, 1.0 / np.sqrt(np.where(free, 1.0, fit.penalty.l2)), 0.0)
        X, documents = rows.X, rows.documents
        u, fit.b, eta, gap, n_sweeps = ascend(
            X.indptr, X.indices, scale_columns(X.indices, X.data, deviation[rows.words]), fit.y[documents],
            np.ones(len(score)) if weight is None else weight[documents], offset[documents], len(center),
            np.zeros(len(score)) if fit.cold else score[documents], fit.b,
            -1.0 if fit.intercept_prior is None else fit.intercept_l2,
            max(self.tol, _FINEST) ** 2, min(_SWEEPS * self.max_iter, _MAX_SWEEPS),
        )  # fmt: skip
        fit.w[rows.words] = center[rows.words] + deviation[rows.words] * u
        fit.eta = np.empty(len(eta))
        fit.eta[documents] = eta
        fit.cold, fit.n_iter = False, -(-n_sweeps // _SWEEPS)
        fit.solve_intercept()
        fit.refresh()
        if fit.objective() > objective:  # what the dual gained shows in the primal later; the gap is of both places
            gap *= fit.objective() / objective
            fit.w, fit.b, fit.eta = before
            fit.refresh()
        self.record(fit.label, fit.w, fit.intercept)
        return math.sqrt(gap) if self.tol >= _FINEST else math.inf
