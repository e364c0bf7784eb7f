"""The folder of compiled kernels: one folder for each state of their sources, so that what is found is never stale.

By itself numba keeps what it compiles beside each file and looks at that file only: a kernel whose helper changed in
another file would be found as it was. Here a hash of all kernels' sources, of numba and of Python names the folder; a
change of any of them begins an empty one. It is in $NUMBA_CACHE_DIR, or else in the user's cache, so a package that
cannot be written to will do. Folders that nobody has used for a month are removed when a new one is begun.

Processes that start at once share a folder safely: numba puts every file in its place by a rename.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numba
from numba.core import caching

from textbayes.core.atomic import cache_folder

KERNELS = Path(__file__).parent
PREFIX = "textbayes-kernels-"
UNUSED_SECONDS = 30 * 24 * 3600

logger = logging.getLogger("textbayes")


@functools.cache
def fingerprint() -> str:
    """Hash everything that compiled code depends on: the kernels' sources, numba and Python (some milliseconds)."""
    found = hashlib.sha256(f"numba {numba.__version__} Python {sys.version}".encode())
    for path in sorted(KERNELS.rglob("*.py")):
        source = path.read_bytes()
        found.update(f"\n{path.relative_to(KERNELS).as_posix()} {len(source)}\n".encode())
        found.update(source)
    return found.hexdigest()[:16]


@functools.cache
def compiled_folder() -> Path:
    """Return the folder for the kernels as they are now, made where there is none yet."""
    root = Path(numba.config.CACHE_DIR or cache_folder())  # type: ignore[attr-defined]
    folder = root / f"{PREFIX}{fingerprint()}"
    try:
        known = folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)  # says that it is in use
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        logger.warning(
            "textbayes: compiled kernels cannot be stored in %s (%s), so every run compiles them again; "
            "set NUMBA_CACHE_DIR to a folder that can be written to",
            root,
            error.strerror,
        )
        return Path(_temporary_folder().name)
    if not known:
        remove_unused(root)
    return folder


@functools.cache
def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Make a private folder that goes with the process; nothing that others may write to is ever loaded."""
    return tempfile.TemporaryDirectory(prefix=PREFIX)


def remove_unused(root: Path) -> None:
    """Remove the folders of other sources, of numba or of Python that no process has asked for in a month."""
    for folder in root.glob(f"{PREFIX}*"):
        with contextlib.suppress(FileNotFoundError):  # another process removed it first
            if time.time() - folder.stat().st_mtime > UNUSED_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


class KernelLocator(caching._CacheLocator):
    """Tells numba the folder of a kernel, in which each subfolder of the sources has its own."""

    def __init__(self, kernel: Any, path: Path) -> None:
        self._folder = compiled_folder() / path.relative_to(KERNELS).parent
        self._line = kernel.__code__.co_firstlineno

    def ensure_cache_path(self) -> None:
        with contextlib.suppress(OSError):  # which is met again, and reported, when a kernel is saved
            super().ensure_cache_path()  # type: ignore[no-untyped-call]

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return fingerprint()

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> KernelLocator | None:
        """Answer for functions of this package; numba asks its own locators about all others."""
        path = Path(py_file)
        return cls(py_func, path) if path.is_relative_to(KERNELS) and path.is_file() else None


@functools.cache
def _say_not_kept(cause: str) -> None:
    """Say once that what is compiled ends with the process."""
    logger.warning(
        "textbayes: compiled kernels cannot be stored in %s (%s), so the next run compiles them again; free some "
        "space, or set NUMBA_CACHE_DIR to another folder",
        compiled_folder(),
        cause,
    )


def _save_if_possible(self: Any, key: Any, data: Any) -> None:
    """Keep a compiled kernel, unless the disk is full or will not be written to: it is in memory all the same."""
    try:
        _numba_save(self, key, data)  # type: ignore[no-untyped-call]
    except OSError as error:
        if not Path(self._index_path).is_relative_to(compiled_folder()):
            raise  # a cache of somebody else
        _say_not_kept(error.strerror or str(error))


_numba_save = caching.IndexDataCacheFile.save
caching.IndexDataCacheFile.save = _save_if_possible  # type: ignore[method-assign]

# numba 0.61 to 0.68 and beyond ask these in turn; NUMBA_CACHE_LOCATOR_CLASSES still overrides them.
caching.CacheImpl._locator_classes.insert(0, KernelLocator)


def njit(**options: Any) -> Any:
    """``numba.njit`` without the entry point for C, which nobody calls: it takes a twentieth of the time to compile."""
    return numba.njit(**options | {"no_cfunc_wrapper": True})
