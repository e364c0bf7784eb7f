"""Model files: arrays and JSON in one zip, written atomically, read without running any code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textbayes.core.lazy import on_first_use

if TYPE_CHECKING:
    from textbayes.store.model_file import SharedModel as SharedModel
    from textbayes.store.model_file import load_categorizer as load_categorizer
    from textbayes.store.model_file import load_model as load_model
    from textbayes.store.model_file import save_model as save_model
    from textbayes.store.model_file import written_by as written_by
    from textbayes.store.scorer_file import load_scorer as load_scorer

__getattr__, __dir__, __all__ = on_first_use(
    __name__,
    {
        "textbayes.store.model_file": ("SharedModel", "load_categorizer", "load_model", "save_model", "written_by"),
        "textbayes.store.scorer_file": ("load_scorer",),
    },
)
