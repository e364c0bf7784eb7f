"""Screening: records in, the one to read next out, every answer learnt at once, and an estimate of what is left."""

from __future__ import annotations

from textbayes.core.lazy import on_first_use

__getattr__, __dir__, __all__ = on_first_use(
    __name__,
    {
        "textbayes.screen.collection": ("Collection",),
        "textbayes.screen.export": ("export_model",),
        "textbayes.screen.folder": ("ScreenFolder",),
        "textbayes.screen.screening": ("Screening",),
        "textbayes.screen.settings": ("ScreenSettings",),
    },
)
