"""Adaptive filtering: a stream of documents in, those worth reading or worth asking about out, judgements learnt.

Chai, Ng & Chieu (2002), Bayesian online classifiers for text classification and filtering, SIGIR, § 4.2.
"""

from __future__ import annotations

from textbayes.core.lazy import on_first_use

_PUBLIC = {
    "AdaptiveFilter": "textbayes.stream.filter",
    "Budget": "textbayes.stream.schedules",
    "Delivery": "textbayes.stream.decide",
    "FilterFolder": "textbayes.stream.folder",
    "FilterSettings": "textbayes.stream.settings",
    "Seen": "textbayes.stream.filter",
    "export_model": "textbayes.stream.export",
    "filter_from_model": "textbayes.stream.from_model",
    "give_judgements": "textbayes.stream.judgements",
    "make_ask": "textbayes.stream.schedules",
    "make_budget": "textbayes.stream.schedules",
    "make_explore": "textbayes.stream.schedules",
    "make_rehearsal": "textbayes.stream.schedules",
    "paper_rate": "textbayes.stream.schedules",
    "paper_threshold": "textbayes.stream.schedules",
    "replay_log": "textbayes.stream.replay",
    "simulate": "textbayes.stream.run",
}
__all__ = sorted(_PUBLIC)
__getattr__, __dir__ = on_first_use(__name__, _PUBLIC)
