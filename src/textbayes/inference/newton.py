"""MAP by Newton's method, for priors without a kink: truncated, with conjugate gradients, or exact of a few columns.

Labels advance in blocks, in step: every product with the matrix serves all of them in one reading, which is where the
time goes when every word has a weight. Each label has its own step lengths, line search and end.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.inference import inferences
from textbayes.inference._label import LabelFit, solve_in_blocks
from textbayes.inference.base import BaseInference, Posterior, Problem
from textbayes.kernels.linear.likelihoods import dense_logit_loss
from textbayes.kernels.sparse import column_dots, column_sums, times, transpose_times, weighted_sums

_MAX_CG = 200
_LOOSEST = 0.3  # a Newton system is solved to this share of its gradient, and more tightly near the end


@inferences.register("newton")
class Newton(BaseInference):
    """Truncated Newton, faster than coordinate descent where every word has a weight."""

    name = "newton"
    requires_prior: ClassVar[tuple[str, ...]] = ("smooth",)

    def run(self, problem: Problem, start: Posterior | None = None) -> Posterior:
        def solve(labels: range, out: Posterior) -> None:
            fits = [LabelFit(problem, start, label) for label in labels]
            self._solve_block(problem.X, fits, out)

        return solve_in_blocks(problem, self, solve)

    def _solve_block(self, X: Any, fits: list[LabelFit], out: Posterior) -> None:
        eta = times(X.indptr, X.indices, X.data, np.stack([fit.w for fit in fits], axis=1), X.shape[0])
        for k, fit in enumerate(fits):
            fit.eta = eta[:, k] + fit.intercept
            fit.start_intercept()
            fit.refresh()
            self.record(fit.label, fit.w, fit.intercept)
        for round_ in range(self.max_iter + 1):
            scores = np.stack([fit.score for fit in fits], axis=1)
            gradients = transpose_times(X.indptr, X.indices, X.data, scores).T
            unfinished, systems = [], []
            for fit, gradient in zip(fits, gradients, strict=True):
                violation = fit.violation(gradient)
                if fit.finished(violation, self.tol) or round_ == self.max_iter or fit.stuck:
                    fit.write(out, fit.relative(violation), self.tol)
                else:
                    unfinished.append(fit)
                    of_words = float(violation.max(initial=0.0)) / fit.reference
                    systems.append((_slope(fit, gradient), min(_LOOSEST, np.sqrt(of_words))))
            fits = unfinished
            if not fits:
                return
            direction, eta_step = _newton_directions(X, fits, *map(np.array, zip(*systems, strict=True)))
            for k, fit in enumerate(fits):
                fit.line_search(fit.w + direction[:-1, k], float(direction[-1, k]), eta_step[:, k])
                self.record(fit.label, fit.w, fit.intercept)


def _slope(fit: LabelFit, gradient: FloatArray) -> FloatArray:
    """Gradient of the log-posterior, the intercept's last; zero where a word may not be used."""
    slope = np.append(gradient - fit.penalty.l2 * (fit.w - fit.penalty.center), fit.score.sum())
    slope[-1] = 0.0 if fit.intercept_prior is None else slope[-1] - fit.intercept_l2 * fit.b
    if fit.allowed is not None:
        slope[:-1][~fit.allowed] = 0.0
    return slope


def _newton_directions(X: Any, fits: list[LabelFit], slopes: AnyArray, tol: AnyArray) -> tuple[FloatArray, FloatArray]:
    """Solve (XᵀΩX + diag(l2)) d = slope for all labels by preconditioned conjugate gradients.

    The best intercept moves along with every step of the words (Schur complement): as one more coordinate, which all
    documents pull at, it would take more iterations. Returns d (p + 1, k), the intercept last, and the change of
    eta (n, k) that it brings.
    """
    arrays = X.indptr, X.indices, X.data
    omega = np.stack([fit.omega for fit in fits], axis=1)
    l2 = np.stack([fit.penalty.l2 for fit in fits], axis=1)
    of_intercept = np.maximum(column_sums(omega) + np.array([fit.intercept_l2 for fit in fits]), 1e-12)
    mass, curvature = weighted_sums(*arrays, omega)
    share = mass / of_intercept  # by which a step of a word lowers the best intercept
    share *= [fit.intercept_prior is not None for fit in fits]
    slope, shift = np.ascontiguousarray(slopes[:, :-1].T), slopes[:, -1] / of_intercept
    free = slope != 0.0  # a word without slope at the start is held: pinned, or in no document
    residual = np.where(free, slope - share * slopes[:, -1], 0.0)
    diagonal = np.maximum(l2 + curvature - share * share * of_intercept, 1e-12)
    scaled = residual / diagonal
    search, rho = scaled.copy(), column_dots(residual, scaled)
    direction, eta_step = np.zeros_like(residual), np.zeros_like(omega)
    target = tol**2 * rho
    for _ in range(_MAX_CG):
        going = rho > target
        if not going.any():
            break
        eta_search = times(*arrays, search, X.shape[0])
        eta_search -= column_dots(share, search)
        # A direction needs no more digits than single precision has, in which more documents fit into the cache.
        product = transpose_times(*arrays, (omega * eta_search).astype(np.float32))
        product += l2 * search
        product *= free
        bend = column_dots(search, product)
        step = np.where(going & (bend > 0.0), rho / np.where(bend > 0.0, bend, 1.0), 0.0)
        direction += step * search
        eta_step += step * eta_search
        residual -= step * product
        scaled = residual / diagonal
        new_rho = np.where(going, column_dots(residual, scaled), rho)
        search = scaled + np.where(going, new_rho / np.where(rho > 0.0, rho, 1.0), 0.0) * search
        rho = new_rho
    return np.vstack([direction, shift - column_dots(share, direction)]), eta_step + shift


def logit_mode(
    F: FloatArray, y: BoolArray, weight: FloatArray, start: FloatArray, mean: FloatArray, precision: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Mode of the coefficients with a Gaussian prior, by Newton's method with halved steps; and the Hessian there.

    Parameters
    ----------
    F : array (n_docs, n_terms)
    y : boolean array (n_docs,)
    weight : array (n_docs,)
        How much each document counts.
    start, mean, precision : arrays (n_terms,)
        Where to begin; mean and precision of the prior.
    """
    F, y, weight = np.ascontiguousarray(F), np.ascontiguousarray(y), np.ascontiguousarray(weight)
    theta, here = start, _at(F, y, weight, start, mean, precision)
    for _ in range(20):
        step = np.linalg.solve(here.hessian, here.gradient)
        length = 1.0
        while (there := _at(F, y, weight, theta - length * step, mean, precision)).loss > here.loss and length > 1e-3:
            length *= 0.5
        if there.loss > here.loss:
            break
        theta, gain, here = theta - length * step, here.loss - there.loss, there
        if gain < 1e-6:
            break
    return theta, here.hessian


class _Place(NamedTuple):
    """−log posterior at some coefficients, and its derivatives."""

    loss: float
    gradient: FloatArray
    hessian: FloatArray


def _at(
    F: FloatArray, y: BoolArray, weight: FloatArray, theta: FloatArray, mean: FloatArray, precision: FloatArray
) -> _Place:
    gradient, hessian, off = np.empty(len(theta)), np.empty((len(theta), len(theta))), theta - mean
    loss = dense_logit_loss(F, y, weight, theta, gradient, hessian)
    return _Place(loss + 0.5 * float(precision @ off**2), gradient + precision * off, hessian + np.diag(precision))
