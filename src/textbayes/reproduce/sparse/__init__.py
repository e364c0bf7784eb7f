"""``textbayes reproduce sparse``: probit and logistic regression with sparse priors.

Tables 1–8, Figures 1 to 3; beyond the paper a look at the text processing (3a) and at Table 4 (4a, 4b).
"""

from __future__ import annotations

from importlib import import_module

from textbayes.reproduce import Experiment, papers

_REUTERS = ("table 1", "figure 2", "table 2", "table 3", "table 3a", "table 4", "table 4a", "table 5", "table 6")
_NEEDS: dict[str, tuple[str, ...]] = {
    "figure 1": (),
    **dict.fromkeys(_REUTERS, ("reuters21578",)),
    **dict.fromkeys(("table 7", "table 8"), ("rcv1",)),
    "figure 3": (),
}

papers.register("sparse")(
    Experiment(
        "sparse",
        "Sparse Bayesian classifiers for text categorization",
        "Eyheramendy, Genkin, Ju, Lewis & Madigan (2003), Sparse Bayesian classifiers for text categorization, Journal "
        "of Intelligence Community Research and Development.",
        _NEEDS,
        lambda: import_module("textbayes.reproduce.sparse.tables").EXHIBITS,
        minutes=(60, 5),
    )
)
