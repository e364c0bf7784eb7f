"""How far two people agree: Cohen's kappa and Krippendorff's alpha, with credible intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from textbayes.core.types import FloatArray

T = TypeVar("T", str, frozenset[str])
_DRAWS, _MOST_CELLS = 20_000, 4_000_000  # of the posterior; cells of all draws together
_FEWEST = 500


class Coefficient(NamedTuple):
    """A coefficient of agreement, and the bounds between which it is with 95% probability."""

    value: float
    low: float
    high: float


def kappa(pairs: Sequence[tuple[str, str]]) -> Coefficient | None:
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
    counts = _table(pairs, names)
    return _with_interval(float(_kappa(counts[None] / counts.sum())[0]), _kappa(_posterior(counts)))


def alpha(pairs: Sequence[tuple[frozenset[str], frozenset[str]]]) -> Coefficient | None:
    """Krippendorff's alpha of pairs of sets, by Jaccard's distance; None where all sets are the same.

    Two sets are as far apart as the share of their labels that only one of them has; of sets of one label each this is
    the alpha of nominal data. The interval is made as that of :func:`kappa`.

    Parameters
    ----------
    pairs : sequence of pairs of frozenset of str

    Examples
    --------
    >>> tea, both = frozenset({"tea"}), frozenset({"tea", "milk"})
    >>> found = alpha([(tea, tea), (both, both), (tea, both)])
    >>> round(found.value, 2), found.low < found.value < found.high
    (0.44, True)
    """
    sets = sorted({one for pair in pairs for one in pair}, key=sorted)
    if len(sets) < 2:
        return None
    apart = np.array([[_jaccard_distance(one, other) for other in sets] for one in sets])
    counts = _table(pairs, sets)
    given = counts.sum(axis=0) + counts.sum(axis=1)  # how often each set was given, by either person
    n = given.sum()
    by_chance = given @ apart @ given / (n * (n - 1.0))
    drawn = _posterior(counts)
    shares = 0.5 * (drawn.sum(axis=1) + drawn.sum(axis=2))
    drawn_by_chance = np.einsum("dj,jk,dk->d", shares, apart, shares)
    found = 1.0 - (counts * apart).sum() / counts.sum() / by_chance
    return _with_interval(float(found), 1.0 - (drawn * apart).sum(axis=(1, 2)) / drawn_by_chance)


def _table(pairs: Sequence[tuple[T, T]], names: Sequence[T]) -> FloatArray:
    """How often each answer of the first person meets each of the second."""
    place = {name: k for k, name in enumerate(names)}
    counts = np.zeros((len(names), len(names)))
    for one, other in pairs:
        counts[place[one], place[other]] += 1.0
    return counts


def _posterior(counts: FloatArray) -> FloatArray:
    """Tables of probabilities drawn from the posterior of a table of counts."""
    n_draws = max(_FEWEST, min(_DRAWS, _MOST_CELLS // counts.size))
    drawn: FloatArray = np.random.default_rng(0).dirichlet(counts.ravel() + 1.0 / counts.size, n_draws)
    return drawn.reshape(-1, *counts.shape)


def _with_interval(value: float, drawn: FloatArray) -> Coefficient:
    low, high = np.quantile(drawn, (0.025, 0.975))
    return Coefficient(value, min(value, float(low)), max(value, float(high)))


def _kappa(tables: FloatArray) -> FloatArray:
    """Cohen's kappa of tables of probabilities."""
    same = np.trace(tables, axis1=1, axis2=2)
    by_chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1)
    found: FloatArray = (same - by_chance) / (1.0 - by_chance)
    return found


def _jaccard_distance(one: frozenset[str], other: frozenset[str]) -> float:
    """Share of the labels of two sets that only one of them has."""
    return 1.0 - len(one & other) / len(one | other) if one | other else 0.0
