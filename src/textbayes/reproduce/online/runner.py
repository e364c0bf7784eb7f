"""Systems run with progress under a table's name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textbayes.reproduce.online.systems import Experiment, Outcome
from textbayes.reproduce.results import Progress


class Runner:
    """Runs systems with progress under a table's name."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress

    def outcomes(self, what: str, experiment: Experiment, systems: Sequence[str]) -> dict[str, Outcome]:
        """Systems of Table 2 by their names."""
        advance = self.steps(what, experiment, sum(not experiment.knows(system) for system in systems))
        return {system: experiment.outcome(system, advance) for system in systems}

    def steps(self, what: str, experiment: Experiment, n_systems: int) -> Callable[[], None]:
        """A function that tells of one more topic done."""
        done, total = 0, n_systems * experiment.collection.n_topics

        def advance() -> None:
            nonlocal done
            done += 1
            self.progress(what, done, total)

        return advance
