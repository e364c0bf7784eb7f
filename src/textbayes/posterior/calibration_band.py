"""Intervals of the probabilities of a model: by what became of texts that it had not seen, and by refits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from scipy import linalg, special

from textbayes.core.array_fields import Array
from textbayes.core.errors import InputError
from textbayes.core.state import with_fields
from textbayes.core.types import BoolArray, FloatArray
from textbayes.core.validation import check_level

# The prior of the calibration curve, log-odds of the share as a function of the log-odds given: the identity, plus a
# constant, a slope and a smooth curve of these standard deviations. Without held-out texts the 95 % interval of a
# probability of .98 is then .69 to .999; a few hundred texts overrule it.
_SHIFT_SD, _SLOPE_SD, _BEND_SD, _BEND_WIDTH = 0.5, 0.25, 0.4, 2.5
# Held-out texts were scored by the models of the folds, and the model of all texts has a curve of its own: standard
# errors are this much larger. `benchmarks/bench_intervals.py` prints what they hold.
_OTHER_MODEL = 1.35
_NEAR = 1.0  # width of the kernel, in log-odds, by which the variance between fits is averaged
_SHRINKAGE = 20.0  # texts of all labels beside those of one
# Refits have the scales and weights of members that all texts chose; models of other texts choose others. On five
# corpora (300 texts of each, automatic and linear training) the differences are 0.9 to 1.6 times as large.
_OTHER_CHOICES = 1.4
_KNOTS = np.linspace(-10.0, 10.0, 25)
_BINS = 121  # of log-odds within the knots: finer than anything that held-out texts tell
_STEPS = 25
_TOLERANCE = 1e-8


@with_fields(
    {
        "mean": Array(np.float64, ("n_columns", len(_KNOTS)), least=-1e3, most=1e3),
        "sd": Array(np.float64, ("n_columns", len(_KNOTS)), least=0.0, most=1e3),
        "refit_sd": Array(np.float64, ("n_columns", len(_KNOTS)), least=0.0, most=1e3),
    }
)
class CalibrationBand(NamedTuple):
    """What is known of the probabilities of a model, as a function of its log-odds.

    An interval is of the share of texts that have a label among those to which the model gives the same probability;
    with refits it is widened to hold, as surely, the probability that a model of other training texts would give. It is
    not one of "the" probability of a text: without assumptions on how labels depend on words nothing can be said of it
    (Barber 2020). It means the same for every model, and says nothing of texts of another kind.

    Attributes
    ----------
    mean, sd : arrays (n_columns, n_knots)
        Of the log-odds of the share, at fixed log-odds of what the model says.
    refit_sd : array (n_columns, n_knots)
        Standard deviation of the difference between these log-odds and those of a model of as many other texts; zero
        where no refits told it.

    References
    ----------
    Barber (2020), Is distribution-free inference possible for binary regression?, Electronic Journal of Statistics 14,
    3487–3524. Gupta, Podkopaev & Ramdas (2020), Distribution-free binary classification: prediction sets, confidence
    intervals and calibration, NeurIPS. Rasmussen & Williams (2006), Gaussian Processes for Machine Learning, section
    3.4, for Laplace's approximation.
    """

    mean: FloatArray
    sd: FloatArray
    refit_sd: FloatArray

    @classmethod
    def fit(
        cls,
        proba: FloatArray,
        indicator: BoolArray,
        usable: BoolArray | None = None,
        weight: FloatArray | None = None,
        refits: Refits | None = None,
    ) -> Self:
        """The band of every label.

        Parameters
        ----------
        proba : array (n_docs, n_columns)
            Probabilities of texts that the model had not seen.
        indicator : boolean array (n_docs, n_columns)
            Whether each text has each label.
        usable : boolean array (n_docs, n_columns), optional
            False where a probability means nothing.
        weight : array (n_docs,), optional
            How much each text counts; their mean is taken to be one.
        refits : Refits, optional
            How far fits to other texts differ; without it intervals are of the share alone.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> proba = rng.random((500, 1))
        >>> band = CalibrationBand.fit(proba, rng.random((500, 1)) < proba)
        >>> [float(end[0, 0].round(2)) for end in band.interval(np.array([[0.8]]), 0.9)]
        [0.73, 0.86]
        """
        root = _prior_root()
        start = np.linspace(_KNOTS[0], _KNOTS[-1], _BINS)
        design = _interpolation(start) @ root
        counts = np.ones(len(proba)) if weight is None else weight / max(float(weight.mean()), 1e-300)
        step = (_KNOTS[-1] - _KNOTS[0]) / (_BINS - 1)
        mean, sd = np.empty((proba.shape[1], len(_KNOTS))), np.empty((proba.shape[1], len(_KNOTS)))
        for k in range(proba.shape[1]):
            use = slice(None) if usable is None else usable[:, k]
            place = np.rint((_log_odds(proba[use, k]) - _KNOTS[0]) / step).astype(np.int64)
            texts = np.bincount(place, counts[use], _BINS).astype(np.float64)
            having = np.bincount(place, counts[use] * indicator[use, k], _BINS).astype(np.float64)
            mode, factor = _mode(design, start, texts, having)
            mean[k] = _KNOTS + root @ mode
            spread = linalg.solve_triangular(factor, root.T, lower=True)
            sd[k] = _OTHER_MODEL * np.sqrt(np.einsum("ij,ij->j", spread, spread))
        return cls(mean, sd, np.zeros_like(sd) if refits is None else _OTHER_CHOICES * np.sqrt(refits.smoothed(_KNOTS)))

    def interval(self, proba: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
        """Ends of the intervals, each like ``proba``: of the share, and widened to hold what other fits would give.

        Parameters
        ----------
        proba : array (n_docs, n_columns)
        level : float
            The probability that an interval holds the share, and that of a fit to other texts.
        """
        check_level(level)
        log_odds, reach = _log_odds(proba), special.ndtri(0.5 + 0.5 * level)
        low, high = np.empty_like(log_odds), np.empty_like(log_odds)
        for k in range(proba.shape[1]):
            own = log_odds[:, k]
            middle, share, refit = (np.interp(own, _KNOTS, one[k]) for one in (self.mean, self.sd, self.refit_sd))
            low[:, k] = np.minimum(middle - reach * share, own - reach * refit)
            high[:, k] = np.maximum(middle + reach * share, own + reach * refit)
        return np.minimum(special.expit(low), proba), np.maximum(special.expit(high), proba)


class Refits(NamedTuple):
    """How far probabilities differ between fits to different texts.

    Attributes
    ----------
    log_odds : array (n_docs, n_columns)
        Of texts that none of the fits had seen.
    variance : array (n_docs, n_columns)
        Of the difference between the log-odds of two fits; NaN where they mean nothing.
    """

    log_odds: FloatArray
    variance: FloatArray

    @classmethod
    def of_parts(cls, proba: Sequence[FloatArray]) -> Self:
        """The delete-a-group jackknife.

        Parameters
        ----------
        proba : sequence of arrays (n_docs, n_columns)
            Of fits that lack one part of the texts each, all parts being of one size; NaN where a fit did not know a
            label.

        References
        ----------
        Efron & Stein (1981), The jackknife estimate of variance, The Annals of Statistics 9, 586–596.
        """
        each = np.stack([_log_odds(one) for one in proba])
        n = len(each)
        return cls(each.mean(axis=0), 2.0 * (n - 1) * each.var(axis=0))

    def smoothed(self, places: FloatArray) -> FloatArray:
        """Mean variance around some log-odds, (n_columns, n_places): of each label, drawn to that of all labels."""
        known = np.isfinite(self.variance)
        sums, counts = np.empty((2, self.variance.shape[1], len(places)))
        for k, rows in enumerate(known.T):
            near = np.exp(-0.5 * ((places - self.log_odds[rows, k, None]) / _NEAR) ** 2)
            sums[k], counts[k] = self.variance[rows, k] @ near, near.sum(axis=0)
        overall = float(self.variance[known].mean()) if known.any() else 0.0
        everyone = (sums.sum(axis=0) + _SHRINKAGE * overall) / (counts.sum(axis=0) + _SHRINKAGE)
        return np.asarray((sums + _SHRINKAGE * everyone) / (counts + _SHRINKAGE))


def _log_odds(proba: FloatArray) -> FloatArray:
    """Log-odds within the knots."""
    least = special.expit(_KNOTS[0])
    return np.asarray(special.logit(np.clip(proba, least, 1.0 - least)))


def _interpolation(places: FloatArray) -> FloatArray:
    """The matrix that interpolates values at the knots linearly at some places, (n_places, n_knots)."""
    return np.column_stack([np.interp(places, _KNOTS, one) for one in np.eye(len(_KNOTS))])


def _prior_root() -> FloatArray:
    """R with R·Rᵀ the prior covariance of the curve at the knots."""
    distance = (_KNOTS[:, None] - _KNOTS) / _BEND_WIDTH
    cov = _SHIFT_SD**2 + _SLOPE_SD**2 * np.outer(_KNOTS, _KNOTS) + _BEND_SD**2 * np.exp(-0.5 * distance**2)
    return np.asarray(linalg.cholesky(cov + 1e-6 * np.eye(len(_KNOTS)), lower=True))


def _mode(
    design: FloatArray, start: FloatArray, texts: FloatArray, having: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Mode of z ~ N(0, I) given ``having`` of ``texts`` at log-odds start + design·z, and the Hessian's factor."""
    z = np.zeros(design.shape[1])
    used = texts > 0.0
    design, start, texts, having = design[used], start[used], texts[used], having[used]

    def objective(at: FloatArray) -> float:
        eta = start + design @ at
        return float(0.5 * at @ at + texts @ np.logaddexp(0.0, eta) - having @ eta)

    value = objective(z)
    for _ in range(_STEPS):
        share = special.expit(start + design @ z)
        gradient = z - design.T @ (having - texts * share)
        hessian = np.eye(len(z)) + (design.T * (texts * share * (1.0 - share))) @ design
        factor = linalg.cholesky(hessian, lower=True)
        step = linalg.cho_solve((factor, True), gradient)
        length = 1.0
        while (new := objective(z - length * step)) > value and length > 1e-6:
            length *= 0.5
        if value - new <= _TOLERANCE:
            break
        z, value = z - length * step, new
    return z, factor


def interval_within(band: CalibrationBand | None, proba: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """The interval of each probability; a model without a band is refused."""
    if band is None:
        raise InputError(
            "intervals come from texts held out in training, and this model has none: it has learnt more texts "
            "since (update), or was made otherwise (a filter, clusters, an earlier version); train it anew on texts"
        )
    return band.interval(proba, level)
