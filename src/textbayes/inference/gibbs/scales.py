"""Priors as a Gibbs sampler sees them: a penalty per word that is fixed, or that has a scale of its own to be drawn.

Given its scales, every prior here is a penalty l1·|w − mean| + ½ l2·(w − mean)² (the house equation): exactly for
``gaussian``, ``laplace`` and ``elastic_net``, and given a drawn precision for the normal scale mixtures

    student_t   w ~ N(mean, scale²/q),  q ~ Gamma(ν/2, ν/2)
    horseshoe   w ~ N(mean, scale²/q),  q^(−1/2) half-Cauchy.

A global scale g, where it is sampled, multiplies all words' scales and is half-Cauchy: the scales that are given are
its median. It is drawn twice in turn, given the weights and given the weights divided by it (interweaving, Yu & Meng
2011), which moves it well whether the documents say much or little.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from textbayes.core.errors import NotSupportedError
from textbayes.core.types import AnyArray, FloatArray
from textbayes.kernels.gibbs.tails import half_cauchy_precisions, laplace_variances
from textbayes.links.base import BaseLink
from textbayes.priors.base import BasePrior
from textbayes.priors.by_word import ByWord

MIXTURES = ("student_t", "horseshoe")
FIXED = ("gaussian", "laplace", "elastic_net")
INTERCEPT_SCALE = 10  # of an intercept that cannot be free: wide beside the log-odds of any label
_HEAVIEST = 1.0  # degrees of freedom up to which a tail is too heavy for an intercept that is free
_SLICE_STEP, _MOST_STEPS = 1.0, 50


def check_prior(prior: BasePrior) -> None:
    """Refuse a prior whose posterior cannot be sampled here, or is none."""
    for family in _families(prior):
        if family not in MIXTURES + FIXED:
            reason = "is improper, and so may be its posterior" if family == "jeffreys" else "has no form to sample by"
            raise NotSupportedError(
                f"inference 'gibbs' cannot take prior {family!r}, which {reason}: use one of "
                f"{', '.join(sorted(MIXTURES + FIXED))}"
            )


def check_proper(link: BaseLink, prior: BasePrior, intercept: BasePrior | None, sampled: bool) -> None:
    """Refuse a free word, and a free intercept that need not have a posterior."""
    if np.isinf(prior.scale).any():
        raise NotSupportedError(
            "inference 'gibbs' needs a prior on every word, and some scales are infinite: a posterior need not exist "
            "then; pass large scales such as 100 instead, or use inference 'coordinate'"
        )
    if intercept is None or not np.isinf(intercept.scale).any():
        return
    reason = why_improper(link, prior, sampled)
    if reason is not None:
        raise NotSupportedError(f"{reason}; give the intercept a prior too, such as intercept_scale={INTERCEPT_SCALE}")


def why_improper(link: BaseLink, prior: BasePrior, sampled: bool) -> str | None:
    """Why a free intercept need not have a posterior under this link and prior of the words; None where it has one.

    An intercept can go to infinity if weights follow that undo it: with tails of w^−1 or heavier (Cauchy, horseshoe, or
    any family with a half-Cauchy global scale) the prior mass of such weights falls too slowly to be integrated.
    """
    if link.name == "flip":
        return "a free intercept has no posterior where labels are noisy, as no outcome then is impossible"
    heavy = "horseshoe" in _families(prior) or (
        "student_t" in _families(prior) and bool((np.asarray(getattr(prior, "degrees", 4.0)) <= _HEAVIEST).any())
    )
    if heavy or sampled:
        what = "a sampled global scale" if sampled else f"prior {prior.name!r}"
        return f"a free intercept with {what} need not have a posterior: its tails are too heavy"
    return None


class Scales:
    """The penalties of one label's columns, those of the words first and that of the intercept, if any, last.

    Factors that words share, if any, come between them, are standard normal, and count as words in ``n_words``.

    Attributes
    ----------
    mean, l1, l2 : arrays (n_columns,)
        The present penalty; l1 and l2 are 0 for a free intercept.
    precision : array (n_columns,)
        q of the mixtures, 1 elsewhere; whoever changes it calls ``draw_local`` next.
    degrees : array (n_columns,)
        Of a Student-t mixture; infinite marks the horseshoe, 0 no mixture.
    mixed : array of int
        Columns that are mixtures.
    global_scale : float
        1 unless it is sampled.
    """

    def __init__(
        self, prior: BasePrior, intercept: BasePrior | None, n_words: int, sampled: bool, n_factors: int = 0
    ) -> None:
        self.n_words, self.sampled, self.global_scale = n_words + n_factors, sampled, 1.0
        columns = self.n_words + (intercept is not None)
        self.mean, self._l1, self._l2 = np.zeros(columns), np.zeros(columns), np.zeros(columns)
        self.degrees = np.zeros(columns)
        for where, member in _members(prior, n_words):
            self._fill(np.flatnonzero(where), member)
        if intercept is not None:
            for _, member in _members(intercept, 1):
                self._fill(np.array([self.n_words]), member)
        self._l2[n_words : self.n_words] = 1.0
        self._student = np.flatnonzero((self.degrees > 0.0) & np.isfinite(self.degrees))
        self._horseshoe = np.flatnonzero(np.isinf(self.degrees))
        self.mixed = np.flatnonzero(self.degrees > 0.0)
        self.precision = np.ones(columns)
        self._update()

    def _fill(self, columns: AnyArray, member: BasePrior) -> None:
        shape = (len(columns),)
        self.mean[columns] = member.mean
        if member.name in MIXTURES:
            self.degrees[columns] = getattr(member, "degrees", np.inf)
            self._l2[columns] = np.broadcast_to(member.scale, shape) ** -2.0
            if np.isinf(member.scale).any():  # a free intercept is free whatever its family
                self.degrees[columns] = 0.0
        else:
            _, self._l1[columns], self._l2[columns] = member.local(np.zeros(shape))

    def _update(self) -> None:
        scale = np.ones(len(self.mean))
        scale[: self.n_words] = self.global_scale
        self.l1, self.l2 = self._l1 / scale, self._l2 * self.precision / scale**2

    def draw_local(self, offset: FloatArray, rng: np.random.Generator) -> None:
        """Draw the precisions of the mixtures given the offsets w − mean."""
        for columns in (self._student, self._horseshoe):
            if len(columns) == 0:
                continue
            square = offset[columns] ** 2 * self._l2[columns]
            words = columns < self.n_words
            square[words] /= self.global_scale**2
            if columns is self._student:
                degrees = self.degrees[columns]
                drawn = rng.standard_gamma(0.5 * (degrees + 1.0)) / (0.5 * (degrees + square))
                self.precision[columns] = np.clip(drawn, 1e-150, 1e150)
            else:
                out = np.empty(len(columns))
                levels, uniforms = rng.random((2, len(columns)))
                half_cauchy_precisions(square, self.precision[columns], levels, uniforms, out)
                self.precision[columns] = out
        self._update()

    def draw_global(
        self,
        offset: FloatArray,
        log_likelihood: Callable[[float], float],
        rng: np.random.Generator,
    ) -> float:
        """Draw the global scale given the weights, then given weights/scale; returns the factor for the offsets.

        ``log_likelihood`` is that of all documents when the words' offsets are multiplied by its argument.
        """
        words = slice(0, self.n_words)
        absolute = float(self._l1[words] @ np.abs(offset[words]))
        square = float((self._l2 * self.precision)[words] @ offset[words] ** 2)

        def given_weights(log_scale: float) -> float:
            scale = np.exp(log_scale)
            return float(-self.n_words * log_scale - absolute / scale - 0.5 * square / scale**2) + _half_cauchy(scale)

        first = slice_draw(given_weights, float(np.log(self.global_scale)), rng)

        def given_ratios(log_scale: float) -> float:
            return log_likelihood(float(np.exp(log_scale - first))) + _half_cauchy(float(np.exp(log_scale)))

        second = slice_draw(given_ratios, first, rng)
        self.global_scale = float(np.exp(second))
        self._update()
        return float(np.exp(second - first))

    def variances(self, offset: FloatArray, rng: np.random.Generator) -> FloatArray:
        """A variance for every column given which its weight is normal: the Laplace part has its own drawn here."""
        precision = self.l2
        if self.l1.any():
            drawn = np.empty(len(offset))
            laplace_variances(offset, self.l1, rng.standard_normal(len(offset)), rng.random(len(offset)), drawn)
            precision = precision + 1.0 / np.maximum(drawn, 1e-300)
        return np.divide(1.0, precision, out=np.full(len(offset), np.inf), where=precision > 0.0)

    def state(self) -> tuple[dict[str, Any], dict[str, FloatArray]]:
        return {"global_scale": self.global_scale}, {"precision": self.precision.copy()}

    def restore(self, meta: dict[str, Any], arrays: dict[str, FloatArray]) -> None:
        self.global_scale, self.precision = float(meta["global_scale"]), arrays["precision"].copy()
        self._update()


def slice_draw(log_density: Callable[[float], float], at: float, rng: np.random.Generator) -> float:
    """A step of a chain on the line by stepping out and shrinking (Neal 2003, Slice sampling, Annals of Statistics)."""
    level = log_density(at) - rng.standard_exponential()
    low = at - _SLICE_STEP * rng.random()
    high = low + _SLICE_STEP
    left = int(rng.integers(_MOST_STEPS))
    for _ in range(left):
        if log_density(low) <= level:
            break
        low -= _SLICE_STEP
    for _ in range(_MOST_STEPS - 1 - left):
        if log_density(high) <= level:
            break
        high += _SLICE_STEP
    while True:
        new = low + (high - low) * rng.random()
        if log_density(new) >= level or high - low < 1e-12:
            return new if high - low >= 1e-12 else at
        low, high = (new, high) if new < at else (low, new)


def _half_cauchy(scale: float) -> float:
    """log of the half-Cauchy density of g as one of log g, up to a constant."""
    return float(np.log(scale) - np.log1p(scale**2))


def _families(prior: BasePrior) -> tuple[str, ...]:
    return prior.families if isinstance(prior, ByWord) else (prior.name,)


def _members(prior: BasePrior, n_words: int) -> list[tuple[AnyArray, BasePrior]]:
    if isinstance(prior, ByWord):
        return list(prior._members(np.zeros(n_words)))
    return [(np.ones(n_words, dtype=np.bool_), prior)]
