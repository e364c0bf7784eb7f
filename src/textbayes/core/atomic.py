"""Write a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from textbayes.core.errors import InputError


@contextlib.contextmanager
def atomic_write(path: str | Path, private: bool = False) -> Iterator[BinaryIO]:
    """A stream to a temporary file beside ``path`` that takes its place when the block ends without an error.

    Whatever goes wrong (a full disk, an interrupt), what stood at ``path`` before stays as it was and nothing else
    is left behind. A file that is replaced keeps its mode; a ``private`` one can be read by its owner only.
    """
    target = Path(os.path.realpath(path))  # a link stays a link: what it points to is replaced
    if target.exists() and not target.is_file():
        raise InputError(f"{path} is not a regular file; choose another name")
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    except OSError as error:
        raise InputError(
            f"{target} cannot be written ({error.strerror}); choose a folder that exists and allows it"
        ) from error
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if not private:  # mkstemp makes private files; a result is an ordinary one
            os.chmod(temporary, stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_umask())
        os.replace(temporary, target)
    except OSError as error:
        raise InputError(
            f"{target} was not written: {error.strerror}; free some space or choose another place"
        ) from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask
