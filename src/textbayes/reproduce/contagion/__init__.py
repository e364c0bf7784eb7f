"""``textbayes reproduce contagion``: count models for frequent words and the Δ² test.

Table 1 on the Federalist papers, the public rows of Tables 2 and 3; Table 2a is a second reading of a row.
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
            "table 3": ("movie_reviews",),
        },
        lambda: import_module("textbayes.reproduce.contagion.tables").EXHIBITS,
    )
)
