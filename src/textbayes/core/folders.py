"""Folders of the user's that textbayes writes to unasked."""

from __future__ import annotations

from pathlib import Path


def cache_folder() -> Path:
    """Return the user's cache folder, for what can be fetched or computed again."""
    import platformdirs  # only when used

    return platformdirs.user_cache_path("textbayes")
