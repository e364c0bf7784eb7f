"""How many relevant records are left: a distribution, and with it the probability that a recall is reached.

Summing a model's probabilities over what is unread says far too much, and every recalibration on records that were
chosen because they looked relevant is off in its own way. What can be learnt from reviews that were read to their end
is how two such figures go with what was really left: the recalibrated sum S, and what the pace of the last finds says,
P = 3·unread/(4 + records read since the third last find). The number left is taken to be negative binomial with

    ln mean = b₀ + b₁ ln(S + 0.1) + b₂ ln P,

whose four numbers ``benchmarks/bench_screen_stop.py`` fits, and tries on reviews that they were not fitted to.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import optimize, special, stats

from textbayes.core.types import FloatArray
from textbayes.inference.newton import logit_mode
from textbayes.screen.topic import LeftOut, ReadingHistory, ScreeningTopic

_FINDS = 3  # last relevant records that tell the pace
_STEADY = 1.0  # precision of the prior of a recalibration's slope, which is around 1
_FLATTEST = 0.1  # slope: predictors drift as more is learnt, but their order always counts
_RIDGE = 0.1


Line = tuple[float, float]  # level and slope


class State(NamedTuple):
    """What estimates and stopping rules look at.

    Parameters
    ----------
    n_records : int
    reading : ReadingHistory
    unread : array
        Predictors of the records that have no answer.
    quicker : callable, optional
        What stands for :func:`recalibration` where something is known that makes it quicker.
    """

    n_records: int
    reading: ReadingHistory
    unread: FloatArray
    quicker: Callable[[State], Line] | None = None

    @classmethod
    def of(cls, topic: ScreeningTopic) -> State:
        """The state of a topic."""
        return cls(len(topic.answers), topic.reading(), topic.predictors[topic.unread()])

    @property
    def n_found(self) -> int:
        """Relevant records found."""
        return int(self.reading.relevant.sum())


class Signs(NamedTuple):
    """The two figures that an estimate goes by, as logarithms."""

    recalibrated: float
    pace: float

    @classmethod
    def of(cls, state: State) -> Signs:
        """The signs of a state."""
        probabilities = recalibrated(state)
        finds = np.flatnonzero(state.reading.relevant)
        n_read = len(state.reading.rows)
        since = n_read - 1 - int(finds[-_FINDS]) if len(finds) >= _FINDS else n_read
        pace = _FINDS * len(state.unread) / (since + _FINDS + 1.0)
        return cls(math.log(float(probabilities.sum()) + 0.1), math.log(max(pace, 1e-3)))


class RemainingWeights(NamedTuple):
    """The parameters of the estimate, as reviews read to their end taught them.

    Parameters
    ----------
    intercept, recalibrated, pace : float
        b₀, b₁ and b₂ of the logarithm of the mean.
    size : float
        Of the negative binomial distribution: the smaller, the wider.
    """

    intercept: float
    recalibrated: float
    pace: float
    size: float

    def left(self, signs: Signs, n_unread: int) -> Left:
        """What these numbers make of the signs."""
        mean = math.exp(self.intercept + self.recalibrated * signs.recalibrated + self.pace * signs.pace)
        return Left(min(mean, float(n_unread)), self.size)


DEFAULT_WEIGHTS = RemainingWeights(-1.034, 0.239, 0.677, 1.726)  # of 23 reviews, each in four shapes


class Left(NamedTuple):
    """Distribution of the number of relevant records left: negative binomial of this mean and size."""

    mean: float
    size: float

    def at_most(self, n: int) -> float:
        """The probability that no more than ``n`` are left."""
        return float(stats.nbinom.cdf(n, self.size, self.size / (self.size + self.mean)))

    def quantile(self, probability: float) -> int:
        """The number that is not exceeded with a probability."""
        return int(stats.nbinom.ppf(probability, self.size, self.size / (self.size + self.mean)))


def may_be_left(n_found: int, target: float) -> int:
    """The most relevant records that may be left when a share of all, the target, is to be found.

    >>> may_be_left(19, 0.95), may_be_left(18, 0.95)
    (1, 0)
    """
    return math.floor(n_found * (1.0 / target - 1.0) + 1e-9)


def estimate_remaining(state: State, weights: RemainingWeights = DEFAULT_WEIGHTS) -> Left:
    """How many relevant records are left.

    Parameters
    ----------
    state : State
    weights : RemainingWeights
    """
    return weights.left(Signs.of(state), len(state.unread))


def recalibration(state: State, near: Line | None = None) -> Line:
    """Level and slope of a logistic regression of the answers on the predictors just before each was given.

    The slope's prior is N(1, 1), and it is never flat, so that the order of records stays.

    Parameters
    ----------
    state : State
    near : tuple of float, optional
        Where to begin: what was found for nearly the same state.
    """
    if state.quicker is not None:
        return state.quicker(state)
    x, y = state.reading.predictors, state.reading.relevant
    start = np.array(near or (math.log((y.sum() + 0.5) / ((~y).sum() + 0.5)), 1.0))
    prior = np.array([0.0, 1.0]), np.array([1e-3, _STEADY])
    (level, slope), _ = logit_mode(np.column_stack([np.ones_like(x), x]), y, np.ones(len(x)), start, *prior)
    return float(level), max(float(slope), _FLATTEST)


def recalibrated(state: State, at: FloatArray | None = None) -> FloatArray:
    """Probabilities of the unread records, or at other predictors, recalibrated on what was read.

    Parameters
    ----------
    state : State
    at : array, optional
    """
    level, slope = recalibration(state)
    return special.expit(level + slope * (state.unread if at is None else at))


def calibration_line(judged: LeftOut) -> Line:
    """Level and slope that make probabilities of a model's predictors as they are, of which no answer is its own.

    The prior of the change of log-odds by one standard deviation of the predictors is N(1, 1): few answers leave
    predictors close together, however well they tell the records apart.

    Parameters
    ----------
    judged : LeftOut
    """
    relevant, predictors, counts = judged
    middle, unit = 0.0, 1.0
    if len(predictors):
        middle = float(np.average(predictors, weights=counts))
        unit = math.sqrt(float(np.average((predictors - middle) ** 2, weights=counts))) or 1.0
    n_relevant = float(counts @ relevant)
    start = np.array([math.log((n_relevant + 0.5) / (float(counts.sum()) - n_relevant + 0.5)), 1.0])
    x = np.column_stack([np.ones_like(predictors), (predictors - middle) / unit])
    (level, slope), _ = logit_mode(x, relevant, counts, start, np.array([0.0, 1.0]), np.array([1e-3, _STEADY]))
    slope = max(float(slope), _FLATTEST) / unit
    return float(level) - slope * middle, slope


def fit_remaining(signs: Sequence[Signs], left: Sequence[int], weight: FloatArray) -> RemainingWeights:
    """The numbers that go best with what was really left, by maximum likelihood with a small ridge.

    Parameters
    ----------
    signs : sequence of Signs
    left : sequence of int
    weight : array
        Of each of them: those of one review are many, and say nearly the same.
    """
    A = np.column_stack([np.ones(len(signs)), np.array(signs)])
    y = np.asarray(left, dtype=np.float64)

    def loss(parameters: FloatArray) -> float:
        mean, size = np.exp(np.clip(A @ parameters[:-1], -12.0, 12.0)), math.exp(parameters[-1])
        likelihood = special.gammaln(y + size) - math.lgamma(size) + size * np.log(size / (size + mean))
        likelihood += y * np.log(mean / (size + mean))
        return float(-(weight * likelihood).sum() + _RIDGE * (parameters[1:-1] ** 2).sum())

    found = optimize.minimize(loss, np.zeros(A.shape[1] + 1), method="L-BFGS-B").x
    intercept, recalibrated, pace, log_size = found.tolist()
    return RemainingWeights(intercept, recalibrated, pace, math.exp(log_size))
