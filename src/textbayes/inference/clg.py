"""MAP for logistic regression by cyclic trust-region column relaxation: the CLG algorithm of BBR."""

from __future__ import annotations

import numpy as np

from textbayes.core.errors import NotSupportedError
from textbayes.inference import inferences
from textbayes.inference._label import LabelFit, solve_in_blocks
from textbayes.inference.base import BaseInference, Posterior, Problem
from textbayes.inference.starts import away_from_pole
from textbayes.kernels.linear.likelihoods import relax_columns, relax_intercept
from textbayes.kernels.sparse import times, transpose_times
from textbayes.links.base import BaseLink
from textbayes.links.logit import Logit
from textbayes.priors.base import BasePrior

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
