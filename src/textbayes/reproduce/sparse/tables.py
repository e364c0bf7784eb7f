"""The tables and figures of the paper that are wanted, in its order."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from textbayes.reproduce.results import Progress, Result
from textbayes.reproduce.sparse.columns import Runner
from textbayes.reproduce.sparse.corpora import rcv1, reuters
from textbayes.reproduce.sparse.experiment import Experiment
from textbayes.reproduce.sparse.figures import curvature
from textbayes.reproduce.sparse.rcv1_tables import rcv1_tables
from textbayes.reproduce.sparse.reuters_tables import reuters_tables

RCV1_TABLES = {"table 7", "table 8"}


def reproduce(wanted: Collection[str], quick: bool, progress: Progress) -> Iterator[Result]:
    """Yield the wanted results as they are done. ``quick``: 3 of 6 γ, 300 words only, one RCV1 sample of five."""
    runner = Runner(progress)
    if set(wanted) - RCV1_TABLES - {"figure 3"}:
        progress("reading Reuters-21578", 0, 1)
        experiment = Experiment(reuters())
        progress("reading Reuters-21578", 1, 1)
        yield from reuters_tables(experiment, wanted, quick, runner)
    if set(wanted) & RCV1_TABLES:
        progress("reading RCV1-v2", 0, 1)
        experiment = Experiment(rcv1(1 if quick else None))
        progress("reading RCV1-v2", 1, 1)
        yield from rcv1_tables(experiment, wanted, quick, runner)
    if "figure 3" in wanted:
        yield curvature()
