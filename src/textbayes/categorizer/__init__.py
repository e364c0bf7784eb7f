"""The front door: texts in, labels, probabilities and reasons out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textbayes.core.lazy import on_first_use

if TYPE_CHECKING:
    from textbayes.categorizer.estimator import TextCategorizer as TextCategorizer
    from textbayes.categorizer.scorer import Assessment as Assessment
    from textbayes.categorizer.scorer import Scorer as Scorer
    from textbayes.core.progress import Progress as Progress

__getattr__, __dir__, __all__ = on_first_use(
    __name__,
    {
        "textbayes.categorizer.estimator": ("TextCategorizer",),
        "textbayes.categorizer.scorer": ("Assessment", "Scorer"),
        "textbayes.core.progress": ("Progress",),
    },
)
