"""Sampling on a terminal as it goes: draws, R-hat and effective sample size of every label."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textbayes.cli.progress import shown
from textbayes.cli.terminal import console
from textbayes.core.types import AnyArray
from textbayes.kinds.sampling import SamplingCallback

if TYPE_CHECKING:
    from textbayes.inference.gibbs import SamplingProgress
    from textbayes.inference.gibbs.sampler import State


class Watching(SamplingCallback):
    """Shows how sampling goes, a line for each label of the present stage, and passes all on to ``folder``."""

    def __init__(self, folder: SamplingCallback, bars: Any) -> None:
        self._folder, self._bars = folder, bars
        self._labels: Sequence[str] = ()
        self._stage = ""
        self._tasks: dict[int, Any] = {}

    def begin(self, labels: Sequence[str], mark: str) -> None:
        self._labels = labels
        self._folder.begin(labels, mark)

    def progress(self, stage: str, at: SamplingProgress) -> None:
        self._folder.progress(stage, at)
        if self._bars is None:
            return
        if stage != self._stage:
            for task in self._tasks.values():
                self._bars.remove_task(task)
            self._stage, self._tasks = stage, {}
        if at.label not in self._tasks:
            drawn = "all classes" if at.together else self._labels[at.label]
            self._tasks[at.label] = self._bars.add_task(f"{stage}: {drawn}", total=None, said="")
        said = f"{at.n_draws:,} draws, R-hat {at.max_r_hat:.3f}, ESS {at.min_ess:,.0f}"
        done = {"total": 1, "completed": 1} if at.finished else {}
        self._bars.update(self._tasks[at.label], said=said, **done)

    def resume(self, stage: str) -> Mapping[int, State] | None:
        return self._folder.resume(stage)

    def recall(self, fold: str) -> AnyArray | None:
        return self._folder.recall(fold)

    def finish(self, fold: str, result: AnyArray) -> None:
        self._folder.finish(fold, result)


@contextlib.contextmanager
def watching(folder: SamplingCallback | None) -> Iterator[SamplingCallback]:
    """A watch that shows draws, the largest R-hat and the least effective sample size of each label as they come."""
    if not shown():
        yield Watching(folder or SamplingCallback(), None)
        return
    from rich import progress as rich

    columns = [
        rich.SpinnerColumn(finished_text="✓"),
        rich.TextColumn("{task.description}", markup=False),
        rich.TextColumn("{task.fields[said]}"),
        rich.TimeElapsedColumn(),
    ]
    with rich.Progress(*columns, console=console(stderr=True), transient=True, redirect_stdout=False) as bars:
        yield Watching(folder or SamplingCallback(), bars)
