"""Count models that remember no more of the documents than sums over them."""

from __future__ import annotations

from scipy import sparse

from textbayes.core.types import FloatArray, Matrix
from textbayes.models.counts.base import BaseCountModel, Estimate
from textbayes.models.counts.statistics import CountSums, add_sums, no_sums, sums_of


class SummedModel(BaseCountModel[CountSums, Estimate]):
    """A model of Σ_d x_d and Σ_d ω_d per class; ``presence`` where it also needs how many documents have each word."""

    @property
    def presence(self) -> bool:
        return False

    def empty(self, n_classes: int, n_features: int) -> CountSums:
        return no_sums(n_classes, n_features, presence=self.presence)

    def statistics(self, X: sparse.csr_matrix, Y: Matrix, omega: FloatArray) -> CountSums:
        return sums_of(X, Y, omega, presence=self.presence)

    def combine(self, first: CountSums, second: CountSums) -> CountSums:
        return add_sums(first, second)
