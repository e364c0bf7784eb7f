"""Memory that is available, and a refusal before more is asked for."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from threading import get_ident
from typing import IO

import numpy as np

from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.machine import total_memory
from textbayes.core.types import AnyArray


def check_fits_memory(n_bytes: int, what: str) -> None:
    """Refuse what needs more memory than the machine has; a file can claim any size."""
    available = total_memory()  # where that is not known, what is too much fails when it is asked for
    if available is not None and n_bytes > available:
        raise ModelFileError(
            f"{what} take {n_bytes / 2**30:,.1f} GiB, more than the {available / 2**30:,.1f} GiB of this machine; was "
            "the file altered, or is it meant for a larger machine?"
        )


COPIED = 12  # bytes of a non-zero that is copied: its row and its value


class _Working:
    """How much memory copies may take, and the mapped files, one for each thread, of those that are larger."""

    def __init__(self, n_bytes: int, folder: Path | None) -> None:
        self.n_bytes, self.folder = n_bytes, folder
        self.files: dict[int, AnyArray] = {}


_WORKING = [_Working(1 << 29, None)]


def working_memory() -> int:
    """Bytes that one thread of a fit may use for copies that only save time; results do not depend on it."""
    return _WORKING[-1].n_bytes


@contextlib.contextmanager
def limited_working_memory(n_bytes: int, folder: Path | None = None) -> Iterator[None]:
    """Let fits in this block use no more for such copies, in all threads; larger ones are files in ``folder``."""
    _WORKING.append(_Working(n_bytes, folder))
    try:
        yield
    finally:
        _WORKING.pop()


def room_for_copy(n_nonzeros: int) -> tuple[AnyArray, AnyArray]:
    """Rows and values, to be filled in, of so many non-zeros: in memory, or in a mapped file if that is too much.

    Within a block of ``limited_working_memory`` a thread uses its file again: what an earlier call returned is
    overwritten.
    """
    working, size = _WORKING[-1], COPIED * n_nonzeros
    if size <= working.n_bytes:
        return np.empty(n_nonzeros, dtype=np.int32), np.empty(n_nonzeros)
    room = working.files.get(get_ident())
    if room is None or len(room) < size:
        folder = working.folder or Path(gettempdir())
        with TemporaryFile(dir=folder) as file:  # without a name: it ends with the array
            take_space(file, size, folder)
            room = np.asarray(np.memmap(file, np.uint8, "r+"))
        if working is not _WORKING[0]:  # outside of any block nothing would ever end it
            working.files[get_ident()] = room
    return room[8 * n_nonzeros : size].view(np.int32), room[: 8 * n_nonzeros].view(np.float64)


def take_space(file: IO[bytes], size: int, folder: Path) -> None:
    """Make a file of ``size`` bytes; a disk that fills up while a mapped file is written would end the process."""
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.truncate(size)
    except OSError as error:
        raise InputError(
            f"{folder} has no room for {size / 2**30:.2f} GiB ({error.strerror}); free some space, or name another "
            "folder with $TEXTBAYES_SHARDS (out of core) or $TMPDIR (in memory)"
        ) from error
