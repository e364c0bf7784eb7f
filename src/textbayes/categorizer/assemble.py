"""Categorizers put together from parts that ``fit`` did not fit: models of streams, and soft clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from textbayes.categorizer.ensemble import Ensemble
from textbayes.categorizer.estimator import TextCategorizer
from textbayes.core.labels import LabelSpace
from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.decide import make_rule
from textbayes.models.base import TextModel
from textbayes.models.clusters.estimator import SoftClusters
from textbayes.text import TermWeighting, TextVectorizer
from textbayes.text.copies import text_fingerprints


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
    made.model_, made.pool_, made.label_pool_ = Ensemble.of(fitted), np.ones(1), None
    made.rule_ = make_rule(rule).fit(proba, indicator)
    made.label_counts_, made.fingerprints_ = label_counts.astype(np.int64), fingerprints
    made.held_out_ = {"micro_f1": None, "macro_f1": None, "log_loss": None, "log_loss_per": "text"}
    made.held_out_proba_, made.held_out_decisions_ = proba, made.rule_.decide(proba)
    made.prior_table_ = made.prior_weight_ = made.choice_ = made.copies_ = made.calibration_band_ = None
    made.prior_audit_, made.prior_advice_, made.surface_ = [], [], {}
    return made


def categorizer_of_clusters(
    clusters: SoftClusters, vectorizer: TextVectorizer, counts: Any, memberships: FloatArray, names: Sequence[str]
) -> TextCategorizer:
    """A categorizer whose labels are clusters and whose probabilities are the shares of a text.

    Parameters
    ----------
    clusters : fitted SoftClusters
    vectorizer : fitted TextVectorizer
    counts : CSR matrix (n_docs, n_features)
        The texts that they were found in.
    memberships : array (n_docs, n_clusters)
    names : the name of each cluster, in their order
    """
    order = np.argsort(np.array(names, dtype=object), kind="stable")
    classes = np.array([names[k] for k in order], dtype=object)
    space = LabelSpace(classes, "binary" if len(names) == 2 else "multiclass")
    proba = memberships[:, order]
    indicator = proba.argmax(axis=1)[:, None] == np.arange(len(names))
    columns = slice(1, None) if space.kind == "binary" else slice(None)
    return assembled(
        "clusters",
        clusters.for_labels(space, order.astype(np.int64)),
        vectorizer,
        TermWeighting("raw").fit(counts),
        "fixed" if space.kind == "binary" else "top_label",
        proba[:, columns],
        indicator[:, columns],
        indicator.sum(axis=0),
        text_fingerprints([]),
    )
