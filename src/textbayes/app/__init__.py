"""The review room: screening in the browser, for one person or a team, and a REST interface to it."""

from __future__ import annotations

from textbayes.core.lazy import on_first_use

__getattr__, __dir__, __all__ = on_first_use(
    __name__,
    {
        "textbayes.app.settings": ("AppSettings",),
        "textbayes.app.web": ("create_app",),
    },
)
