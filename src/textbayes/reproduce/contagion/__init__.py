"""``textbayes reproduce contagion``: count models for frequent words and the Δ² test.

Table 1 on the Federalist papers, the public rows of Tables 2 and 3; tables with a letter are not in the paper, or are
what it speaks of and does not print.
"""

from __future__ import annotations

from importlib import import_module

from textbayes.reproduce import Experiment, papers

papers.register("contagion")(
    Experiment(
        "contagion",
        "Bayesian methods for frequent terms in text",
        "E. M. Airoldi, W. W. Cohen & S. E. Fienberg, Bayesian methods for frequent terms in text: models of contagion "
        "and the Δ² statistic.",
        {
            "table 1": ("federalist",),
            "table 2": ("20newsgroups", "reuters21578", "spamassassin"),
            "table 2a": ("20newsgroups",),
            "table 2b": ("reuters21578", "movie_reviews"),
            "table 3": ("movie_reviews", "federalist"),
            "table 3a": ("movie_reviews", "federalist"),
            "table 3b": ("movie_reviews", "federalist"),
        },
        lambda: import_module("textbayes.reproduce.contagion.tables").EXHIBITS,
        minutes=(60, 5),
    )
)
