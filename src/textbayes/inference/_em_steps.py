"""The EM steps of one label: plain ones, and rounds of accelerated ones with the words at a kink settled in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from textbayes.core.memory import room_for_copy
from textbayes.core.types import FloatArray, IntArray
from textbayes.inference._anderson import Anderson
from textbayes.inference._label import ROUNDING, LabelFit
from textbayes.inference._mstep import Block
from textbayes.inference._working_set import column_ends
from textbayes.kernels.linear.coordinate import newton_step
from textbayes.kernels.sparse import weighted_sums
from textbayes.priors.base import BasePrior

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
        self.blocks: list[tuple[Block, BasePrior]] = []
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
        moved = self._settle(gradient, violation)
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
        self.blocks = [(Block(fit.problem.X, part, len(parts) == 1), fit.prior.take(part)) for part in parts]
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
    def _settle(self, gradient: FloatArray, violation: FloatArray) -> bool:
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
