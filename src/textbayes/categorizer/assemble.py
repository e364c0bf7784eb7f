"""A ``TextCategorizer`` put together from parts that were not fitted by it."""

from __future__ import annotations

from typing import Any

import numpy as np

from textbayes.categorizer.ensemble import Ensemble
from textbayes.categorizer.estimator import TextCategorizer
from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.decide import make_rule
from textbayes.models.base import TextModel
from textbayes.text import TermWeighting, TextVectorizer


def assembled(
    model: Any,
    fitted: TextModel,
    vectorizer: TextVectorizer,
    weighting: TermWeighting,
    rule: str,
    proba: FloatArray,
    indicator: AnyArray,
    label_counts: IntArray,
    fingerprints: Any,
) -> TextCategorizer:
    """A categorizer that works as if it had been fitted; nothing was held out, so it has no such figures.

    Parameters
    ----------
    model : str or estimator
        What would be fitted if it were trained again.
    fitted : TextModel
    vectorizer, weighting : fitted
    rule : str
        The decision rule, fitted here to ``proba`` and ``indicator``, arrays (n_docs, n_columns).
    label_counts : array (n_classes,)
        Texts of each class.
    fingerprints : array or None
        Of the texts, where they are known.
    """
    made = TextCategorizer(vectorizer, weighting, model=model, rule=rule)
    made.vectorizer_, made.weighting_ = vectorizer, weighting
    made.label_space_ = fitted.label_space_
    made.classes_ = made.label_space_.classes
    made.model_, made.pool_ = Ensemble.of(fitted), np.ones(1)
    made.rule_ = make_rule(rule).fit(proba, indicator)
    made.label_counts_, made.fingerprints_ = label_counts.astype(np.int64), fingerprints
    made.held_out_ = {"micro_f1": None, "macro_f1": None, "log_loss": None, "log_loss_per": "text"}
    made.held_out_proba_ = proba
    made.prior_table_ = made.prior_weight_ = made.choice_ = made.copies_ = made.calibration_band_ = None
    made.prior_audit_, made.prior_advice_, made.surface_ = [], [], {}
    return made
