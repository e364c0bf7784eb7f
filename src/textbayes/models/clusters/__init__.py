"""Soft clusters: the hierarchy of the count models with classes unknown."""

from __future__ import annotations

from textbayes.models.clusters.estimator import SoftClusters

__all__ = ["SoftClusters"]
