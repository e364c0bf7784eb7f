"""The penalties of the columns while a chain runs: those of the priors, with precisions and a global scale to be drawn.

What a prior is given its precisions, and how these are drawn, it says itself (``BasePrior.conditional``).

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
from textbayes.kernels.gibbs.tails import laplace_variances
from textbayes.links.base import BaseLink
from textbayes.priors import priors
from textbayes.priors._conditional import Mixing
from textbayes.priors.base import BasePrior

INTERCEPT_SCALE = 10  # of an intercept that cannot be free: wide beside the log-odds of any label
_HEAVIEST = 1.0  # tail index up to which a prior is too heavy for an intercept that is free
_SLICE_STEP, _MOST_STEPS = 1.0, 50


def check_prior(prior: BasePrior) -> None:
    """Refuse a prior whose posterior cannot be sampled here, or is none."""
    for family in _families(prior):
        if family.conditional() is None:
            reason = "has no form to sample by" if family.proper else "is improper, and so may be its posterior"
            others = (family for name in priors.names() for family in _families(priors.get(name)()))
            names = sorted({other.name for other in others if other.conditional() is not None})
            raise NotSupportedError(
                f"inference 'gibbs' cannot take prior {family.name!r}, which {reason}: use one of {', '.join(names)}"
            )


def check_proper(link: BaseLink, prior: BasePrior, intercept: BasePrior | None, sampled: bool) -> None:
    """Refuse a free word, and a free intercept that need not have a posterior.

    Parameters
    ----------
    link : BaseLink
    prior : BasePrior
        That of the words.
    intercept : BasePrior or None
        None leaves the intercept free.
    sampled : bool
        The global scale is sampled.
    """
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
    """Reason why a free intercept need not have a posterior under this link and prior; None where it has one.

    An intercept can go to infinity if weights follow that undo it: with tails of w^−1 or heavier (Cauchy, horseshoe, or
    any family with a half-Cauchy global scale) the prior mass of such weights falls too slowly to be integrated.
    """
    if link.least_probability > 0.0:
        return "a free intercept has no posterior where labels are noisy, as no outcome then is impossible"
    if sampled or prior.tail_index <= _HEAVIEST:
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
        Of the mixing, see ``Mixing``; 0 where there is none.
    mixed : array of int
        Columns whose precisions a kernel can move together with their weights.
    global_scale : float
        1 unless it is sampled.
    """

    def __init__(
        self, prior: BasePrior, intercept: BasePrior | None, n_words: int, sampled: bool, n_factors: int = 0
    ) -> None:
        self.n_words, self.sampled, self.global_scale = n_words + n_factors, sampled, 1.0
        columns = self.n_words + (intercept is not None)
        self.mean, self._l1, self._l2 = np.zeros(columns), np.zeros(columns), np.zeros(columns)
        self.degrees, self.precision = np.zeros(columns), np.ones(columns)
        self._l2[n_words : self.n_words] = 1.0
        self._mixings: list[tuple[AnyArray, Mixing]] = []
        parts = [(np.flatnonzero(where), family) for where, family in prior.by_family((n_words,))]
        if intercept is not None:
            for _, family in intercept.by_family((1,)):
                self.mean[self.n_words] = family.mean.item()
                if np.isfinite(family.scale).all():  # a free intercept is free whatever its family
                    parts.append((np.array([self.n_words]), family))
        # In this order precisions are drawn: changed, the same seed would give other draws.
        for kind in sorted({type(family) for _, family in parts}, key=lambda kind: kind.name, reverse=True):
            self._fill(*_joined([(where, family) for where, family in parts if type(family) is kind]))
        self.mixed = np.flatnonzero(self.degrees > 0.0)
        self._update()

    def _fill(self, columns: AnyArray, family: BasePrior) -> None:
        """Take the penalties of a family of priors on its columns, and the mixing of its precisions."""
        form = family.conditional()
        assert form is not None, family.name  # else ``check_prior`` has refused it
        self.mean[columns], self._l1[columns], self._l2[columns] = family.mean, form.l1, form.l2
        if form.mixing is not None:
            self.degrees[columns] = form.mixing.degrees
            self._mixings.append((columns, form.mixing))

    def _update(self) -> None:
        scale = np.ones(len(self.mean))
        scale[: self.n_words] = self.global_scale
        self.l1, self.l2 = self._l1 / scale, self._l2 * self.precision / scale**2

    def draw_local(self, offset: FloatArray, rng: np.random.Generator) -> None:
        """Draw the precisions of the mixtures given the offsets w − mean."""
        for columns, mixing in self._mixings:
            square = offset[columns] ** 2 * self._l2[columns]
            square[columns < self.n_words] /= self.global_scale**2
            self.precision[columns] = mixing.draw(square, self.precision[columns], rng)
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
    """Draw by slice sampling: a step on the line by stepping out and shrinking (Neal 2003, Annals of Statistics).

    Parameters
    ----------
    log_density : function of a number
    at : float
        The present value.
    rng : Generator
    """
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


def _families(prior: BasePrior) -> list[BasePrior]:
    shape = np.broadcast_shapes(*(value.shape for value in vars(prior).values()))
    return [family for _, family in prior.by_family(shape)]


def _joined(parts: list[tuple[AnyArray, BasePrior]]) -> tuple[AnyArray, BasePrior]:
    """Priors of one family on several columns as one on all of them, so that their precisions are drawn together."""
    columns = np.concatenate([where for where, _ in parts])
    values = {
        name: np.concatenate([np.broadcast_to(vars(family)[name], where.shape) for where, family in parts])
        for name in vars(parts[0][1])
    }
    return columns, type(parts[0][1])(**values)
