"""Madahian & Faghihi (2014): the sparse probit model by Gibbs sampling on ten subject domains, beside an SVM.

What can be reproduced: Tables 1 and 2, Figure 1; Tables 2a (other readings) and 2b (probabilities) are our own.
``docs/papers/gibbs.md`` explains the differences.
"""

from __future__ import annotations

from importlib import import_module

from textbayes.reproduce import Experiment, papers

papers.register("gibbs")(
    Experiment(
        "gibbs",
        "A fully Bayesian sparse probit model for text categorization",
        "B. Madahian & U. Faghihi (2014), A fully Bayesian sparse probit model for text categorization, Open Journal "
        "of Statistics 4(8).",
        dict.fromkeys(("figure 1", "table 1", "table 2", "table 2a", "table 2b"), ("openstax",)),
        lambda: import_module("textbayes.reproduce.gibbs.tables").EXHIBITS,
        minutes=(90, 5),
        samples=True,
    )
)
