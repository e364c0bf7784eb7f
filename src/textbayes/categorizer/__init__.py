"""The front door: texts in, labels, probabilities and reasons out."""

from __future__ import annotations

from textbayes.categorizer.estimator import Assessment, TextCategorizer
from textbayes.core.progress import Progress

__all__ = ["Assessment", "Progress", "TextCategorizer"]
