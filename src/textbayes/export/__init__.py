"""Scoring for places without Python: JSON, SQL and ONNX that give the probabilities of a trained model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textbayes.core.lazy import on_first_use

if TYPE_CHECKING:
    from textbayes.export.files import FORMATS, count_terms, export_scoring, reference_scorer

_PUBLIC = {
    "FORMATS": "textbayes.export.files",
    "count_terms": "textbayes.export.files",
    "export_scoring": "textbayes.export.files",
    "reference_scorer": "textbayes.export.files",
}

__all__ = ["FORMATS", "count_terms", "export_scoring", "reference_scorer"]

__getattr__, __dir__ = on_first_use(__name__, _PUBLIC)
