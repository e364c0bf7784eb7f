"""How far two people agree: Cohen's kappa with a credible interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from textbayes.core.types import FloatArray

_DRAWS = 20_000


class Kappa(NamedTuple):
    """Cohen's kappa, and the bounds between which it is with 95% probability."""

    value: float
    low: float
    high: float


def kappa(pairs: Sequence[tuple[str, str]]) -> Kappa | None:
    """Cohen's kappa of pairs of answers; None where both gave one and the same answer to everything.

    The interval is the posterior's of the table of both answers, with Perks's prior: a Dirichlet distribution whose
    parameters are one over the number of cells. Unlike the usual standard error it is not empty where all answers are
    the same.

    Parameters
    ----------
    pairs : sequence of pairs of str

    Examples
    --------
    >>> found = kappa([("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15)
    >>> round(found.value, 2), found.low < found.value < found.high
    (0.4, True)
    """
    names = sorted({answer for pair in pairs for answer in pair})
    if len(names) < 2:
        return None
    place = {name: k for k, name in enumerate(names)}
    counts = np.zeros((len(names), len(names)))
    for one, other in pairs:
        counts[place[one], place[other]] += 1.0
    draws = np.random.default_rng(0).dirichlet(counts.ravel() + 1.0 / counts.size, _DRAWS)
    low, high = np.quantile(_kappa(draws.reshape(-1, *counts.shape)), (0.025, 0.975))
    value = float(_kappa(counts[None] / counts.sum())[0])
    return Kappa(value, min(value, float(low)), max(value, float(high)))


def _kappa(tables: FloatArray) -> FloatArray:
    """Cohen's kappa of tables of probabilities."""
    same = np.trace(tables, axis1=1, axis2=2)
    by_chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1)
    found: FloatArray = (same - by_chance) / (1.0 - by_chance)
    return found
