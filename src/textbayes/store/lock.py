"""A lock file that one process holds at a time; the system lets go of it when the process ends, however it ends."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from textbayes.core.errors import InputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class FileLock:
    """A lock on a file that is made if it is not there.

    ``acquire`` waits for it; with ``wait=False`` it is refused with ``refusal`` and the process that holds it.
    """

    def __init__(self, path: Path, refusal: str = "") -> None:
        self._path, self._refusal = path, refusal
        self._file = -1

    def acquire(self, wait: bool = False) -> None:
        file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(file, wait)
        except OSError as error:
            holder = os.pread(file, 32, 0).decode("ascii", "replace").strip() if hasattr(os, "pread") else ""
            os.close(file)
            by = f" (process {holder})" if holder.isdigit() else ""
            raise InputError(f"{self._refusal}{by}") from error
        self._file = file
        os.ftruncate(file, 0)
        os.write(file, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        if self._file >= 0:
            os.close(self._file)  # which unlocks it
            self._file = -1


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock for a moment, waiting for it if need be."""
    lock = FileLock(path)
    lock.acquire(wait=True)
    try:
        yield
    finally:
        lock.release()


def _lock(file: int, wait: bool) -> None:
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        return
    import msvcrt

    # The lock is on a byte far behind what is written, so that the holder can still be read.
    os.lseek(file, 1 << 20, os.SEEK_SET)
    msvcrt.locking(file, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
    os.lseek(file, 0, os.SEEK_SET)
