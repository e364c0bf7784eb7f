"""Snapshots of a state that a log leads to, in a folder: the newest sound one and the log after it give the state.

They only save time: the first one and the whole log do as well.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from textbayes.core.errors import ModelFileError
from textbayes.store.file_format import FileFormat

_SUFFIX = ".snapshot"
T = TypeVar("T")


def snapshot_path(folder: Path, sequence: int) -> Path:
    """Where the state after so many entries of the log is kept."""
    return folder / f"{sequence:012d}{_SUFFIX}"


def snapshots(folder: Path) -> list[Path]:
    """The snapshots there are, oldest first."""
    return sorted(folder.glob(f"*{_SUFFIX}"))


def newest(folder: Path, form: FileFormat, read: Callable[[Path], T]) -> tuple[T, list[str]]:
    """What ``read`` makes of the newest snapshot that is sound, and what was wrong with newer ones."""
    faults: list[str] = []
    for path in reversed(snapshots(folder)):
        try:
            return read(path), faults
        except ModelFileError as error:
            faults.append(str(error).removesuffix(f"; {form.remedy}"))  # an older one will do
    cause = faults[-1] if faults else f"there is no snapshot in {folder}"
    raise ModelFileError(f"no snapshot can be read ({cause}); restore the folder from a copy")


def remove_old(folder: Path, n_newest: int) -> None:
    """Remove all but the first snapshot, where the log begins, and the newest."""
    for path in snapshots(folder)[1:-n_newest]:
        path.unlink(missing_ok=True)
