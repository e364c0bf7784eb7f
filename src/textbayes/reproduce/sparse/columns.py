"""Columns of tables and the models behind them, run with progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from textbayes.reproduce.results import Cell, Cells, Progress
from textbayes.reproduce.sparse.experiment import Experiment, Model
from textbayes.reproduce.sparse.published import AVERAGES


class Column(NamedTuple):
    """A column of a table: its published figures, and what is fitted for ours, if anything."""

    name: str
    published: Sequence[Cell]
    model: Model | None = None


class Runner:
    """Runs the models of a table with progress under its name."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress

    def outcomes(self, what: str, experiment: Experiment, models: Sequence[Model | None]) -> list[tuple[Cell, ...]]:
        """Each model's column of F1, Nones for what is not run."""
        n_topics = len(experiment.collection.topics)
        chosen = [model for model in models if model is not None]
        advance = self.steps(what, n_topics * len([model for model in chosen if not experiment.knows(model)]))
        nothing: tuple[Cell, ...] = (None,) * (n_topics + len(AVERAGES))
        return [nothing if model is None else experiment.outcome(model, advance).column for model in models]

    def steps(self, what: str, total: int) -> Callable[[], None]:
        """A function that tells of one more step done."""
        done = 0

        def advance() -> None:
            nonlocal done
            done += 1
            self.progress(what, done, total)

        return advance


def transposed(columns: Sequence[Sequence[Cell]]) -> Cells:
    """Columns as the rows of a table."""
    return tuple(zip(*columns, strict=True))
