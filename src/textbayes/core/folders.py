"""Folders of the user's that textbayes writes to unasked."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def cache_folder() -> Path:
    """Return the user's cache folder, for what can be fetched or computed again."""
    import platformdirs  # only when used

    return platformdirs.user_cache_path("textbayes")


def make_private_folder(folder: Path) -> None:
    """Make a folder that only its owner can look into; one that is there already becomes private too."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _keep_to_owner(folder, 0o700)


def make_private_file(path: Path) -> None:
    """Make an empty file that only its owner can read; one that is there already keeps its content."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    _keep_to_owner(path, 0o600)


def _keep_to_owner(path: Path, mode: int) -> None:
    if path.stat().st_mode & 0o077:
        with contextlib.suppress(OSError):  # of another owner, or on a disk without modes: it stays as it is
            path.chmod(mode)
