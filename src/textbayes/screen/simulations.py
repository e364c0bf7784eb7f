"""Many simulated screenings side by side: reviews, models and seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.executor import in_parallel
from textbayes.core.progress import Progress, silent
from textbayes.core.threads import n_threads
from textbayes.core.types import BoolArray, Document
from textbayes.knowledge import WordPriors
from textbayes.screen.baseline import ElasU4
from textbayes.screen.calibration import calibration, gauge_checks
from textbayes.screen.collection import Collection
from textbayes.screen.measures import average_time, extra_relevant, ranking_loss, recall_at, work_saved
from textbayes.screen.settings import TOPIC, ScreenSettings
from textbayes.screen.simulate import Simulation, TopicReader, draw_start, simulate
from textbayes.screen.stopping import make_rule


class Task(NamedTuple):
    """One simulation: which review is read by which model, from which start.

    Parameters
    ----------
    review, model : str
        ``model`` is textbayes or elas_u4.
    seed : int
    strategy : str
    rules : tuple of str
        Stopping rules; our model only.
    target, confidence : float
        What the rules are to reach, and how sure they are to be of it.
    """

    review: str
    model: str
    seed: int
    strategy: str = "likely"
    rules: tuple[str, ...] = ()
    target: float = 0.95
    confidence: float = 0.9


class Result(NamedTuple):
    """A task that was done.

    Parameters
    ----------
    task : Task
    simulation : Simulation
    """

    task: Task
    simulation: Simulation

    @property
    def row(self) -> dict[str, Any]:
        """The measures, where rules would have stopped, and what came of what the gauge said, if it was asked."""
        found, order = self.simulation.found, self.simulation.order
        return {
            "review": self.task.review,
            "model": self.task.model,
            "seed": self.task.seed,
            "records": len(found),
            "relevant": int(found.sum()),
            "loss": ranking_loss(order),
            **{f"recall_{share}": recall_at(order, share / 100.0) for share in (10, 20, 50)},
            "wss_95": work_saved(order),
            "erf_10": extra_relevant(order, 0.1),
            "atd": average_time(order),
            "stops": [stop._asdict() for stop in self.simulation.stops],
            "estimate": [found._asdict() for found in calibration(*gauge_checks(self.simulation, self.task.target))],
        }


def run_tasks(
    tasks: Sequence[Task],
    reviews: Mapping[str, Sequence[Document]],
    relevant: str,
    question: str | None = None,
    prior: WordPriors | None = None,
    n_jobs: int | None = None,
    progress: Progress = silent,
) -> list[Result]:
    """Do all tasks, several at a time; results come in the order of the tasks.

    Parameters
    ----------
    tasks : sequence of Task
    reviews : mapping of str to documents
        With their labels.
    relevant : str
        The label of what was included.
    question : str, optional
    prior : WordPriors, optional
    n_jobs : int, optional
    progress : function
    """
    questions = {TOPIC: question} if question else {}
    collections: dict[str, tuple[Collection, BoolArray]] = {}
    for name, documents in reviews.items():
        included = np.array([relevant in document.labels for document in documents], dtype=np.bool_)
        if included.all() or not included.any():
            labels = sorted({label for document in documents for label in document.labels})[:10]
            raise InputError(
                f"{name}: {int(included.sum())} of {len(documents)} records have the label {relevant!r}; the labels "
                f"are {', '.join(labels) or 'none'}: name the field (--label-field) and the label of what was included"
            )
        ids = [str(i) for i in range(len(documents))]
        texts = [document.text for document in documents]
        collections[name] = Collection.read(ids, texts, [TOPIC], questions, prior), included
    settings = partial(ScreenSettings, questions=questions)
    results: list[Result] = []
    n_jobs = n_threads(-1 if n_jobs is None else n_jobs)  # kernels let go of the interpreter
    for result in in_parallel(lambda task: _run(task, *collections[task.review], settings), tasks, n_jobs):
        results.append(result)
        progress("simulating", len(results), len(tasks))
    return results


def _run(task: Task, collection: Collection, relevant: BoolArray, settings: Any) -> Result:
    start = draw_start(relevant, task.seed)
    if task.model == "elas_u4":
        return Result(task, simulate(ElasU4(collection), relevant, start))
    reader = TopicReader(collection, settings(strategy=task.strategy, random_state=task.seed))
    rules = [make_rule(rule, task.target, task.confidence) for rule in task.rules]
    return Result(
        task, simulate(reader, relevant, start, rules, task.target, any("estimate" in name for name in task.rules))
    )
