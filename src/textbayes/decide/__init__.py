"""Decision rules: from probabilities (n_docs, n_labels) to yes or no, one threshold or more per label.

A rule is one small object with ``fit(proba, Y)`` and ``decide(proba)``; ``rules.names()`` lists them and
``make_rule(name, **parameters)`` makes one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textbayes.core.lazy import on_first_use

if TYPE_CHECKING:
    from textbayes.core.folds import stratified_folds as stratified_folds
    from textbayes.decide._base import ALWAYS as ALWAYS
    from textbayes.decide._base import NEVER as NEVER
    from textbayes.decide._base import Rule as Rule
    from textbayes.decide._base import ThresholdRule as ThresholdRule
    from textbayes.decide._base import make_rule as make_rule
    from textbayes.decide._base import rules as rules
    from textbayes.decide._classifier import ThresholdClassifier as ThresholdClassifier
    from textbayes.decide.expected_f1 import ExpectedF1 as ExpectedF1
    from textbayes.decide.expected_f1 import expected_f1_thresholds as expected_f1_thresholds
    from textbayes.decide.fixed import FixedThreshold as FixedThreshold
    from textbayes.decide.fixed import LinearUtility as LinearUtility
    from textbayes.decide.fixed import TopLabel as TopLabel
    from textbayes.decide.max_f1 import FewestErrors as FewestErrors
    from textbayes.decide.max_f1 import MaxF1 as MaxF1
    from textbayes.decide.max_f1 import MicroMacroF1 as MicroMacroF1
    from textbayes.decide.max_f1 import ShrunkF1 as ShrunkF1
    from textbayes.decide.target import ProportionalCut as ProportionalCut
    from textbayes.decide.target import TargetPrecision as TargetPrecision
    from textbayes.decide.target import TargetRecall as TargetRecall
    from textbayes.decide.tree import LabelTree as LabelTree
    from textbayes.decide.unsure import UnsureBand as UnsureBand

__getattr__, __dir__, __all__ = on_first_use(
    __name__,
    {
        "textbayes.core.folds": ("stratified_folds",),
        "textbayes.decide._base": ("ALWAYS", "NEVER", "Rule", "ThresholdRule", "make_rule", "rules"),
        "textbayes.decide._classifier": ("ThresholdClassifier",),
        "textbayes.decide.expected_f1": ("ExpectedF1", "expected_f1_thresholds"),
        "textbayes.decide.fixed": ("FixedThreshold", "LinearUtility", "TopLabel"),
        "textbayes.decide.max_f1": ("FewestErrors", "MaxF1", "MicroMacroF1", "ShrunkF1"),
        "textbayes.decide.target": ("ProportionalCut", "TargetPrecision", "TargetRecall"),
        "textbayes.decide.tree": ("LabelTree",),
        "textbayes.decide.unsure": ("UnsureBand",),
    },
)
