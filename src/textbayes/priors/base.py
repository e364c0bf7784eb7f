"""Base of all priors: hyperparameters that are scalars or one value per word (and per label).

A Gibbs sampler sees a prior as ``Conditional``: given a precision that may be drawn, a penalty l1·|w − mean| + ½ l2·(w
− mean)². A prior whose penalty has that form is sampled as it is. One that is a normal scale mixture, w ~ N(mean,
scale²/q) with a random precision q, says how q is drawn given the weight (``Mixing``).
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from textbayes.core.array_fields import Hyper
from textbayes.core.codec import Field, Fields
from textbayes.core.errors import InputError
from textbayes.core.protocols import LocalPenalty
from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.core.validation import as_numbers


class Mixing(ABC):
    """The distribution of the precisions q of a normal scale mixture, one for each word.

    Attributes
    ----------
    degrees : float or array
        ν where q ~ Gamma(ν/2, ν/2), and inf where q^(−1/2) is half-Cauchy: for these two a kernel moves q and its
        weight together, which mixes better. 0 for any other distribution, which needs ``draw`` alone.
    """

    degrees: FloatArray | float = 0.0

    @abstractmethod
    def draw(self, square: FloatArray, precision: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Precisions given the weights, or a step of a chain that keeps their distribution.

        Parameters
        ----------
        square : array (n_words,)
            ((w − mean)/scale)², so that the density is ∝ p(q)·√q·exp(−½ q·square).
        precision : array (n_words,)
            The present ones.
        rng : numpy.random.Generator
        """


class Conditional(NamedTuple):
    """The penalty given a precision q: l1·|w − mean| + ½ q·l2·(w − mean)², with q = 1 where there is no mixing.

    Parameters
    ----------
    l1, l2 : float or array (n_words,)
    mixing : Mixing, optional
        Of the precisions; of a scale mixture l1 is 0 and l2 is 1/scale².
    """

    l1: FloatArray | float
    l2: FloatArray | float
    mixing: Mixing | None = None


class BasePrior(ABC):
    """An independent prior on each weight, centred at ``mean`` with width ``scale``.

    Both are a scalar, an array (n_features,), or an array (n_labels, n_features) or (n_labels, 1) that gives each
    label its own. ``scale = inf`` leaves a word unpenalised. ``sign`` 1 or −1 keeps a weight at zero or on that side
    of it, 0 leaves both sides open; the density's constant is that of both sides all the same. Further
    hyperparameters of a family are arrays of the same shapes, stored under their argument's name.

    Every prior here is a normal scale mixture, w ~ N(mean, τ) with τ random, so that EM needs no more of it than
    E[1/τ | w] = −(d log p/dw)/(w − mean) (Dempster, Laird & Rubin 1980), of which ``variance`` is the inverse.

    Parameters
    ----------
    scale, mean : float or array
    sign : 1, −1, 0 or array of these
    """

    name: ClassVar[str]
    fields: ClassVar[Fields] = {
        "scale": Hyper(above=0.0, infinite=True),
        "mean": Hyper(),
        "sign": Hyper(-1.0, 1.0),
    }
    undeclared: ClassVar[Field] = Hyper(infinite=True)  # further hyperparameters, as a model file keeps them
    proper: ClassVar[bool]
    smooth: ClassVar[bool]  # differentiable everywhere: no kink that could hold a weight at the mean
    log_concave: ClassVar[bool]  # with a log-concave link there is one optimum; otherwise the start decides
    pole: ClassVar[bool] = False  # the density is infinite at the mean: a weight that is there never leaves
    exact_local: ClassVar[bool] = False  # ``local`` is the penalty itself, the same at every w

    def __init__(self, scale: ArrayLike = 1.0, mean: ArrayLike = 0.0, sign: ArrayLike = 0) -> None:
        self.scale = as_numbers(scale, "prior scale")
        self.mean = as_numbers(mean, "prior mean")
        if np.isnan(self.scale).any() or (self.scale <= 0).any():
            raise InputError(
                "a prior scale must be a positive number (inf for no penalty); some are zero, negative or NaN"
            )
        if not np.isfinite(self.mean).all():
            raise InputError("a prior mean must be finite; some are NaN or infinite")
        self.sign = as_numbers(sign, "prior sign")
        if not np.isin(self.sign, (-1.0, 0.0, 1.0)).all():
            raise InputError("a prior sign must be 1 (weight ≥ 0), -1 (weight ≤ 0) or 0 (either)")
        if self.signed and (self._sign_times_mean() < 0.0).any():
            raise InputError("a prior mean lies on the side that its sign forbids; change one of the two")

    def _sign_times_mean(self) -> FloatArray:
        try:
            return self.sign * self.mean
        except ValueError:
            raise InputError(
                f"prior sign has shape {self.sign.shape}, which does not go with mean of shape {self.mean.shape}"
            ) from None

    @property
    def signed(self) -> bool:
        """Whether any weight is held to one side of zero."""
        return bool(self.sign.any())

    def bounds(self, shape: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
        """The least and the largest weight that the signs allow."""
        sign = np.broadcast_to(self.sign, shape)
        return np.where(sign > 0.0, 0.0, -np.inf), np.where(sign < 0.0, 0.0, np.inf)

    def __repr__(self) -> str:
        given = ", ".join(
            f"{name}={value.item():g}" if value.ndim == 0 else f"{name}=<array {value.shape}>"
            for name, value in vars(self).items()
        )
        return f"{type(self).__name__}({given})"

    @abstractmethod
    def neg_log(self, w: FloatArray) -> FloatArray:
        """Negative log-density −log p(w), elementwise; an unpenalised word contributes 0."""

    @abstractmethod
    def local(self, w: FloatArray) -> LocalPenalty:
        """Local penalty a kernel sees at ``w``, arrays of the shape of ``w``.

        Up to a constant it touches −log p at ``w`` and lies nowhere below, so what lowers it never lowers the density.
        """

    def variance(self, w: FloatArray) -> FloatArray:
        """Variance 1 / E[1/τ | w] = −(w − mean) / (d log p/dw): 0 where a kink holds the weight, inf where it is free.

        Written with the local penalty it is |u| / (l1 + l2 |u|) with u = w − mean, so that a weight at its mean divides
        nothing by zero.
        """
        center, l1, l2 = self.local(w)
        offset = np.abs(w - center)
        slope = l1 + l2 * offset
        at_mean = (offset == 0.0) & (l1 == 0.0)
        numerator, denominator = np.where(at_mean, 1.0, offset), np.where(at_mean, l2, slope)
        return np.divide(numerator, denominator, out=np.full_like(numerator, np.inf), where=denominator > 0.0)

    def penalty(self, w: FloatArray) -> FloatArray:
        """Penalty −log p(w) up to a constant: 0 at the mean. At a pole, which no number can stand for, 0 as well."""
        if self.exact_local:  # without the constants, whose rounding would hide the last steps of a fit
            center, l1, l2 = self.local(w)
            return l1 * np.abs(w - center) + 0.5 * l2 * (w - center) ** 2
        if not self.pole:
            return self.neg_log(w) - self.neg_log(self.mean)
        away = w != self.mean
        return np.where(away, self.neg_log(np.where(away, w, self.mean + 1.0)), 0.0)

    def conditional(self) -> Conditional | None:
        """The prior as a Gibbs sampler sees it; None where it has no such form and cannot be sampled.

        A proper prior with ``exact_local`` has one already; a normal scale mixture names the ``Mixing`` of its scales.
        """
        if not (self.proper and self.exact_local):
            return None
        _, l1, l2 = self.local(np.zeros(np.broadcast_shapes(*(value.shape for value in vars(self).values()))))
        return Conditional(l1, l2)

    @property
    def tail_index(self) -> float:
        """α of the heaviest tail, where p(\\|w\\| > x) falls like x^−α; inf where all fall faster than any power."""
        return np.inf

    def by_family(self, shape: tuple[int, ...]) -> Iterator[tuple[BoolArray, BasePrior]]:
        """Each family of priors that occurs, on its own words, and which they are; of most priors there is one."""
        yield np.ones(shape, dtype=np.bool_), self

    def rescaled(self, scale: Any, mean: ArrayLike = 0.0) -> BasePrior:
        """Prior of the same family with another scale and mean, and no sign.

        Further hyperparameters stay if they are single numbers.
        """
        others = {name: value for name, value in vars(self).items() if name not in ("scale", "mean", "sign")}
        if any(value.ndim for value in others.values()):
            others = {}  # per-word values say nothing of an intercept: the family's defaults
        return type(self)(scale=scale, mean=mean, **others)

    def for_label(self, label: int, n_features: int) -> BasePrior:
        """Prior of one label, with hyperparameters of shape (n_features,)."""
        one = copy.copy(self)  # its values were checked when it was made
        vars(one).update({name: _row(value, name, label, n_features) for name, value in vars(self).items()})
        return one

    def take(self, columns: IntArray) -> BasePrior:
        """The prior of some words, of a prior whose hyperparameters have shape (n_features,)."""
        return type(self)(**{name: value[columns] for name, value in vars(self).items()})


def _row(value: FloatArray, name: str, label: int, n_features: int) -> FloatArray:
    row = value[label] if value.ndim == 2 else value
    try:
        return np.broadcast_to(row, (n_features,))
    except ValueError:
        raise InputError(
            f"prior {name} has shape {value.shape}; pass a number, one value per word ({n_features},) "
            f"or one row per label (n_labels, {n_features})"
        ) from None
