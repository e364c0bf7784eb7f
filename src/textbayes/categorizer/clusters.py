"""Soft clusters as a ``TextCategorizer``, so that they are saved, used and explained like every other model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from textbayes.categorizer.assemble import assembled
from textbayes.categorizer.estimator import TextCategorizer
from textbayes.core.labels import LabelSpace
from textbayes.core.types import FloatArray
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
