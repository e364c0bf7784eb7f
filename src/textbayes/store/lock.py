"""A lock file that one process holds at a time; the system lets go of it when the process ends, however it ends."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import threading
from collections.abc import Callable, Iterator
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
        with contextlib.suppress(OSError):  # a full disk: who has it is told in a message only
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


@contextlib.contextmanager
def replacing(path: str | Path, waiting: Callable[[], None] | None = None, needed: bool = True) -> Iterator[None]:
    """Be the only one who replaces a file, in this process and all others, until the block ends.

    Who reads a file, changes what it holds and writes it again does so in one such block: else what others wrote in
    between is lost. The lock is a file beside it, which is removed at the end. Blocks of one thread may be nested.

    Parameters
    ----------
    path : path
        The file, which need not be there yet.
    waiting : function, optional
        Called once if another has the lock, before it is waited for.
    needed : bool
        Whether to refuse a place that has no locks; otherwise the block runs without.
    """
    target = Path(os.path.realpath(path))
    held: set[Path] = vars(_held).setdefault("paths", set())
    if target in held:
        yield
        return
    lock = _beside(target)
    try:
        file = _owned(lock, waiting)
    except OSError as error:
        if needed:
            raise InputError(
                f"{target} cannot be locked ({error.strerror}), and without a lock changes of two processes could "
                "be lost; use a copy in a folder that can be written to and has locks"
            ) from error
        yield
        return
    held.add(target)
    try:
        yield
    finally:
        held.remove(target)
        with contextlib.suppress(OSError):
            lock.unlink()  # while it is locked, so that nobody else has made sure yet that it is the one in place
        os.close(file)


_held = threading.local()  # the files that a thread replaces


def _beside(target: Path) -> Path:
    name = target.name if len(os.fsencode(target.name)) < 200 else hashlib.sha256(os.fsencode(target.name)).hexdigest()
    return target.with_name(f".{name}.lock")


def _owned(path: Path, waiting: Callable[[], None] | None) -> int:
    """A lock file that is locked and still in its place: others remove it when they are done."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            try:
                _lock(file, wait=False)
            except (BlockingIOError, PermissionError):  # the second is what Windows says
                if waiting is not None:
                    waiting()
                    waiting = None
                _lock(file, wait=True)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.stat(path), os.fstat(file)):
                    return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)


def _lock(file: int, wait: bool) -> None:
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        return
    import msvcrt

    # The lock is on a byte far behind what is written, so that the holder can still be read.
    os.lseek(file, 1 << 20, os.SEEK_SET)
    while True:
        try:
            msvcrt.locking(file, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
            break
        except OSError as error:
            if not wait or error.errno != errno.EDEADLK:  # which it says after ten seconds
                raise
    os.lseek(file, 0, os.SEEK_SET)
