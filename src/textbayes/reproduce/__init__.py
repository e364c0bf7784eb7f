"""Published experiments run again: each table and figure of a paper with the published and our own figures.

A paper is one folder here that registers an :class:`~textbayes.reproduce.experiment.Experiment`; that module says what
a paper fills in. ``textbayes reproduce NAME`` runs it and writes Markdown and HTML.
"""

from __future__ import annotations

from textbayes.core.registry import Registry
from textbayes.reproduce.experiment import Experiment, PaperRun, Systems
from textbayes.reproduce.results import Figure, Result, Table

papers: Registry[Experiment] = Registry("paper", "textbayes.reproduce")

__all__ = ["Experiment", "Figure", "PaperRun", "Result", "Systems", "Table", "papers"]
