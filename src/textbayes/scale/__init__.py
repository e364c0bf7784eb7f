"""Beyond memory and beyond one machine: shards on disk, fits that read them, work distributed over workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textbayes.core.lazy import on_first_use

if TYPE_CHECKING:
    from textbayes.core.executor import Executor, using
    from textbayes.scale.arrow import arrow_schema, score_arrow, score_batches
    from textbayes.scale.documents import PartitionedDocuments, fit_documents
    from textbayes.scale.executor import make_executor
    from textbayes.scale.partitions import make_partitions
    from textbayes.scale.scoring import score_partitions

_PUBLIC = {
    "Executor": "textbayes.core.executor",
    "PartitionedDocuments": "textbayes.scale.documents",
    "arrow_schema": "textbayes.scale.arrow",
    "fit_documents": "textbayes.scale.documents",
    "make_executor": "textbayes.scale.executor",
    "make_partitions": "textbayes.scale.partitions",
    "score_arrow": "textbayes.scale.arrow",
    "score_batches": "textbayes.scale.arrow",
    "score_partitions": "textbayes.scale.scoring",
    "using": "textbayes.core.executor",
}

__all__ = [
    "Executor",
    "PartitionedDocuments",
    "arrow_schema",
    "fit_documents",
    "make_executor",
    "make_partitions",
    "score_arrow",
    "score_batches",
    "score_partitions",
    "using",
]

__getattr__, __dir__ = on_first_use(__name__, _PUBLIC)
