"""Records as people see them: in order, with probabilities and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from textbayes.core.types import FloatArray
from textbayes.screen.gauge import State, gauge, recalibrated
from textbayes.screen.intervals import WIDE
from textbayes.screen.topic import Topic


class Estimate(NamedTuple):
    """How probably a record is relevant, and between which bounds with 90 %.

    Parameters
    ----------
    probability, low, high : float
    """

    probability: float
    low: float
    high: float


def estimate(topic: Topic, rows: Sequence[int]) -> list[Estimate]:
    """Probabilities of some records: recalibrated on what was read, in all as many as the gauge says are left.

    Bounds are those of the model's weights alone; what the recalibration does not know is not in them.

    Parameters
    ----------
    topic : Topic
    rows : sequence of int
    """
    chosen = np.asarray(rows, dtype=np.int64)
    spread = WIDE * topic.standard_errors(chosen)
    predictors = topic.predictors[chosen]
    told = probabilities(topic, np.concatenate([predictors, predictors - spread, predictors + spread]))
    return [Estimate(*map(float, bounds)) for bounds in told.reshape(3, -1).T]


def probabilities(topic: Topic, predictors: FloatArray) -> FloatArray:
    """Probabilities at some predictors, as :func:`estimate` has them; cheap, whatever was read.

    Parameters
    ----------
    topic : Topic
    predictors : array
    """
    state = State.of(topic)
    total = float(recalibrated(state).sum())
    share = min(1.0, gauge(state).mean / total) if total > 0.0 else 1.0
    return share * recalibrated(state, predictors)
