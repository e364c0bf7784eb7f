"""Which records to read next: small classes that put the waiting records in order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.types import FloatArray, IntArray


class Waiting(NamedTuple):
    """The records that may be handed out, and what is known of them.

    Parameters
    ----------
    rows : array (n_waiting,)
        Which records these are, ascending.
    predictors : array (n_waiting,)
        Log-odds of relevance by the model.
    n_before : int
        Records handed out so far.
    seed : int
        Of what is drawn by chance; draws depend on it and on ``n_before`` alone.
    """

    rows: IntArray
    predictors: FloatArray
    n_before: int
    seed: int


class Pick(NamedTuple):
    """A record to read, and the strategy that chose it."""

    row: int
    reason: str


class Strategy(Protocol):
    """A rule for what to read next."""

    def pick(self, waiting: Waiting, n: int) -> list[Pick]:
        """The next ``n`` records, fewer where fewer wait."""


class MostLikely:
    """Read first what is most probably relevant: finds most with least reading."""

    reason = "likely"

    def pick(self, waiting: Waiting, n: int) -> list[Pick]:
        """See :class:`Strategy`."""
        return _first(waiting.rows, -waiting.predictors, n, self.reason)


class MostInformative:
    """Read first what the model is least sure of: teaches most, finds less."""

    reason = "informative"

    def pick(self, waiting: Waiting, n: int) -> list[Pick]:
        """See :class:`Strategy`."""
        return _first(waiting.rows, np.abs(waiting.predictors), n, self.reason)


class RandomAudit:
    """Read records drawn by chance, all equally likely: what rules that count them rest on."""

    reason = "random"

    def pick(self, waiting: Waiting, n: int) -> list[Pick]:
        """See :class:`Strategy`."""
        generator = np.random.default_rng([waiting.seed, waiting.n_before])
        rows = generator.permutation(waiting.rows)[:n]
        return [Pick(int(row), self.reason) for row in rows]


class Mixture:
    """Take the next record by one of several strategies, each with a share.

    Parameters
    ----------
    strategies : sequence of Strategy
    shares : sequence of float
        Of the records that each chooses; made to add up to one.
    """

    def __init__(self, strategies: Sequence[Strategy], shares: Sequence[float]) -> None:
        self._strategies = list(strategies)
        self._shares = np.asarray(shares, dtype=np.float64) / np.sum(shares)

    def pick(self, waiting: Waiting, n: int) -> list[Pick]:
        """See :class:`Strategy`."""
        picks: list[Pick] = []
        left = waiting
        for _ in range(min(n, len(waiting.rows))):
            draw = np.random.default_rng([left.seed, left.n_before, 1]).random()
            chosen = int(np.searchsorted(np.cumsum(self._shares), draw, side="right"))
            picks += self._strategies[min(chosen, len(self._strategies) - 1)].pick(left, 1)
            rest = left.rows != picks[-1].row
            left = left._replace(rows=left.rows[rest], predictors=left.predictors[rest], n_before=left.n_before + 1)
        return picks


_STRATEGIES: dict[str, type[MostLikely] | type[MostInformative] | type[RandomAudit]] = {
    kind.reason: kind for kind in (MostLikely, MostInformative, RandomAudit)
}
_PART = re.compile(r"([a-z]+)(?:=([0-9.]+))?")


def make_strategy(spec: str) -> Strategy:
    """The strategy of a name: likely, informative, random, or a mixture such as ``likely=0.9,random=0.1``.

    Parameters
    ----------
    spec : str

    Examples
    --------
    >>> make_strategy("likely=0.95,random=0.05").pick(Waiting(np.arange(3), np.array([0.0, 2.0, 1.0]), 0, 0), 1)
    [Pick(row=1, reason='likely')]
    """
    parts = [_PART.fullmatch(part.strip()) for part in spec.split(",")]
    names = [part[1] for part in parts if part is not None]
    try:
        shares = [float(part[2] or 1.0) for part in parts if part is not None]
    except ValueError:
        shares = []
    if None in parts or len(shares) < len(parts) or not set(names) <= set(_STRATEGIES) or not sum(shares) > 0.0:
        raise InputError(
            f"strategy={spec!r} is not usable; name one of {', '.join(_STRATEGIES)}, or several with their shares, "
            "such as likely=0.95,random=0.05"
        )
    if len(names) == 1:
        return _STRATEGIES[names[0]]()
    return Mixture([_STRATEGIES[name]() for name in names], shares)


def _first(rows: IntArray, keys: FloatArray, n: int, reason: str) -> list[Pick]:
    """The rows with the smallest keys; of equal ones the first."""
    if n < len(rows) // 4:
        bound = np.partition(keys, n - 1)[n - 1]
        near = np.flatnonzero(keys <= bound)
        rows, keys = rows[near], keys[near]
    return [Pick(int(row), reason) for row in rows[np.argsort(keys, kind="stable")[:n]]]
