"""Draws of a posterior for other tools: ArviZ' InferenceData, and its plots of words saved to a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textbayes.core.lazy import on_first_use

if TYPE_CHECKING:
    from textbayes.draws.export import to_inference_data
    from textbayes.draws.plots import plot_words

_PUBLIC = {"plot_words": "textbayes.draws.plots", "to_inference_data": "textbayes.draws.export"}

__all__ = ["plot_words", "to_inference_data"]

__getattr__, __dir__ = on_first_use(__name__, _PUBLIC)
