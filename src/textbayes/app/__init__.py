"""The review room: screening in the browser, for one person or a team, and a REST interface to it."""

from __future__ import annotations

from textbayes.core.lazy import on_first_use

_PUBLIC = {
    "AppSettings": "textbayes.app.settings",
    "create_app": "textbayes.app.web",
}
__all__ = sorted(_PUBLIC)
__getattr__, __dir__ = on_first_use(__name__, _PUBLIC)
