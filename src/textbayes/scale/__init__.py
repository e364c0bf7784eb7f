"""Beyond memory and beyond one machine: shards on disk, fits that read them, work distributed over workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textbayes.core.lazy import on_first_use

if TYPE_CHECKING:
    from textbayes.core.executor import Executor as Executor
    from textbayes.core.executor import using as using
    from textbayes.scale.documents import PartitionedDocuments as PartitionedDocuments
    from textbayes.scale.documents import fit_documents as fit_documents
    from textbayes.scale.executor import make_executor as make_executor
    from textbayes.scale.partitions import make_partitions as make_partitions
    from textbayes.scale.scoring import arrow_schema as arrow_schema
    from textbayes.scale.scoring import score_arrow as score_arrow
    from textbayes.scale.scoring import score_batches as score_batches
    from textbayes.scale.scoring import score_partitions as score_partitions

__getattr__, __dir__, __all__ = on_first_use(
    __name__,
    {
        "textbayes.core.executor": ("Executor", "using"),
        "textbayes.scale.documents": ("PartitionedDocuments", "fit_documents"),
        "textbayes.scale.executor": ("make_executor",),
        "textbayes.scale.partitions": ("make_partitions",),
        "textbayes.scale.scoring": ("arrow_schema", "score_arrow", "score_batches", "score_partitions"),
    },
)
