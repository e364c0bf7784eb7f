"""What a screening is given at its start, and the strategies that choose which records to read next."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.types import FloatArray, IntArray


class Candidates(NamedTuple):
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

    def pick(self, waiting: Candidates, n: int) -> list[Pick]:
        """The next ``n`` records, fewer where fewer wait."""


class MostLikely:
    """Read first what is most probably relevant: finds most with least reading."""

    reason = "likely"

    def pick(self, waiting: Candidates, n: int) -> list[Pick]:
        """See :class:`Strategy`."""
        return _first(waiting.rows, -waiting.predictors, n, self.reason)


class MostInformative:
    """Read first what the model is least sure of: teaches most, finds less."""

    reason = "informative"

    def pick(self, waiting: Candidates, n: int) -> list[Pick]:
        """See :class:`Strategy`."""
        return _first(waiting.rows, np.abs(waiting.predictors), n, self.reason)


class RandomAudit:
    """Read records drawn by chance, all equally likely: what rules that count them rest on."""

    reason = "random"

    def pick(self, waiting: Candidates, n: int) -> list[Pick]:
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

    def pick(self, waiting: Candidates, n: int) -> list[Pick]:
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
    >>> make_strategy("likely=0.95,random=0.05").pick(Candidates(np.arange(3), np.array([0.0, 2.0, 1.0]), 0, 0), 1)
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


TOPIC = "relevant"  # the one topic where none is named
STRENGTHS = {"weak": 0.5, "medium": 1.0, "strong": 2.0}  # times the usual prior mean of a word that somebody favours
MEDIUM = "medium"
ANSWERS = ("relevant", "irrelevant", "unsure", "withdrawn")


@dataclass(frozen=True)
class ScreenSettings:
    """How a screening ranks records, what it hands out and when it says that enough was read.

    Parameters
    ----------
    topics : tuple of str
        What records are judged for; each has a model and a queue of its own.
    questions : mapping of str to str
        Topic → the review's question or a description, which counts as one relevant record.
    balance : float
        How much more all relevant records weigh together than all irrelevant ones.
    follow : float
        Share of the prior table's means that is taken before anything relevant is found.
    fade : float
        Relevant records at which half of that share is left.
    strategy : str
        Which records are handed out: see :func:`~textbayes.screen.settings.make_strategy`.
    target, confidence : float
        Share of the relevant records to find, and how sure of it to be before reading is called enough.
    random_state : int
        Of everything drawn by chance.
    """

    topics: tuple[str, ...] = (TOPIC,)
    questions: Mapping[str, str] = field(default_factory=dict)
    balance: float = 9.8
    follow: float = 0.5
    fade: float = 20.0
    strategy: str = "likely"
    target: float = 0.95
    confidence: float = 0.9
    random_state: int = 0

    def __post_init__(self) -> None:
        if not self.topics or len(set(self.topics)) < len(self.topics) or not all(map(str.strip, self.topics)):
            raise InputError(f"topics={self.topics!r} is not usable; name one or several, each once")
        for topic in self.questions:
            if topic not in self.topics:
                raise InputError(f"there is a question of {topic!r}, which is no topic; name one of {self.topics}")
        for name in ("balance", "fade", "target"):
            if not 0.0 < getattr(self, name) < float("inf"):
                raise InputError(f"{name}={getattr(self, name)!r} is not usable; pass a number above 0")
        for name in ("follow", "target", "confidence"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise InputError(f"{name}={getattr(self, name)!r} is not usable; pass a number from 0 to 1")
        make_strategy(self.strategy)

    def to_json(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**asdict(self), "topics": list(self.topics), "questions": dict(self.questions)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """What :meth:`to_json` wrote."""
        known = {item.name for item in fields(cls)}
        given = {name: value for name, value in values.items() if name in known}
        return cls(**{**given, "topics": tuple(given["topics"])})
