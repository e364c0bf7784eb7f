"""Eyheramendy & Madigan (2007): the flexible Student-t link, on simulated data and on Reuters-21578.

What can be reproduced: Tables 1 to 8, Figures 1 to 5. ``docs/papers/flexlink.md`` explains the differences.
"""

from __future__ import annotations

from importlib import import_module

from textbayes.reproduce import Experiment, papers

_NEEDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((*(f"figure {i}" for i in range(1, 6)), *(f"table {i}" for i in range(1, 5))), ()),
    **dict.fromkeys(("table 5", "table 6", "table 7", "table 8"), ("reuters21578",)),
}

papers.register("flexlink")(
    Experiment(
        "flexlink",
        "A flexible Bayesian generalized linear model for dichotomous response data",
        "S. Eyheramendy & D. Madigan (2007), A flexible Bayesian generalized linear model for dichotomous response "
        "data with an application to text categorization, IMS Lecture Notes – Monograph Series 54.",
        _NEEDS,
        lambda: import_module("textbayes.reproduce.flexlink.tables").EXHIBITS,
        minutes=(40, 6),
    )
)
