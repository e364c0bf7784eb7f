"""Simulated screenings: a review whose answers are known is read again, by our model or by the baseline.

Measures (:mod:`textbayes.evaluate.retrieval`) are computed without the records that the simulation started from, as
ASReview has it; what was not read counts as read last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.types import BoolArray, IntArray
from textbayes.evaluate.retrieval import read_until
from textbayes.screen.collection import Collection
from textbayes.screen.remaining import Signs, State
from textbayes.screen.screening import Screening
from textbayes.screen.settings import ScreenSettings
from textbayes.screen.solver import GramSolver
from textbayes.screen.stopping import StoppingRule, ranked_p_value
from textbayes.screen.topic import ScreeningTopic, balanced_weights

_C, _RATIO = 0.11, 9.8
# Of slopes. On two reviews this has the loss of ASReview's own order, and 1e-2 one that is 0.4 and 1.4 % higher; 1e-6
# has ASReview's own order on one of them, and 97 % of its places on the other.
_TOLERANCE = 1e-3


class ElasU4:
    """Reads records in the order of ELAS u4, ASReview's default model since version 2: the baseline of simulations.

    TF-IDF of words and pairs, sublinear, words in at most 95 % of the records; a linear support vector machine with
    squared hinge, C = 0.11, relevant records 9.8 times the weight of irrelevant ones; the maximum is read next. The
    optimum is found on the Gram matrix rather than by liblinear, so that simulations take seconds. It needs a relevant
    and an irrelevant record to start from.

    van de Schoot et al. (2021), An open source machine learning framework for efficient and transparent systematic
    reviews, Nature Machine Intelligence 3; ASReview 2.2, ``asreview/models/models.py``.

    Parameters
    ----------
    collection : Collection
        Its questions and prior tables are not used.
    tol : float
        Largest slope of the dual at which a fit ends.
    """

    def __init__(self, collection: Collection, tol: float = _TOLERANCE) -> None:
        self._n = collection.n_records
        self._y = np.zeros(self._n)
        vectors = None if collection.vectors is None else collection.vectors[: self._n]
        self._solver = GramSolver(collection.X[: self._n], squared_hinge=True, tol=tol, vectors=vectors)
        self._offset = np.zeros(self._n)

    def answer(self, row: int, relevant: bool) -> None:
        """Learn an answer."""
        self._y[row] = 1.0 if relevant else -1.0

    def next_row(self) -> int:
        """The record to read next."""
        judged = np.flatnonzero(self._y)
        y = self._y[judged]
        for_relevant, for_others = balanced_weights(y, _RATIO)
        self._solver.fit(judged, y, (_C * for_relevant, _C * for_others), self._offset)
        return int(np.argmax(np.where(self._y == 0.0, self._solver.predictors(self._offset), -np.inf)))


_CHECKS = 200  # times that stopping rules are asked in a review, at most


class Reader(Protocol):
    """What chooses records in a simulation."""

    def answer(self, row: int, relevant: bool) -> None:
        """Learn an answer."""

    def next_row(self) -> int:
        """The record to read next."""


class TopicReader:
    """A screening of one topic as the reader of a simulation.

    Parameters
    ----------
    collection : Collection
    settings : ScreenSettings, optional
    """

    def __init__(self, collection: Collection, settings: ScreenSettings | None = None) -> None:
        self.screening = Screening(collection, settings)
        self.topic: ScreeningTopic = self.screening.topic()

    def answer(self, row: int, relevant: bool) -> None:
        """Learn an answer."""
        self.topic.judge(row, "relevant" if relevant else "irrelevant")

    def next_row(self) -> int:
        """The record to read next."""
        picks = self.topic.next_records(1)
        self.topic.hand_out(picks)
        return picks[0].row


class Stop(NamedTuple):
    """Where a rule would have stopped.

    Parameters
    ----------
    rule, reason : str
    n_read : int
        Records read by then, with those of the start; all of them where the rule never spoke.
    recall : float
        Share of all relevant records found by then.
    excess : int
        Records read beyond the one with which the target was reached; 0 where it was not.
    """

    rule: str
    reason: str
    n_read: int
    recall: float
    excess: int = 0


class Check(NamedTuple):
    """How things stood when the stopping rules were asked.

    Parameters
    ----------
    n_read, n_found, n_left : int
        Records read; relevant ones found, and left.
    signs : Signs
        What an estimate goes by.
    p_value : float
        Of the ranked hypergeometric test.
    """

    n_read: int
    n_found: int
    n_left: int
    signs: Signs
    p_value: float


class Simulation(NamedTuple):
    """A review read again.

    Parameters
    ----------
    rows : array (n_records,)
        All records in the order of reading; those that were not read come last, in their own order.
    found : array of bool (n_records,)
        Whether each of them is relevant.
    n_start : int
        Records that it started from.
    n_read : int
    stops : tuple of Stop
    checks : tuple of Check
    """

    rows: IntArray
    found: BoolArray
    n_start: int
    n_read: int
    stops: tuple[Stop, ...]
    checks: tuple[Check, ...]

    @property
    def order(self) -> BoolArray:
        """What measures are computed of: whether records are relevant, in the order of reading, without the start."""
        return self.found[self.n_start :]


def draw_start(relevant: BoolArray, seed: int) -> IntArray:
    """One relevant and one irrelevant record, drawn by chance.

    Parameters
    ----------
    relevant : array of bool (n_records,)
    seed : int
    """
    if relevant.all() or not relevant.any():
        raise InputError("a review to simulate has relevant records and others; give one that has both")
    generator = np.random.default_rng(seed)
    return np.array([generator.choice(np.flatnonzero(relevant)), generator.choice(np.flatnonzero(~relevant))])


def simulate(
    reader: Reader,
    relevant: BoolArray,
    start: Sequence[int] | IntArray,
    rules: Sequence[StoppingRule] = (),
    target: float = 0.95,
    keep_checks: bool = False,
) -> Simulation:
    """Read a review again until everything relevant is found and all stopping rules have spoken.

    Parameters
    ----------
    reader : Reader
        :class:`TopicReader` or :class:`~textbayes.screen.simulate.ElasU4`, which has no stopping rules.
    relevant : array of bool (n_records,)
    start : sequence of int
        Rows that are known beforehand.
    rules : sequence of StoppingRule
        Asked up to 200 times, evenly.
    target : float
        The recall that stopping rules are for.
    keep_checks : bool
        Keep how things stood at every check, and read everything.
    """
    n, total = len(relevant), int(relevant.sum())
    rows: list[int] = []
    stops: dict[int, Stop] = {}
    checks: list[Check] = []
    every = max(1, n // _CHECKS)
    for row in start:
        reader.answer(int(row), bool(relevant[row]))
        rows.append(int(row))
    n_found = int(relevant[rows].sum())
    while len(rows) < n and (keep_checks or n_found < total or len(stops) < len(rules)):
        row = reader.next_row()
        reader.answer(row, bool(relevant[row]))
        rows.append(row)
        n_found += bool(relevant[row])
        if isinstance(reader, TopicReader) and (rules or keep_checks) and len(rows) % every == 0:
            state = State.of(reader.topic)
            if keep_checks:
                p_value = ranked_p_value(state, target)
                checks.append(Check(len(rows), n_found, total - n_found, Signs.of(state), p_value))
            for k, rule in enumerate(rules):
                advice = rule.advise(state)
                if advice.stop and k not in stops:
                    stops[k] = Stop(rule.name, advice.reason, len(rows), n_found / total)
    for k, rule in enumerate(rules):
        stops.setdefault(k, Stop(rule.name, "everything was read", n, 1.0))
    read = np.array(rows, dtype=np.int64)
    order = np.append(read, np.setdiff1d(np.arange(n), read))
    found = relevant[order]
    needed = read_until(found, target) if rules else 0
    ended = tuple(stops[k]._replace(excess=max(stops[k].n_read - needed, 0)) for k in range(len(rules)))
    return Simulation(order, found, len(start), len(rows), ended, tuple(checks))
