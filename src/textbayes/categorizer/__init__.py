"""The front door: texts in, labels, probabilities and reasons out."""

from __future__ import annotations

from textbayes.categorizer.estimator import Assessment, Progress, TextCategorizer

__all__ = ["Assessment", "Progress", "TextCategorizer"]
