"""Adaptive filtering: a stream of documents in, those worth reading or worth asking about out, judgements learnt.

Chai, Ng & Chieu (2002), Bayesian online classifiers for text classification and filtering, SIGIR, § 4.2.
"""

from __future__ import annotations

from textbayes.core.lazy import on_first_use

_PUBLIC = {
    "AdaptiveFilter": "textbayes.stream.filter",
    "Budget": "textbayes.stream.settings",
    "Delivery": "textbayes.stream.decide",
    "FilterDecision": "textbayes.stream.filter",
    "FilterFolder": "textbayes.stream.folder",
    "FilterSettings": "textbayes.stream.settings",
    "export_model": "textbayes.stream.models",
    "filter_from_model": "textbayes.stream.models",
    "give_judgements": "textbayes.stream.judgements",
    "make_ask": "textbayes.stream.settings",
    "make_budget": "textbayes.stream.settings",
    "make_explore": "textbayes.stream.settings",
    "make_rehearsal": "textbayes.stream.settings",
    "paper_rate": "textbayes.stream.settings",
    "paper_threshold": "textbayes.stream.settings",
    "replay_log": "textbayes.stream.run",
    "simulate": "textbayes.stream.run",
}
__all__ = sorted(_PUBLIC)
__getattr__, __dir__ = on_first_use(__name__, _PUBLIC)
