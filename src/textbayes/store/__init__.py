"""Model files: arrays and JSON in one zip, written atomically, read without running any code."""

from __future__ import annotations

from textbayes.store.model_file import load_categorizer, load_model, save_model, written_by

__all__ = ["load_categorizer", "load_model", "save_model", "written_by"]
