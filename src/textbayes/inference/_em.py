"""EM for the mode of the posterior: settings, rounds and steps, which ``em`` and ``block_em`` share.

The M-step for a block of words and the intercept has a form that is stable where weights reach their mean. With score s
and curvature Ω of the documents, offsets u = w − mean and the variance v_j = 1/E[1/τ_j | w] that the prior
gives each word at the present weights, the M-step of Figueiredo & Jain (2001) moves w by the d that solves

    (V⁻¹ + XᵀΩX) d = Xᵀs − V⁻¹u,                                                V = diag(v).

V⁻¹ is infinite for a weight at its mean under a prior with a kink. With S = V^½ and h = V Xᵀs − u it is never needed:

    d = S (I + S XᵀΩX S)⁻¹ S⁻¹h            one row per word                        (p × p)
    d = h − V XᵀR (I + R X V Xᵀ R)⁻¹ R X h one row per document, R = Ω^½, Woodbury (n × n)

and the smaller system is solved. What no prior holds (v = ∞: a free intercept, unpenalised words) has s = 1 and 0 in
place of I in the first form; in the second it is eliminated by generalised least squares.

Plain steps are taken as published; otherwise rounds of accelerated ones (Anderson), with soft-thresholding of the words
at a kink in between.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import linalg
from threadpoolctl import ThreadpoolController

from textbayes.core.codec import Choice, Fields
from textbayes.core.errors import NotSupportedError
from textbayes.core.machine import room_for_copy
from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.core.validation import check_choice
from textbayes.inference._label import ROUNDING, LabelFit, solve_in_blocks
from textbayes.inference._path import column_ends
from textbayes.inference.base import BaseInference, Posterior, Problem
from textbayes.inference.starts import ridge_start
from textbayes.kernels.linear.coordinate import gather_columns, newton_step
from textbayes.kernels.linear.gram import gather_rows, weighted_gram
from textbayes.kernels.sparse import times, transpose_times, weighted_sums
from textbayes.priors.base import BasePrior

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


_JITTER = 1e-10  # relative; makes a direction of free words without any curvature stand still instead of failing


class WordBlock:
    """The words that one M-step moves together, with the intercept.

    ``keep`` holds on to the Gram matrix for as long as the documents' curvature does not change (probit: always).
    """

    def __init__(self, X: Any, columns: IntArray, keep: bool) -> None:
        self.columns, self._n_docs, self._keep = columns, X.shape[0], keep
        self._csc: tuple[Any, Any, Any] = gather_columns(X.indptr, X.indices, X.data, columns)
        self._rows: tuple[Any, Any, Any] | None = None
        self._gram: FloatArray | None = None
        self._gram_omega: FloatArray | None = None

    def gradient(self, score: FloatArray) -> FloatArray:
        """Xᵀ score, the intercept's last."""
        return np.append(transpose_times(*self._csc, score[:, None])[:, 0], score.sum())

    def times(self, step: FloatArray) -> FloatArray:
        """X step + shift for a step whose last entry is the intercept's shift."""
        return np.asarray(times(*self._csc, np.ascontiguousarray(step[:-1, None]), self._n_docs)[:, 0] + step[-1])

    def direction(
        self, gradient: FloatArray, omega: FloatArray, offset: FloatArray, variance: FloatArray
    ) -> FloatArray:
        """The step d; all arguments but ``omega`` have the intercept last, which variance 0 holds as it does a word."""
        free = np.isinf(variance)
        held = variance > 0.0
        if self._n_docs < int((held & ~free).sum()):
            return self._by_documents(gradient, omega, offset, variance, free)
        return self._by_words(gradient, omega, offset, variance, free, np.flatnonzero(held))

    def _by_words(
        self,
        gradient: FloatArray,
        omega: FloatArray,
        offset: FloatArray,
        variance: FloatArray,
        free: BoolArray,
        rows: IntArray,
    ) -> FloatArray:
        step = np.zeros_like(gradient)
        if len(rows) == 0:
            return step
        gram, free = self._weighted_gram(omega), free[rows]
        system = gram.copy() if len(rows) == len(gram) else gram[np.ix_(rows, rows)]
        s = np.sqrt(np.where(free, 1.0, variance[rows]))
        system *= s
        system *= s[:, None]
        diagonal = np.einsum("ii->i", system)  # a view
        diagonal += np.where(free, _JITTER * diagonal + np.finfo(float).tiny, 1.0)
        h = np.where(free, gradient[rows], s * gradient[rows] - offset[rows] / s)
        # The system is symmetric; its transpose is in the order that LAPACK factorises in place.
        factor = linalg.cho_factor(system.T, overwrite_a=True, check_finite=False)
        step[rows] = s * linalg.cho_solve(factor, h, overwrite_b=True, check_finite=False)
        return step

    def _by_documents(
        self, gradient: FloatArray, omega: FloatArray, offset: FloatArray, variance: FloatArray, free: BoolArray
    ) -> FloatArray:
        n = self._n_docs
        v = np.where(free, 0.0, variance)
        h = v * gradient - offset
        h[free | (variance == 0.0)] = 0.0
        root = np.sqrt(omega)
        indptr, indices, data = self._csc
        # The columns of X are the rows of Xᵀ: the kernel that gives XᵀΩX gives X V Xᵀ as well.
        gram, _ = weighted_gram(indptr, indices, data, np.zeros(len(v) - 1), v[:-1], n)
        system = gram[:n, :n] + v[-1]
        system *= root
        system *= root[:, None]
        np.einsum("ii->i", system)[:] += 1.0
        columns = root[:, None] * self._dense(np.flatnonzero(free))
        sides = np.column_stack([root * self.times(h), columns])
        factor = linalg.cho_factor(system.T, overwrite_a=True, check_finite=False)
        solved = linalg.cho_solve(factor, sides, check_finite=False)
        shifts = np.zeros(0)
        if free.any():
            inner = columns.T @ solved[:, 1:]
            inner[np.diag_indices_from(inner)] *= 1.0 + _JITTER
            shifts = linalg.lstsq(inner, gradient[free] - columns.T @ solved[:, 0], check_finite=False)[0]
        weighted = root * (solved[:, 0] + solved[:, 1:] @ shifts)
        step = np.asarray(h - v * self.gradient(weighted))
        step[free] = shifts
        return step

    def _weighted_gram(self, omega: FloatArray) -> FloatArray:
        """XᵀΩX with the intercept's row and column last."""
        if self._gram is not None and self._gram_omega is not None and np.array_equal(omega, self._gram_omega):
            return self._gram
        if self._rows is None:
            row_ptr, words, values = gather_rows(*self._csc, self._n_docs)
            self._rows = row_ptr, words, values
        gram, _ = weighted_gram(*self._rows, np.zeros(self._n_docs), omega, len(self.columns))
        if self._keep:
            self._gram, self._gram_omega = gram, omega
        return gram

    def _dense(self, positions: IntArray) -> FloatArray:
        """Columns of the block as a dense array, the intercept's being ones."""
        indptr, indices, data = self._csc
        out = np.zeros((self._n_docs, len(positions)))
        for k, position in enumerate(positions):
            if position == len(self.columns):
                out[:, k] = 1.0
            else:
                part = slice(indptr[position], indptr[position + 1])
                out[indices[part], k] = data[part]
        return out


_PASSES = 20  # EM steps between two looks at all words
_BACKTRACKS = 6  # lengths tried of an extrapolated step, each a quarter of the last
_HALVINGS = 40  # of a step whose full length might lower the posterior; beyond, it stands still
_SWEEP_TOL, _MAX_SWEEPS = 0.01, 50
_NOISE = 8.0  # times the rounding error: by how much a step may seem to raise the objective


class _State(NamedTuple):
    """The moving weights and what was computed with them."""

    w: FloatArray
    b: float
    eta: FloatArray
    likelihood: float
    objective: float


class EmSteps:
    """Takes EM steps with the weights of ``fit``; ``divide`` puts the words that move into blocks."""

    def __init__(
        self,
        fit: LabelFit,
        tol: float,
        divide: Callable[[IntArray, int], list[IntArray]],
        record: Callable[[int, FloatArray, float], None],
    ) -> None:
        self.fit, self.tol, self.divide, self.record = fit, tol, divide, record
        self.anderson = Anderson()
        self.blocks: list[tuple[WordBlock, BasePrior]] = []
        self.columns: IntArray = np.zeros(0, dtype=np.int64)
        self.gained = True

    # -- what a round does ----------------------------------------------------------------------------------------
    def step_plainly(self) -> bool:
        """One step of the algorithm as published; True when the weights have stopped moving."""
        self._choose_words()
        before = self._point()
        self._pass()
        self.record(self.fit.label, self.fit.w, self.fit.intercept)
        return bool(np.linalg.norm(self._point() - before) <= self.tol * np.linalg.norm(before))

    def round(self, gradient: FloatArray, violation: FloatArray) -> None:
        """Settle the words that EM cannot, then take accelerated EM steps with the others."""
        fit, start, n_away = self.fit, self.fit.objective(), self._n_away()
        moved = self._threshold(gradient, violation)
        same_words = self._choose_words()
        if moved or not same_words:
            self.anderson.clear()
        # Where the start decides which words stay, the steps are plain until no more words go.
        accelerate = same_words or not fit.prior.pole
        here = self._state()
        for _ in range(_PASSES):
            left = self._pass()
            image = self._state()
            # At a pole the objective says nothing; elsewhere it rises when the system is solved no better than this. By
            # chance the last one may have been rounded down: a little more than rounding is no rise.
            if image.objective > here.objective + _NOISE * _rounding(here) and not fit.prior.pole:
                self._restore(here)
                break
            here = self._accelerate(here, image) if accelerate else image
            self.record(fit.label, fit.w, fit.intercept)
            if left <= 0.3 * self.tol * fit.reference:
                break
        self.gained = here.objective < start - _rounding(here) or self._n_away() != n_away

    def _choose_words(self) -> bool:
        """Take the words that an EM step can move; True if they are those of the last round."""
        fit = self.fit
        live = fit.prior.variance(fit.w) > 0.0
        if fit.allowed is not None:
            live &= fit.allowed
        columns = np.flatnonzero(live)
        if self.blocks and np.array_equal(columns, self.columns):
            return True
        self.columns = columns
        parts = self.divide(columns, len(fit.y))
        self.blocks = [(WordBlock(fit.problem.X, part, len(parts) == 1), fit.prior.take(part)) for part in parts]
        return False

    # -- EM -------------------------------------------------------------------------------------------------------
    def _pass(self) -> float:
        """One EM step for every block; the largest partial derivative of the objective met, of words that can move."""
        fit = self.fit
        intercept = fit.intercept_prior
        worst = 0.0
        for block, prior in self.blocks:
            omega = self._expect()
            w = fit.w[block.columns]
            b_variance = np.zeros(1) if intercept is None else intercept.variance(np.array([fit.intercept]))
            offset, variance = np.append(w - prior.mean, fit.b), np.append(prior.variance(w), b_variance)
            gradient = block.gradient(fit.score)
            step = block.direction(gradient, omega, offset, variance)
            eta_step = block.times(step)
            if not fit.link.em_majorises:
                share = self._share_that_gains(eta_step, step, offset, variance)
                step, eta_step = share * step, share * eta_step
            slope = np.divide(offset, variance, out=np.zeros_like(offset), where=variance > 0.0)
            worst = max(worst, float(np.abs(gradient - slope)[variance > 0.0].max(initial=0.0)))
            # A variance too small for a number holds its word where it will end anyway: at the mean.
            fit.w[block.columns] = np.where(variance[:-1] > 0.0, w + step[:-1], prior.mean)
            fit.b += float(step[-1])
            fit.eta = fit.eta + eta_step
        fit.n_iter += 1
        return worst

    def _share_that_gains(
        self, eta_step: FloatArray, step: FloatArray, offset: FloatArray, variance: FloatArray
    ) -> float:
        """Share of a step, 1, ½, ¼, …, that does not lower the likelihood under the prior that the M-step sees.

        Where the M-step is no least squares (the cut of a skewed link moves with the weights), the step is Newton's
        for it (Lange 1995, A gradient algorithm locally equivalent to the EM algorithm) and might be too long.
        """
        fit, held = self.fit, (variance > 0.0) & np.isfinite(variance)
        # Of weights close to their mean offset, step and variance are alike small, but 1/variance is not a number.
        slope, bend = (
            float(np.divide(part, variance, out=np.zeros_like(part), where=held) @ step) for part in (offset, step)
        )
        start = self._likelihood(fit.eta)
        for share in 0.5 ** np.arange(_HALVINGS):
            if self._likelihood(fit.eta + share * eta_step) - start >= share * (slope + 0.5 * share * bend):
                return float(share)
        return 0.0

    def _likelihood(self, eta: FloatArray) -> float:
        return self.fit.link.likelihood(eta, self.fit.y, self.fit.problem.sample_weight).total

    def _expect(self) -> FloatArray:
        """E-step: the score and the expected precision of the documents at the present weights."""
        fit, weight = self.fit, self.fit.problem.sample_weight
        fit.score, omega = fit.link.expectation(fit.eta, fit.y)
        if weight is not None:
            fit.score, omega = weight * fit.score, weight * omega
        return omega

    # -- what EM alone is slow at, or cannot do at all ------------------------------------------------------------
    def _threshold(self, gradient: FloatArray, violation: FloatArray) -> bool:
        """Move the words at a kink or near it by coordinate descent on EM's own majorising model of the likelihood.

        An EM step neither leaves the mean nor arrives at it, and close to it moves at a crawl, for there E[1/τ | w] =
        l1/|w − mean| outweighs the data. Soft-thresholding does all three, and lowers the posterior no more than EM.
        """
        fit, X = self.fit, self.fit.problem.X
        if fit.prior.smooth or fit.prior.pole:
            return False
        omega = self._expect()
        center, l1, l2 = fit.penalty
        offset = fit.w - center
        curvature = weighted_sums(X.indptr, X.indices, X.data, omega[:, None])[1][:, 0]
        arriving = np.abs(gradient + curvature * offset) <= l1
        crawling = curvature * np.abs(offset) <= l1  # an EM step goes less than half of the way
        chosen = np.where(offset == 0.0, violation > 0.0, arriving | crawling)
        if fit.allowed is not None:
            chosen &= fit.allowed
        columns = np.flatnonzero(chosen)
        if len(columns) == 0 and fit.intercept_l1 <= 0.0:
            return False
        starts, stops = column_ends(X, columns)
        parts = center, l1, l2, fit.low, fit.high
        penalty: tuple[Any, Any, Any, Any, Any] = tuple(part[columns] for part in parts)  # type: ignore[assignment]
        intercept: tuple[float, float, float] = fit.b, fit.intercept_l1, fit.intercept_l2
        step: Any = newton_step
        _, new_w, shift, eta_step, _ = step(
            starts, stops, X.indices, X.data, fit.score, omega, *penalty, fit.w[columns], *intercept, _SWEEP_TOL,
            _MAX_SWEEPS, 0.0, 0.0, *room_for_copy(int((stops - starts).sum())),
        )  # fmt: skip
        moved = fit.line_search(new_w, shift, eta_step, columns)
        self.record(fit.label, fit.w, fit.intercept)
        return moved

    def _accelerate(self, before: _State, image: _State) -> _State:
        """Go on from an EM step to where the last few of them point, as far as the objective stays below ``before``."""
        fit = self.fit
        here = np.append(image.w, image.b)
        target = self.anderson.propose(np.append(before.w, before.b), here)
        if target is None:
            return image
        step = target - here
        eta_step, start = np.full_like(image.eta, step[-1]), 0
        for block, _ in self.blocks:
            stop = start + len(block.columns)
            eta_step += block.times(np.append(step[start:stop], 0.0))
            start = stop
        for _ in range(_BACKTRACKS):
            fit.w[self.columns], fit.b = image.w + step[:-1], image.b + float(step[-1])
            fit.eta = image.eta + eta_step
            # Everything near a pole looks better than it is: no extrapolation may lead there.
            away = np.abs(image.w - fit.penalty.center[self.columns]) if fit.prior.pole else np.inf
            if (np.abs(step[:-1]) <= 0.5 * away).all():
                reached = self._state()
                if reached.objective <= before.objective + _rounding(before):
                    return reached
            step, eta_step = 0.25 * step, 0.25 * eta_step
        self._restore(image)
        self.anderson.clear()
        return image

    # -- the present weights --------------------------------------------------------------------------------------
    def _n_away(self) -> int:
        return int(np.count_nonzero(self.fit.w != self.fit.penalty.center))

    def _point(self) -> FloatArray:
        return np.append(self.fit.w[self.columns], self.fit.b)

    def _state(self) -> _State:
        fit = self.fit
        fit.likelihood = self._likelihood(fit.eta)
        return _State(fit.w[self.columns], fit.b, fit.eta, fit.likelihood, fit.objective())

    def _restore(self, state: _State) -> None:
        self.fit.w[self.columns], self.fit.b, self.fit.eta, self.fit.likelihood, _ = state


def _rounding(state: _State) -> float:
    """Rounding error of the objective, a sum over documents and words."""
    return ROUNDING * (abs(state.likelihood) + abs(state.objective))


_STALLED = 3  # rounds that gain nothing but rounding before a fit is given up


@cache
def _blas() -> Any:
    """The linear algebra libraries of this process."""
    return ThreadpoolController()


class BaseEm(BaseInference):
    """Settings and steps of EM; see ``em`` for what they mean."""

    fields: ClassVar[Fields] = {"start": Choice("ridge", "mean", None)}

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
