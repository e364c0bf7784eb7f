"""Where shards are stored: a folder for each input and way of reading it, made anew when the input has changed."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from textbayes._version import __version__
from textbayes.core.atomic import atomic_write, cache_folder
from textbayes.core.errors import InputError
from textbayes.scale.shards import Shards
from textbayes.store.lock import FileLock, replacing

_STATE = "input.json"
_FORMAT = 2  # of the shards: others are made anew
_RUN, _LOCK = "run-", "lock"  # folders of single runs, and in each what its process holds while it lives


def shards_folder() -> Path:
    """The folder of all shards: ``$TEXTBAYES_SHARDS``, or one in the user's cache."""
    named = os.environ.get("TEXTBAYES_SHARDS")
    return Path(named) if named else cache_folder() / "shards"


@contextlib.contextmanager
def folder_for(paths: Iterable[str], settings: Mapping[str, Any]) -> Iterator[Path]:
    """The folder for the shards of some files, read in some way; it is empty where a file has changed since.

    What cannot be known again (standard input, no files) gets a folder that is removed at the end. While one process
    has the folder, others are refused.

    Parameters
    ----------
    paths : iterable of str
        Files and folders.
    settings : mapping
        All that decides what is made of them; it is compared as JSON.
    """
    names = list(paths)
    if not names or "-" in names:
        with _temporary() as folder:
            yield folder
        return
    identity = json.dumps([[os.path.realpath(name) for name in names], dict(settings)], default=str, sort_keys=True)
    folder = shards_folder() / hashlib.blake2b(identity.encode(), digest_size=12).hexdigest()
    Shards(folder)  # makes it, or says why not
    lock = FileLock(
        folder / "lock", f"another process is using the shards of {names[0]} in {folder}; wait for it to end"
    )
    lock.acquire()
    try:
        state = json.dumps({"version": __version__, "format": _FORMAT, "files": _files(names)})
        description = folder / _STATE
        if not description.exists() or description.read_text(encoding="utf-8") != state:
            description.unlink(missing_ok=True)  # first: what a kill leaves of the others must not be taken for whole
            for part in ("raw", "counts", "vocabulary"):
                shutil.rmtree(folder / part, ignore_errors=True)
            with atomic_write(description) as stream:
                stream.write(state.encode())
        yield folder
    finally:
        lock.release()


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder for what one run needs, beside the shards; removed at the end."""
    with _temporary() as folder:
        yield folder


@contextlib.contextmanager
def _temporary() -> Iterator[Path]:
    Shards(shards_folder())
    # One process at a time makes a folder or looks for those of others, so that none is met before it is locked.
    with replacing(shards_folder() / "run", needed=False):
        remove_abandoned()
        try:
            made = tempfile.TemporaryDirectory(prefix=_RUN, dir=shards_folder(), ignore_cleanup_errors=True)
        except OSError as error:
            raise InputError(
                f"{shards_folder()} cannot be written ({error.strerror}); name another folder with $TEXTBAYES_SHARDS"
            ) from error
        lock = FileLock(Path(made.name) / _LOCK)
        with contextlib.suppress(InputError):  # where there are no locks, nobody removes anything either
            lock.acquire()
    try:
        with made as folder:
            yield Path(folder)
    finally:
        lock.release()


def remove_abandoned() -> None:
    """Remove the folders of runs that were killed: nobody holds their locks any more."""
    for folder in shards_folder().glob(f"{_RUN}*"):
        lock = FileLock(folder / _LOCK)
        try:
            lock.acquire()
        except (InputError, OSError):
            continue
        shutil.rmtree(folder, ignore_errors=True)
        lock.release()


def _files(names: list[str]) -> list[list[Any]]:
    """Name, size and time of change of each file."""
    found: list[list[Any]] = []
    for name in names:
        path = Path(name)
        inside = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
        for one in inside:
            about = one.stat()
            found.append([os.path.realpath(one), about.st_size, about.st_mtime_ns])
    return found
