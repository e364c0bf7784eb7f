"""Why a text has a probability: each word's part in one label's log-odds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from textbayes.core.types import AnyArray, FloatArray
from textbayes.links.base import BaseLink


class Contribution(NamedTuple):
    """A word's part in one label's log-odds."""

    word: str
    log_odds: float
    occurrences: int


class Explanation(NamedTuple):
    """Why a text has a label's probability: ``log_odds`` = ``base`` + the sum of all contributions."""

    label: str
    probability: float
    decision: bool
    log_odds: float
    base: float
    contributions: list[Contribution]


def explain_column(
    link: BaseLink,
    intercept: float,
    parts: FloatArray,
    words: AnyArray,
    occurrences: AnyArray,
    label: str,
    probability: float,
    decision: bool,
    top: int | None,
) -> Explanation:
    """Share the log-odds of one label out among the words, whose parts of eta are ``parts``.

    Log-odds are linear in eta for the logit alone; for other links the mean slope between the base and eta shares them
    out, so that contributions add up for every link.
    """
    base, eta = intercept, intercept + parts.sum()
    base_odds, odds = link.log_odds(np.array([base, eta]))
    if eta != base:
        parts = parts * ((odds - base_odds) / (eta - base))
    order = np.argsort(-np.abs(parts), kind="stable")
    order = order[parts[order] != 0.0][:top]
    contributions = [Contribution(str(words[i]), float(parts[i]), int(occurrences[i])) for i in order]
    return Explanation(label, float(probability), bool(decision), float(odds), float(base_odds), contributions)


def mirror(told: Explanation, label: str) -> Explanation:
    """The explanation of the other of two classes: everything with its sign turned."""
    contributions = [part._replace(log_odds=-part.log_odds) for part in told.contributions]
    return Explanation(label, 1.0 - told.probability, not told.decision, -told.log_odds, -told.base, contributions)
