"""Soft clusters as a ``TextCategorizer``, so that they are saved, used and explained like every other model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from textbayes.categorizer.estimator import TextCategorizer
from textbayes.core.labels import LabelSpace
from textbayes.core.types import FloatArray
from textbayes.decide import make_rule
from textbayes.kinds.clusters import FittedClusters
from textbayes.models.clusters.estimator import SoftClusters
from textbayes.text import TermWeighting, TextVectorizer
from textbayes.text.fingerprint import text_fingerprints


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
    model = TextCategorizer(vectorizer=vectorizer, weighting="raw", model="clusters")
    model.vectorizer_, model.weighting_ = vectorizer, TermWeighting("raw").fit(counts)
    model.label_space_, model.classes_ = space, classes
    model.model_, model.pool_ = FittedClusters(space, clusters, order.astype(np.int64)), np.ones(1)
    model.rule_ = make_rule("fixed" if space.kind == "binary" else "top_label")
    best = memberships[:, order].argmax(axis=1)
    indicator = best[:, None] == np.arange(len(names))
    proba = memberships[:, order]
    columns = slice(1, None) if space.kind == "binary" else slice(None)
    model.rule_.fit(proba[:, columns], indicator[:, columns])
    model.label_counts_ = indicator.sum(axis=0).astype(np.int64)
    unknown = {"micro_f1": None, "macro_f1": None, "log_loss": None, "log_loss_per": "text"}  # nothing was held out
    model.held_out_, model.held_out_proba_ = unknown, proba[:, columns]
    model.fingerprints_ = text_fingerprints([])
    model.prior_table_ = model.prior_weight_ = None
    model.prior_audit_, model.prior_advice_ = [], []
    return model
