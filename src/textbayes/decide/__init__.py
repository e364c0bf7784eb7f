"""Decision rules: from probabilities (n_docs, n_labels) to yes or no, one threshold or more per label.

A rule is one small object with ``fit(proba, Y)`` and ``decide(proba)``; ``rules.names()`` lists them and
``make_rule(name, **parameters)`` makes one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textbayes.core.lazy import on_first_use

if TYPE_CHECKING:
    from textbayes.core.folds import stratified_folds
    from textbayes.decide._base import ALWAYS, NEVER, Rule, ThresholdRule, make_rule, rules
    from textbayes.decide._classifier import ThresholdClassifier
    from textbayes.decide.expected_f1 import ExpectedF1, expected_f1_thresholds
    from textbayes.decide.fixed import FixedThreshold, LinearUtility
    from textbayes.decide.max_f1 import FewestErrors, MaxF1
    from textbayes.decide.micro_macro import MicroMacroF1
    from textbayes.decide.pcut import ProportionalCut
    from textbayes.decide.shrunk_f1 import ShrunkF1
    from textbayes.decide.target import TargetPrecision, TargetRecall
    from textbayes.decide.top_label import TopLabel
    from textbayes.decide.unsure import UnsureBand

_PUBLIC = {
    "ALWAYS": "textbayes.decide._base",
    "ExpectedF1": "textbayes.decide.expected_f1",
    "FewestErrors": "textbayes.decide.max_f1",
    "FixedThreshold": "textbayes.decide.fixed",
    "LinearUtility": "textbayes.decide.fixed",
    "MaxF1": "textbayes.decide.max_f1",
    "MicroMacroF1": "textbayes.decide.micro_macro",
    "NEVER": "textbayes.decide._base",
    "ProportionalCut": "textbayes.decide.pcut",
    "Rule": "textbayes.decide._base",
    "ShrunkF1": "textbayes.decide.shrunk_f1",
    "TargetPrecision": "textbayes.decide.target",
    "TargetRecall": "textbayes.decide.target",
    "ThresholdClassifier": "textbayes.decide._classifier",
    "ThresholdRule": "textbayes.decide._base",
    "TopLabel": "textbayes.decide.top_label",
    "UnsureBand": "textbayes.decide.unsure",
    "expected_f1_thresholds": "textbayes.decide.expected_f1",
    "make_rule": "textbayes.decide._base",
    "rules": "textbayes.decide._base",
    "stratified_folds": "textbayes.core.folds",
}

__all__ = [
    "ALWAYS",
    "NEVER",
    "ExpectedF1",
    "FewestErrors",
    "FixedThreshold",
    "LinearUtility",
    "MaxF1",
    "MicroMacroF1",
    "ProportionalCut",
    "Rule",
    "ShrunkF1",
    "TargetPrecision",
    "TargetRecall",
    "ThresholdClassifier",
    "ThresholdRule",
    "TopLabel",
    "UnsureBand",
    "expected_f1_thresholds",
    "make_rule",
    "rules",
    "stratified_folds",
]

__getattr__, __dir__ = on_first_use(__name__, _PUBLIC)
