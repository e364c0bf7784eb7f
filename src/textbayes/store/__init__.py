"""Model files: arrays and JSON in one zip, written atomically, read without running any code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textbayes.core.lazy import on_first_use

if TYPE_CHECKING:
    from textbayes.store.model_file import load_categorizer, load_model, save_model, written_by
    from textbayes.store.scorer_file import load_scorer
    from textbayes.store.shared_model import SharedModel

__all__ = ["SharedModel", "load_categorizer", "load_model", "load_scorer", "save_model", "written_by"]

_PLACES = dict.fromkeys(__all__, "textbayes.store.model_file")
_PLACES |= {"SharedModel": "textbayes.store.shared_model", "load_scorer": "textbayes.store.scorer_file"}
__getattr__, __dir__ = on_first_use(__name__, _PLACES)
