"""MAP by proximal Newton with coordinate descent on working sets: the fast default.

Labels are solved in blocks. A round computes the full gradient of every unfinished label of the block in one reading
of the matrix; each label then takes the words that violate its optimality conditions most into its working set and
solves on those alone (with the exact curvature of a document where it is positive, else with a majorising one, and
with a line search in either case). A label is finished when no word violates by more than ``tol`` times the largest
slope at the start and steps of single words would gain next to nothing (``LabelFit.finished``).

A prior that is not log-concave is seen from the present weights anew after every step, as a weighted lasso or ridge
penalty that lies above it (local linear approximation, Zou & Li 2008), so that no step lowers the posterior.

The CLG algorithm of BBR, cyclic trust-region column relaxation for logistic regression, is here too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from textbayes.core.errors import NotSupportedError
from textbayes.core.types import FloatArray
from textbayes.inference import inferences
from textbayes.inference._label import MAX_NEWTON, LabelFit, solve_in_blocks
from textbayes.inference._path import WorkingSet, choose
from textbayes.inference.base import BaseInference, Posterior, Problem
from textbayes.inference.starts import away_from_pole
from textbayes.kernels.linear.likelihoods import relax_columns, relax_intercept
from textbayes.kernels.sparse import times, transpose_times
from textbayes.links.base import BaseLink
from textbayes.links.logit import Logit
from textbayes.priors.base import BasePrior

_GROWTH = 1.0  # times the support: words that a working set may add to it
_SHARE_NEW = 1 / 32  # or this share of those that violate: where these are many, so will be the support
_NEWTON_STEPS = 3  # per working set: a new reading of the matrix, shared by 8 labels, costs less than one more;
_HASTY_ROUNDS = 20  # in a fit that takes more rounds than this, the words are settled and the steps decide
_SUB_GOAL = 0.1  # or until its violation has fallen to this share of the full one
_INTERCEPT = 0.3  # of the words' largest violation: an intercept that is off by more is moved by itself
_SWEEP_TOL = 0.2  # sweeps end when the quadratic model's violation has fallen to this share
_SETTLED = 2e-2  # documents with less than this share of the largest curvature are settled: see the kernels


@inferences.register("coordinate")
class Coordinate(BaseInference):
    """Proximal Newton with coordinate descent on working sets, for any link and any prior."""

    name = "coordinate"
    keeps_signs = True

    def run(self, problem: Problem, start: Posterior | None = None) -> Posterior:
        start = away_from_pole(problem, start, self.n_jobs)

        def solve(labels: range, out: Posterior) -> None:
            fits = [LabelFit(problem, start, label) for label in labels]
            self._solve_block(problem.X, fits, out)

        return solve_in_blocks(problem, self, solve)

    def _solve_block(self, X: Any, fits: list[LabelFit], out: Posterior) -> None:
        weights = np.stack([fit.w for fit in fits], axis=1)
        if weights.any():
            eta = times(X.indptr, X.indices, X.data, weights, X.shape[0])
        else:  # the usual cold start
            eta = np.zeros((X.shape[0], len(fits)))
        for k, fit in enumerate(fits):
            fit.eta = eta[:, k] + fit.intercept
            fit.start_intercept()
            self.record(fit.label, fit.w, fit.intercept)
            fit.refresh()
        for round_ in range(self.max_iter + 1):
            scores = np.stack([fit.score for fit in fits], axis=1)
            gradients = np.ascontiguousarray(transpose_times(X.indptr, X.indices, X.data, scores).T)
            unfinished = []
            for fit, gradient in zip(fits, gradients, strict=True):
                violation = fit.violation(gradient)
                if fit.finished(violation, self.tol) or round_ == self.max_iter:
                    fit.write(out, fit.relative(violation), self.tol)
                else:
                    self._solve_working_set(fit, violation, _NEWTON_STEPS if round_ < _HASTY_ROUNDS else MAX_NEWTON)
                    unfinished.append(fit)
            fits = unfinished
            if not fits:
                return

    def _solve_working_set(self, fit: LabelFit, violation: FloatArray, most_steps: int) -> None:
        """Newton steps on the words that violate most, until their violation is a fraction of the full one."""
        working_set = WorkingSet(fit, choose(fit, violation, _GROWTH, _SHARE_NEW))
        target = max(_SUB_GOAL * fit.worst(violation), 0.3 * self.tol * fit.reference)
        for _ in range(most_steps):
            if not working_set.newton_step(_SWEEP_TOL, _SETTLED * float(fit.omega.max()), target):
                break
            fit.relinearise()
            self.record(fit.label, fit.w, fit.intercept)
        # A sum over all documents is soon large beside those over a word's, and would keep settled words from ending.
        if fit.intercept_violation() > max(_INTERCEPT * float(violation.max(initial=0.0)), target):
            fit.solve_intercept()
            fit.refresh()
            self.record(fit.label, fit.w, fit.intercept)


_FIRST_RADIUS = 1.0  # as in BBR
_SWEEPS = 30  # over the words away from their mean, between two over all words


@inferences.register("clg")
class Clg(BaseInference):
    """Column relaxation: words are updated one at a time, each as far as a bound on the loss around it can be trusted.

    The column relaxation of Zhang & Oles for ridge logistic regression, extended to the Laplace prior by Genkin, Lewis
    & Madigan, and here to every prior by its local penalty. It needs no line search: the bound on the curvature within
    the trust region makes every step safe. ``max_iter`` counts rounds: a sweep over all words, then up to 30 over those
    away from their mean. A fit ends as under ``coordinate``.

    Notes
    -----
    A sweep costs two exponentials per non-zero entry; ``coordinate`` computes derivatives once per document instead and
    is faster. The bound is the logistic one: other links are refused.

    References
    ----------
    Zhang & Oles (2001), Text categorization based on regularized linear classification methods, Information Retrieval.
    Genkin, Lewis & Madigan (2007), Large-scale Bayesian logistic regression for text categorization, Technometrics 49.
    """

    name = "clg"
    keeps_signs = True

    @classmethod
    def check(cls, link: BaseLink, prior: BasePrior) -> None:
        super().check(link, prior)
        if not isinstance(link, Logit):
            raise NotSupportedError(
                f"inference 'clg' bounds the curvature of the logistic link; link {link.name!r} is another: "
                "use link 'logit', or inference 'coordinate'"
            )

    def run(self, problem: Problem, start: Posterior | None = None) -> Posterior:
        start = away_from_pole(problem, start, self.n_jobs)

        def solve(labels: range, out: Posterior) -> None:
            for label in labels:
                self._solve(LabelFit(problem, start, label), out)

        return solve_in_blocks(problem, self, solve)

    def _solve(self, fit: LabelFit, out: Posterior) -> None:
        X, n_features = fit.problem.X, fit.problem.X.shape[1]
        arrays = X.indptr, X.indices, X.data
        fit.eta = times(*arrays, fit.w[:, None], X.shape[0])[:, 0] + fit.intercept
        fit.start_intercept()
        self.record(fit.label, fit.w, fit.intercept)
        every = np.arange(n_features) if fit.allowed is None else np.flatnonzero(fit.allowed)
        weight = np.ones(len(fit.y)) if fit.problem.sample_weight is None else fit.problem.sample_weight
        radius, b_radius = np.full(n_features, _FIRST_RADIUS), _FIRST_RADIUS
        for round_ in range(self.max_iter + 1):
            gradient = transpose_times(*arrays, fit.refresh()[:, None])[:, 0]
            violation = fit.violation(gradient)
            left = fit.worst(violation)
            if fit.finished(violation, self.tol) or round_ == self.max_iter:
                fit.write(out, fit.relative(violation), self.tol)
                return
            target = max(0.1 * left, 0.3 * self.tol * fit.reference)
            for sweep in range(_SWEEPS + 1):
                columns = every if sweep == 0 else every[fit.w[every] != fit.penalty.center[every]]
                worst = relax_columns(
                    *arrays, columns, fit.y, weight, *fit.penalty, fit.low, fit.high, radius, fit.w, fit.eta
                )
                if fit.intercept_prior is not None:
                    fit.b, b_radius, moved = relax_intercept(
                        fit.y, weight, fit.intercept_l1, fit.intercept_l2, b_radius, fit.b, fit.eta
                    )
                    worst = max(worst, moved)
                fit.n_iter += 1
                fit.relinearise()
                self.record(fit.label, fit.w, fit.intercept)
                if sweep > 0 and worst <= target:
                    break
