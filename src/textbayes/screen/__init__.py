"""Screening: records in, the one to read next out, every answer learnt at once, and an estimate of what is left."""

from __future__ import annotations

from textbayes.core.lazy import on_first_use

_PUBLIC = {
    "Collection": "textbayes.screen.collection",
    "ScreenFolder": "textbayes.screen.folder",
    "ScreenSettings": "textbayes.screen.settings",
    "Screening": "textbayes.screen.screening",
    "export_model": "textbayes.screen.export",
}
__all__ = sorted(_PUBLIC)
__getattr__, __dir__ = on_first_use(__name__, _PUBLIC)
