"""Table 4c: adaptive routing, documents retrieved and judged in groups of ten (§ 5, after Drucker et al. 2001).

After the batch phase a topic is shown the ten documents of the stream that rank highest, learns which of them are
relevant, and is shown the ten next best of those that are left. The paper asks how Bayesian classifiers do here that
keep few documents: a perceptron learns a document once and keeps none, or the relevant ones for rehearsal; an SVM
keeps them all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.reproduce.experiment import Run, Systems
from textbayes.reproduce.intervals import mean_interval
from textbayes.reproduce.online.filtering.corpora import Task
from textbayes.reproduce.online.filtering.systems import MACHINE, Simulation
from textbayes.reproduce.results import Table
from textbayes.stream import AdaptiveFilter

GROUP: Final = 10
GROUPS: Final = 10
_SHOWN: Final = (10, 20, 50, 100)
NOT_JUDGED: Final = "Pptron, not judged"
PERCEPTRONS: Mapping[str, Mapping[str, Any]] = {
    NOT_JUDGED: {"rehearse": False},
    "Pptron": {"rehearse": False},
    "Pptron+rel": {"rehearse": True},
}
SYSTEMS: Final = (*PERCEPTRONS, MACHINE)


class Routed(NamedTuple):
    """Relevance of the documents that one topic was shown, in their order, and how many documents were kept for it."""

    relevant: BoolArray
    n_kept: int


def in_groups(
    scores: Callable[[list[int]], FloatArray], relevant: BoolArray, group: int = GROUP, groups: int = GROUPS
) -> list[int]:
    """Show documents in groups, each the best of those that are left; returns their numbers in order.

    Parameters
    ----------
    scores : callable
        Scores of all documents, given the numbers of those judged so far; called once before each group.
    relevant : array of bool, shape (n_docs,)
        As long as the stream.
    group, groups : int
        How many documents a group has, and how many groups there are.

    >>> in_groups(lambda judged: np.array([1.0, 3.0, 2.0, 3.0]), np.ones(4, dtype=bool), group=2, groups=2)
    [1, 3, 2, 0]
    """
    judged: list[int] = []
    for _ in range(groups):
        left = np.setdiff1d(np.arange(len(relevant)), judged)
        best = np.argsort(-scores(judged)[left], kind="stable")[:group]
        judged += left[best].tolist()
    return judged


class Routing(Systems[str, Task, Routed, list[Routed]]):
    """Route the documents of a simulation's collection to its topics."""

    threads = False

    def __init__(self, simulation: Simulation) -> None:
        super().__init__(simulation.units)
        self._simulation = simulation

    def fit(self, system: str, unit: Task) -> Routed:
        """One topic."""
        start = self._simulation.start(unit)
        if system == MACHINE:
            judged = in_groups(self._simulation.machine(start.lexicon, unit).scores, unit.test_relevant)
            return Routed(unit.test_relevant[judged], 1 + len(unit.train) + len(judged))
        desk = start.copy(ask="never", explore="never", **PERCEPTRONS[system])
        judged = in_groups(self._perceptron(desk, unit, learns=system != NOT_JUDGED), unit.test_relevant)
        return Routed(unit.test_relevant[judged], len(desk.topics[0].examples) if desk.settings.rehearse else 0)

    def collect(self, system: str, parts: list[Routed]) -> list[Routed]:
        """Topic by topic."""
        return parts

    def _perceptron(self, desk: AdaptiveFilter, task: Task, learns: bool) -> Callable[[list[int]], FloatArray]:
        bags, ids, first = self._simulation.bags, self._simulation.collection.ids, int(task.test[0])
        places: IntArray = task.test - first

        def scores(judged: list[int]) -> FloatArray:
            for i in judged[-GROUP:] if learns else ():
                number = int(task.test[i])
                desk.judge(ids[number], task.topic, bool(task.test_relevant[i]), bags.bag(number))
            found = desk.score(bags, first, int(task.test[-1]) + 1).probability
            return np.asarray(found[places, 0], dtype=np.float64)

        return scores


def table_4c(run: Run, simulation: Simulation) -> Table:
    """Table 4c: relevant documents among the first ones shown, and the documents that a system keeps for it."""
    routing = run.load("the stream in groups", lambda: Routing(simulation))
    found = run.outcomes(routing, SYSTEMS, ", routing arXiv")
    n_relevant = np.mean([task.test_relevant.sum() for task in routing.units])
    by_topic = {system: np.array([topic.relevant.sum() for topic in topics]) for system, topics in found.items()}
    more = (
        f"{system} {mean_interval(by_topic[system] - by_topic[other])} more than {other}"
        for other, system in pairwise(SYSTEMS)
    )
    ours = {
        system: [
            *(float(np.mean([topic.relevant[:shown].sum() for topic in topics])) for shown in _SHOWN),
            float(np.mean([topic.n_kept for topic in topics])),
        ]
        for system, topics in found.items()
    }
    return Table.by_row(
        "4c",
        f"Not in the paper (§ 5): adaptive routing in groups of {GROUP} on the arXiv stream. Relevant documents among "
        "the first that a topic is shown, and documents that the system keeps for it, means over topics.",
        (*(f"first {shown}" for shown in _SHOWN), "documents kept"),
        ours,
        digits=2,
        notes=(
            f"{len(routing.units)} topics with {n_relevant:.0f} relevant documents in the mean. All systems begin with "
            f"the same batch phase. {MACHINE} is fitted anew to all documents seen before each group.",
            f"Among all {GROUP * GROUPS}, with 95 % intervals over topics: {'; '.join(more)}.",
        ),
    )
