"""Choosing words: score functions, rules that turn scores into a choice, and a scikit-learn selector.

A score function takes (X, Y) and scores every word for every label at once; ``scores.names()`` lists them and
``scores.get(name)`` gives one; a function under ``scores.register(name)`` adds one. Rules (``select_per_label``,
``select_global``) know nothing of how scores came about, so M scores and N rules need M + N pieces of code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textbayes.core.lazy import on_first_use

if TYPE_CHECKING:
    from textbayes.select.score_functions import scores as scores
    from textbayes.select.selectors import SelectWords as SelectWords
    from textbayes.select.selectors import select_global as select_global
    from textbayes.select.selectors import select_per_label as select_per_label

__getattr__, __dir__, __all__ = on_first_use(
    __name__,
    {
        "textbayes.select.selectors": ("SelectWords", "select_global", "select_per_label"),
        "textbayes.select.score_functions": ("scores",),
    },
)
