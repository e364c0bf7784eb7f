"""Evidence of words weighed by how rare they are (TF-IDF), for the naive models."""

from __future__ import annotations

from typing import Any

import numpy as np

from textbayes.core.types import FloatArray
from textbayes.core.validation import check_choice
from textbayes.models.counts.base import Estimate, positive
from textbayes.models.counts.statistics import CountSums
from textbayes.models.counts.summed import SummedModel

WEIGHTINGS = ("counts", "tfidf")


def check_weighting(weighting: str) -> None:
    """Refuse a weighting that there is not."""
    check_choice("weighting", weighting, WEIGHTINGS)


class WeighedModel(SummedModel[Estimate]):
    """A model with pseudo-counts that may weigh the evidence of words; both are fields of the models themselves."""

    pseudo_counts: Any
    weighting: str

    def __post_init__(self) -> None:
        check_weighting(self.weighting)
        positive(self.pseudo_counts, "pseudo_counts")

    @property
    def presence(self) -> bool:
        return self.weighting == "tfidf"


def word_weights(weighting: str, stats: CountSums) -> FloatArray:
    """1 for ``"counts"``; for ``"tfidf"`` ln((N + 1)/(n_w + 1)), n_w of N documents having the word; (V,).

    Counts times this are the TF-IDF weights of "scaled" naive Bayes. They need no second reading of the documents, so a
    model that learns in parts has them too. For weights of unit length, weigh the counts with ``TermWeighting`` first.
    """
    if weighting == "counts":
        return np.ones(stats.counts.shape[1])
    return np.log((stats.documents.sum() + 1.0) / (stats.with_word + 1.0))
