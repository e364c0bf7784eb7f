"""Published experiments run again: each table and figure of a paper with the published and our own figures.

A paper is one module of this folder that registers a :class:`~textbayes.reproduce.results.Paper`:

    papers.register("sparse")(SparsePaper())

``textbayes reproduce NAME`` runs it and writes Markdown and HTML, see :mod:`textbayes.reproduce.render`.
"""

from __future__ import annotations

from textbayes.core.registry import Registry
from textbayes.reproduce.results import Figure, Paper, Result, Table

papers: Registry[Paper] = Registry("paper", "textbayes.reproduce")

__all__ = ["Figure", "Paper", "Result", "Table", "papers"]
