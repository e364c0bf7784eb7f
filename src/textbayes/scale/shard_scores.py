"""Probabilities of documents that are in shards, block by block on all cores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from textbayes.categorizer.ensemble import Ensemble
from textbayes.core.protocols import Features
from textbayes.core.types import FloatArray
from textbayes.text.batches import in_order


def score_blocks(model: Ensemble, blocks: Iterable[Features]) -> Iterator[FloatArray]:
    """Probabilities of every column for the documents of each block, in order; a few blocks are in memory at once.

    Parameters
    ----------
    model : Ensemble
    blocks : iterable of Features
    """

    def proba(features: Any) -> FloatArray:
        return model.proba(features)

    yield from in_order(proba, blocks)
