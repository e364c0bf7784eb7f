"""What the paper leaves to further research (§ 4.2.4): asking about a region of interest, measured on Reuters.

A document may teach much about weights that no relevant document ever needs. With a region of interest, here the
topic's latest 50 relevant stories, what counts is what its judgement would teach of these. The same perceptron filters
the stories of Reuters-21578 in order of time with either gain. What is taught of a region is at most what is taught of
all weights, so with the paper's θ it asks less; θ is therefore lowered by several factors, and gains are compared where
they ask about as often.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from textbayes.core.types import FloatArray
from textbayes.data import Corpus, load_corpus
from textbayes.evaluate import filtering_summary
from textbayes.reproduce.experiment import PaperRun, Systems
from textbayes.reproduce.online.filtering_systems import (
    Deliveries,
    FilteringCollection,
    FilteringOutcome,
    FilteringSimulation,
    FilteringTask,
    table_of,
)
from textbayes.reproduce.online.filtering_tables import t9p_ratio
from textbayes.reproduce.results import Table, mean_interval
from textbayes.stream.settings import paper_threshold

LABELLED: Final = 1_000  # stories of the batch phase
LEAST_LABELLED, LEAST_STREAM, MOST_STREAM = 3, 10, 200  # relevant stories of a topic in the batch phase and the stream
NEVER: Final = "never asks"


class Asking(NamedTuple):
    """Which information counts, and the factor of the paper's θ; without one the filter never asks."""

    gain: str
    factor: float | None = None

    def __str__(self) -> str:
        of = {"paper": "weights", "region": "region of interest"}[self.gain]
        return NEVER if self.factor is None else f"{of}, θ × {self.factor:g}"


PLAIN: Final = Asking("paper")
USUAL: Final = Asking("paper", 1.0)
WAYS: Final = (
    PLAIN,
    *(Asking("paper", factor) for factor in (4.0, 2.0, 1.0, 0.5)),
    *(Asking("region", factor) for factor in (1.0, 0.5, 0.25, 0.125)),
)


def reuters(corpus: Corpus | None = None, labelled: int = LABELLED) -> FilteringCollection:
    """Reuters-21578 in order of time: the first stories are the batch phase, all others the stream of every topic.

    Topics are those with so many relevant stories in both parts that there is something to learn and to find, and so
    few that it pays to ask.
    """
    stories = corpus or load_corpus("reuters21578", topics="r90", unlabelled="keep")
    assert stories.dates is not None
    order = np.argsort(np.array(stories.dates), kind="stable").tolist()  # of one day in the order of their numbers
    parts = np.arange(labelled), np.arange(labelled, len(order))
    tasks = []
    for topic in stories.label_names:
        relevant = np.array([topic in stories.labels[i] for i in order])
        train, test = (relevant[part] for part in parts)
        if train.sum() >= LEAST_LABELLED and LEAST_STREAM <= test.sum() <= MOST_STREAM:
            tasks.append(FilteringTask(topic, topic, parts[0], train, parts[1], test))
    texts, ids = ([of[i] for i in order] for of in (stories.texts, stories.ids))
    return FilteringCollection("Reuters", texts, ids, tuple(tasks))


class RegionSimulation(Systems[Asking, FilteringTask, Deliveries, list[Deliveries]]):
    """Filter the stories for each topic with one way of asking."""

    threads = False

    def __init__(self, collection: FilteringCollection) -> None:
        super().__init__(collection.tasks)
        self._simulation = FilteringSimulation(collection)

    def fit(self, system: Asking, unit: FilteringTask) -> Deliveries:
        """One topic: Pptron of Table 4 without rehearsal, which asks about what it learns from."""
        learner = self._simulation.start(unit, replace(self._simulation.settings, gain=system.gain))
        factor = system.factor
        ask = "never" if factor is None else lambda n: factor * paper_threshold(n)
        return self._simulation.filter(learner.copy(ask=ask, explore="never", rehearse=False), unit)

    def outcome_of(self, found: dict[Asking, list[Deliveries]]) -> FilteringOutcome:
        """The same by name."""
        return FilteringOutcome(self._simulation.collection, {str(way): parts for way, parts in found.items()})


def _asked(deliveries: list[Deliveries]) -> tuple[float, float]:
    """Documents asked about, and how many of them were relevant."""
    queried: FloatArray = np.concatenate([topic.queried for topic in deliveries])
    relevant = np.concatenate([topic.relevant for topic in deliveries])
    return float(queried.sum()), float((queried & relevant).sum())


def _utility(deliveries: list[Deliveries]) -> FloatArray:
    """Utility of each topic: two for a relevant document, one less for another."""
    return np.array([3.0 * topic.relevant.sum() - len(topic.relevant) for topic in deliveries])


def table_4d(run: PaperRun) -> Table:
    """Table 4d: asking by what is taught of all weights, and of the region of interest."""
    simulation = run.load("Reuters in order of time", lambda: RegionSimulation(reuters()))
    ways = (PLAIN, USUAL, Asking("region", 0.5)) if run.quick else WAYS
    found = run.outcomes(simulation, ways, ", filtering Reuters")
    outcome = simulation.outcome_of(found)
    ours = {}
    for way, deliveries in found.items():
        told = filtering_summary(table_of(deliveries))
        percent = [100.0 * float(told[name] or 0.0) for name in ("macro_recall", "mean_t9p")]
        ours[str(way)] = [
            *_asked(deliveries), told["total_retrieved"], told["relevant_retrieved"], *percent, told["mean_utility"],
        ]  # fmt: skip
    notes = []
    asked = {way: _asked(deliveries)[0] for way, deliveries in found.items()}
    for way in (way for way in found if way.gain == "paper" and way.factor is not None):
        alike = min((one for one in found if one.gain == "region"), key=lambda one: abs(asked[one] - asked[way]))
        ratio = t9p_ratio(outcome, str(alike), str(way))
        gained = mean_interval(_utility(found[alike]) - _utility(found[way]))
        notes.append(
            f"{alike}, {asked[alike]:,.0f} questions, against {way}, {asked[way]:,.0f}: mean T9P {ratio.ratio:.2f} "
            f"times as high (95 % interval over topics {ratio.low:.2f} to {ratio.high:.2f}), mean utility {gained} "
            "higher."
        )
    first = simulation.units[0]
    caption = (
        f"Not in the paper (§ 4.2.4): asking by the information about all weights and about a region of interest. "
        f"Reuters in order of time, {len(first.train):,} labelled stories and a stream of {len(first.test):,}, "
        f"{len(simulation.units)} topics with {LEAST_STREAM} to {MOST_STREAM} relevant stories in it."
    )
    columns = (
        "asked", "relevant of these", "retrieved", "relevant retrieved", "macro recall", "mean T9P", "mean utility",
    )  # fmt: skip
    return Table.by_row("4d", caption, columns, ours, digits=1, notes=tuple(notes), mark=float("inf"))
