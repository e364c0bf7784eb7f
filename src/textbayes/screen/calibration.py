"""Whether stopping rules were right in simulated screenings, what they cost, and what came of what the gauge said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from textbayes.core.types import BoolArray, FloatArray
from textbayes.screen.gauge import DEFAULT_WEIGHTS, GaugeWeights, may_be_left
from textbayes.screen.simulate import Check, Simulation, Stop

_EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1.0)
LATE = 0.9  # p-value of the ranked test below which the gauge is looked at: before it, next to nothing is known


class Bin(NamedTuple):
    """Places in readings at which the gauge gave the target about the same probability.

    Parameters
    ----------
    said : float
        The mean of these probabilities.
    reached : float
        Share of the places at which the target was reached.
    n : int
    """

    said: float
    reached: float
    n: int


class RuleSummary(NamedTuple):
    """The stops of one rule.

    Parameters
    ----------
    rule : str
    stops : int
    right : float
        Share of them at which the target was reached.
    worst_recall : float
    excess : float
        Records read in all beyond those with which the target was reached, as a share of all records.
    """

    rule: str
    stops: int
    right: float
    worst_recall: float
    excess: float


def is_late(check: Check) -> bool:
    """Whether a check counts for the calibration: some was found, and the reading says a little of what is left."""
    return check.p_value < LATE and check.n_found >= 2


def gauge_checks(
    simulation: Simulation, target: float, weights: GaugeWeights = DEFAULT_WEIGHTS
) -> tuple[FloatArray, BoolArray]:
    """The probability that the gauge gave the target at every late check of a simulation, and whether it was reached.

    Parameters
    ----------
    simulation : Simulation
        With its checks, for this target.
    target : float
    weights : GaugeWeights
    """
    late, n = [check for check in simulation.checks if is_late(check)], len(simulation.rows)
    said = [gauge_probability(check, n, target, weights) for check in late]
    reached = [check.n_left <= may_be_left(check.n_found, target) for check in late]
    return np.array(said, dtype=np.float64), np.array(reached, dtype=np.bool_)


def gauge_probability(check: Check, n_records: int, target: float, weights: GaugeWeights = DEFAULT_WEIGHTS) -> float:
    """The probability that the gauge gave the target at a check.

    Parameters
    ----------
    check : Check
    n_records : int
    target : float
    weights : GaugeWeights
    """
    return weights.left(check.signs, n_records - check.n_read).at_most(may_be_left(check.n_found, target))


def calibration(said: FloatArray, reached: BoolArray) -> list[Bin]:
    """What happened, by what the gauge had said.

    Parameters
    ----------
    said, reached : arrays (n_checks,)
        Of :func:`gauge_checks`, of as many simulations as there are.

    Examples
    --------
    >>> calibration(np.array([0.97, 0.99, 0.3]), np.array([True, True, False]))
    [Bin(said=0.3, reached=0.0, n=1), Bin(said=0.98, reached=1.0, n=2)]
    """
    place = np.searchsorted(_EDGES, said, side="right")
    place[said >= 1.0] = len(_EDGES) - 1
    groups = [place == k for k in range(1, len(_EDGES))]
    return [Bin(float(said[at].mean()), float(reached[at].mean()), int(at.sum())) for at in groups if at.any()]


def summarise_stops(runs: Iterable[tuple[Sequence[Stop], int]], target: float) -> list[RuleSummary]:
    """How often each rule was right, and what it cost.

    Parameters
    ----------
    runs : iterable of (stops, n_records)
        Each with the same rules.
    target : float
    """
    by_rule: dict[int, list[tuple[Stop, int]]] = {}
    for stops, n in runs:
        for k, stop in enumerate(stops):
            by_rule.setdefault(k, []).append((stop, n))
    found = []
    for told in by_rule.values():
        recalls = np.array([stop.recall for stop, _ in told])
        excess = sum(stop.excess for stop, _ in told) / sum(n for _, n in told)
        right = float((recalls >= target - 1e-9).mean())
        found.append(RuleSummary(told[0][0].rule, len(told), right, float(recalls.min()), excess))
    return found
