"""Scoring for places without Python: JSON, SQL and ONNX that give the probabilities of a trained model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textbayes.core.lazy import on_first_use

if TYPE_CHECKING:
    from textbayes.export.collect import FORMATS as FORMATS
    from textbayes.export.collect import count_terms as count_terms
    from textbayes.export.collect import export_scoring as export_scoring
    from textbayes.export.collect import reference_scorer as reference_scorer

__getattr__, __dir__, __all__ = on_first_use(
    __name__,
    {
        "textbayes.export.collect": ("FORMATS", "count_terms", "export_scoring", "reference_scorer"),
    },
)
