"""Tables 2, 3, 6 and 7 on Reuters-21578, 90 topics, Figure 1, and what choices are worth (2a, not in the paper)."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from textbayes.reproduce.results import Progress, Result

_TABLES = ("table 2", "table 2a", "table 3", "table 6", "table 7")
NUMBERS = (*_TABLES, "figure 1")


def corpora_for(wanted: Collection[str]) -> tuple[str, ...]:
    """Reuters-21578 for the tables, nothing for the figure."""
    return ("reuters21578",) if set(wanted).intersection(_TABLES) else ()


def tables(wanted: Collection[str], quick: bool, progress: Progress) -> Iterator[Result]:
    """Yield the wanted results as they are done. ``quick`` leaves out the SVMs, and most choices of Table 2a."""
    # numba and scikit-learn: only when something is run
    from textbayes.reproduce.online import classification_tables, figures, r90, runner, systems

    if set(wanted).intersection(_TABLES):
        progress("reading Reuters-21578", 0, 1)
        experiment = systems.Experiment(r90.r90())
        progress("reading Reuters-21578", 1, 1)
        yield from classification_tables.reuters_tables(experiment, wanted, quick, runner.Runner(progress))
    if "figure 1" in wanted:
        yield figures.schedule()
