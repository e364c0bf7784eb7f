"""Chai, Ng & Chieu (2002): the Bayesian online perceptron and Gaussian process, classifying and filtering.

Tables 2, 3, 6 and 7 on Reuters-21578, 90 topics, and Figure 1; beyond the paper what open choices are worth (2a), its
suggestion of SVMs for rare and Bayesian classifiers for common topics (2b), and passes of the Gaussian process and no
jitter, of which its appendix speaks (7a, 7b).
Tables 4 and 5 and Figure 2, batch-adaptive filtering, are the paper's own on OHSUMED as TREC-9 had it: where the files
are not there, the published figures stand alone. Tables 4a, 5a and Figure 2a are the same experiment on the arXiv
stream. Table 4b shows what the number of labelled documents does to it, and what happens when relevance is not
rationed; Table 4c retrieves documents in groups of ten, as § 5 proposes; Table 4d asks about a region of interest
(§ 4.2.4), on Reuters in order of time. ``docs/papers/online.md`` explains the
differences.
"""

from __future__ import annotations

from importlib import import_module

from textbayes.reproduce import Experiment, papers

_NEEDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("table 2", "table 2a", "table 2b", "table 3", "table 6", "table 7", "table 7a", "table 7b"), ("reuters21578",)
    ),
    **dict.fromkeys(("figure 1", "table 4", "table 5"), ()),  # OHSUMED is used where it is, not asked for
    "figure 2": ("ohsumed_trec9",),
    **dict.fromkeys(("table 4a", "table 5a", "figure 2a", "table 4b", "table 4c"), ("arxiv_cs",)),
    "table 4d": ("reuters21578",),
}

papers.register("online")(
    Experiment(
        "online",
        "Bayesian online classifiers for text classification and filtering",
        "K. M. A. Chai, H. T. Ng & H. L. Chieu (2002), Bayesian online classifiers for text classification and "
        "filtering, SIGIR.",
        _NEEDS,
        lambda: import_module("textbayes.reproduce.online.tables").EXHIBITS,
        minutes=(70, 6),
    )
)
