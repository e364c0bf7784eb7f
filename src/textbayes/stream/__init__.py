"""Adaptive filtering: a stream of documents in, those worth reading or worth asking about out, judgements learnt.

Chai, Ng & Chieu (2002), Bayesian online classifiers for text classification and filtering, SIGIR, § 4.2.
"""

from __future__ import annotations

from textbayes.core.lazy import on_first_use

__getattr__, __dir__, __all__ = on_first_use(
    __name__,
    {
        "textbayes.stream.decide": ("Delivery",),
        "textbayes.stream.filter": ("AdaptiveFilter", "FilterDecision"),
        "textbayes.stream.folder": ("FilterFolder",),
        "textbayes.stream.judgements": ("give_judgements",),
        "textbayes.stream.models": ("export_model", "filter_from_model"),
        "textbayes.stream.run": ("replay_log", "simulate"),
        "textbayes.stream.settings": (
            "Budget",
            "FilterSettings",
            "make_ask",
            "make_budget",
            "make_explore",
            "make_rehearsal",
            "paper_rate",
            "paper_threshold",
        ),
    },
)
