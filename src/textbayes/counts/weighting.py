"""Evidence of words weighed by how rare they are (TF-IDF), for the naive models."""

from __future__ import annotations

import numpy as np

from textbayes.core.types import FloatArray
from textbayes.core.validation import check_choice
from textbayes.counts.statistics import CountSums

WEIGHTINGS = ("counts", "tfidf")


def check_weighting(weighting: str) -> None:
    check_choice("weighting", weighting, WEIGHTINGS)


def word_weights(weighting: str, stats: CountSums) -> FloatArray:
    """1 for ``"counts"``; for ``"tfidf"`` ln((N + 1)/(n_w + 1)), n_w of N documents having the word; (V,).

    Counts times this are the TF-IDF weights of "scaled" naive Bayes. They need no second reading of the documents, so a
    model that learns in parts has them too. For weights of unit length, weigh the counts with ``TermWeighting`` first.
    """
    if weighting == "counts":
        return np.ones(stats.counts.shape[1])
    return np.log((stats.documents.sum() + 1.0) / (stats.with_word + 1.0))
