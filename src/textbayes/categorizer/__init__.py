"""The front door: texts in, labels, probabilities and reasons out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textbayes.core.lazy import on_first_use

if TYPE_CHECKING:
    from textbayes.categorizer.estimator import TextCategorizer
    from textbayes.categorizer.scorer import Assessment, Scorer
    from textbayes.core.progress import Progress

_PUBLIC = {
    "Assessment": "textbayes.categorizer.scorer",
    "Progress": "textbayes.core.progress",
    "Scorer": "textbayes.categorizer.scorer",
    "TextCategorizer": "textbayes.categorizer.estimator",
}

__all__ = [
    "Assessment",
    "Progress",
    "Scorer",
    "TextCategorizer",
]

__getattr__, __dir__ = on_first_use(__name__, _PUBLIC)
