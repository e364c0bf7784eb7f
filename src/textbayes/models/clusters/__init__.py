"""Soft clusters: the hierarchy of the count models with classes unknown."""

from __future__ import annotations

from textbayes.models.clusters.estimator import SoftClusters
from textbayes.models.clusters.measures import completion_perplexity, npmi_coherence, split_tokens

__all__ = ["SoftClusters", "completion_perplexity", "npmi_coherence", "split_tokens"]
