"""Reliability of probabilities, and the figures at other thresholds."""

from __future__ import annotations

import numpy as np

from textbayes.core.types import BoolArray, FloatArray
from textbayes.evaluate import reliability_curve
from textbayes.report.records import Bin, Coverage, Curve
from textbayes.report.shares import wilson_interval

_COVERAGE_STEPS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
_MOST_POINTS = 120  # of a curve; more are not seen


def reliability(truth: BoolArray, proba: FloatArray) -> list[Bin]:
    """Reliability curve of all yes-or-no decisions in ten bins: mean probability and observed share."""
    curve = reliability_curve(truth, proba)
    rows = zip(curve.mean_proba.tolist(), curve.share_positive.tolist(), curve.n.tolist(), strict=True)
    return [Bin(mean, wilson_interval(round(share * n), n), n) for mean, share, n in rows]


def coverage(sure: FloatArray, right: BoolArray) -> list[Coverage]:
    """Accuracy and share of the texts that are at least so sure, at several probabilities."""
    steps = []
    for at_least in _COVERAGE_STEPS:
        kept = sure >= at_least
        if kept.any():
            steps.append(Coverage(at_least, float(kept.mean()), float(right[kept].mean())))
    return steps


def precision_recall(truth: BoolArray, proba: FloatArray, decisions: BoolArray, label: str = "") -> Curve | None:
    """Precision–recall curve over all thresholds, and the point of the decisions; None without a positive.

    Parameters
    ----------
    truth, decisions : boolean arrays
    proba : array of the same shape
        All decisions are taken together.
    label : str
        The name of the curve.
    """
    from sklearn.metrics import average_precision_score, precision_recall_curve

    y, p, given = truth.ravel(), proba.ravel(), decisions.ravel()
    if not y.any():
        return None
    precision, recall, _ = precision_recall_curve(y, p)
    few = np.unique(np.linspace(0, len(recall) - 1, _MOST_POINTS).round().astype(int))
    tp = int((y & given).sum())
    here = (tp / int(y.sum()), tp / int(given.sum())) if given.any() else None
    average = float(average_precision_score(y, p))
    return Curve(label, recall[few].tolist(), precision[few].tolist(), average, here)
