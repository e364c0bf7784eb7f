"""Write a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from textbayes.core.errors import InputError

_LONGEST = 60  # characters of the name that a temporary file begins with: a name has 255 bytes at most


def output_path(path: str | Path) -> Path:
    """Where an output file is written: what a link points to is replaced, and the link stays.

    What no file can replace is refused: a folder, a device, a link that leads to itself, a name that is too long.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return target
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}); choose another name") from error
    if stat.S_ISDIR(mode):
        raise InputError(f"{path} is a folder; name a file in it, such as {Path(path) / 'model.tb'}")
    if not stat.S_ISREG(mode):
        # A device or a pipe would be replaced by an ordinary file.
        raise InputError(f"{path} is not an ordinary file; name another")
    return target


@contextlib.contextmanager
def atomic_write(
    path: str | Path, check: Callable[[Path], None] | None = None, private: bool = False
) -> Iterator[BinaryIO]:
    """A stream to a temporary file beside ``path`` that takes its place when the block ends without an error.

    Whatever goes wrong (a full disk, an interrupt), what stood at ``path`` before stays as it was and nothing else
    is left behind. A file that is replaced keeps its mode.

    Parameters
    ----------
    path : path
    check : function of a path, optional
        Is given the temporary file when all is written, and raises an error if it must not take the place.
    private : bool
        Let nobody but the owner read the file.
    """
    target = output_path(path)
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:_LONGEST]}.", suffix=".tmp", dir=target.parent)
    except OSError as error:
        raise InputError(
            f"{target} cannot be written ({error.strerror}); choose a folder that exists and allows it"
        ) from error
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if check is not None:
            check(Path(temporary))
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


@contextlib.contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Errors of writing to an open file tell its path, which they do not by themselves: else another is blamed."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


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
