"""Make a folder whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from textbayes.core.errors import InputError
from textbayes.store.log import sync_folder


def check_new_folder(path: str | Path, otherwise: str) -> Path:
    """The path, if a folder can be made there.

    Parameters
    ----------
    path : str or Path
    otherwise : str
        What to do where there is one already, to end the message with.
    """
    target = Path(path).resolve()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(f"{path} is there already; name a folder that is not, or {otherwise}")
    if not target.parent.is_dir():
        raise InputError(f"there is no folder {target.parent} to make {target.name} in; check the path")
    return target


@contextlib.contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A temporary folder beside ``target`` that takes its place, on disk, when the block ends without an error.

    Parameters
    ----------
    target : Path
        As :func:`check_new_folder` returned it: an empty folder there is replaced.
    """
    building = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        yield building
        mask = os.umask(0)
        os.umask(mask)
        building.chmod(0o777 & ~mask)  # mkdtemp makes private folders; a result is an ordinary one
        if target.exists():
            target.rmdir()
        sync_folder(building)
        building.rename(target)
        sync_folder(target.parent)
    except OSError as error:
        raise InputError(f"{target} cannot be written ({error.strerror}); choose a folder that allows it") from error
    finally:
        shutil.rmtree(building, ignore_errors=True)
