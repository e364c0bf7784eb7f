"""Soft clusters as a model: which share of a text belongs to each cluster; found without labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from textbayes.core.errors import ModelFileError, NotSupportedError
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import Contributions, Features, WordWeights
from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.kinds import kinds
from textbayes.kinds.base import FitOptions, Fitted, Kind
from textbayes.models.clusters.estimator import SoftClusters

_LEAST_SHARE = 1e-12


class FittedClusters(Fitted):
    """Clusters in the order of a label space: its probabilities are the shares of a text.

    Parameters
    ----------
    space : LabelSpace
    clusters : fitted SoftClusters
    order : array (n_clusters,)
        The cluster that each class stands for.
    """

    kind = "clusters"
    reads = "counts"

    def __init__(self, space: LabelSpace, clusters: SoftClusters, order: AnyArray) -> None:
        super().__init__(space)
        self.clusters, self.order = clusters, order
        self.is_softmax = space.kind == "multiclass"

    def scores(self, features: Features, average: bool = True) -> FloatArray:
        shares = np.log(np.maximum(self.clusters.transform(features.counts)[:, self.order], _LEAST_SHARE))
        return shares if self.is_softmax else shares[:, 1:] - shares[:, :1]

    def contributions(self, document: Features) -> Contributions:
        """Contribution of each word: its count times the log of its rate in a cluster over its rate in all text.

        Shares are not sums over words: a word counts by the others around it too.
        """
        columns = document.counts.indices.astype(np.int64)
        parts = document.counts.data * self.words().weights[:, columns]
        total = self.scores(document)[0]
        return Contributions(total - parts.sum(axis=1), columns, parts)

    def words(self) -> WordWeights:
        rates = np.log(np.maximum(self.clusters.rates_[self.order], 1e-300))
        general = self.clusters.sizes_[self.order] @ np.exp(rates)
        ratios = rates - np.log(np.maximum(general, 1e-300))
        weights = ratios if self.is_softmax else ratios[1:] - ratios[:1]
        return WordWeights(weights, None, "log-ratio of the rate in the cluster and in all text")

    def known_words(self) -> BoolArray:
        return np.ones(self.clusters.n_features_in_, dtype=np.bool_)

    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        meta, arrays = self.clusters.to_state()
        return meta | {"order": self.order.tolist()}, arrays


class ClustersKind(Kind):
    """Documents as mixtures of clusters, clusters as rates of words."""

    name = "clusters"
    trains = False

    @property
    def estimator_class(self) -> type:
        return SoftClusters

    def fit(
        self, estimator: Any, features: Features, indicator: BoolArray, space: LabelSpace, options: FitOptions
    ) -> NoReturn:
        raise NotSupportedError(
            "clusters are found without labels; use `textbayes clusters texts.jsonl -o clusters.tb`, or SoftClusters"
        )

    def from_state(
        self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], space: LabelSpace, n_features: int
    ) -> FittedClusters:
        order = meta.get("order")
        n_classes = len(space.classes)
        if not isinstance(order, list) or sorted(map(str, order)) != sorted(map(str, range(n_classes))):
            raise ModelFileError("the model's clusters are not those of its labels; was the file altered?")
        clusters = SoftClusters.from_state({name: value for name, value in meta.items() if name != "order"}, arrays)
        if clusters.n_features_in_ != n_features or len(clusters.sizes_) != n_classes or space.kind == "multilabel":
            raise ModelFileError("the model's clusters are of other words or labels; was the file altered?")
        return FittedClusters(space, clusters, np.array(order, dtype=np.int64))


kinds.register("clusters")(ClustersKind())
