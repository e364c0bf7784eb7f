"""Arrays in files, a shard at a time: written whole or not at all, checked when they are read, mapped into memory.

And a matrix by columns in files, made from its rows a block at a time: what the solvers read.

A folder of shards holds ``00000.indptr.npy``, ``00000.indices.npy``, … and for each finished shard a description
``00000.json`` with the digest of every array, written last. What a kill leaves behind has no description and is written
again. ``complete.json`` says that all shards are there, how many, and what they are of.

A folder for each input and way of reading it is made anew when the input has changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from textbayes._version import __version__
from textbayes.core.atomic import atomic_write, cache_folder
from textbayes.core.errors import InputError, MalformedFileError, NotSupportedError
from textbayes.core.machine import take_space
from textbayes.core.types import AnyArray
from textbayes.store.lock import FileLock, replacing

_COMPLETE = "complete.json"
_CHUNK = 1 << 22  # bytes read at once for a digest


class Shards:
    """A folder of numbered shards, each some arrays by name.

    Parameters
    ----------
    folder : Path
        Made if it is not there.

    Examples
    --------
    >>> import tempfile
    >>> shards = Shards(Path(tempfile.mkdtemp()))
    >>> shards.write(0, {"x": np.arange(3)})
    >>> shards.complete({"words": 3})
    >>> [one["x"].tolist() for one in shards], shards.about
    ([[0, 1, 2]], {'words': 3})
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"{folder} cannot be made ({error.strerror}); name another folder for shards with $TEXTBAYES_SHARDS"
            ) from error

    # -- writing --------------------------------------------------------------------------------------------------
    def write(self, number: int, arrays: Mapping[str, AnyArray]) -> None:
        """Write one shard; it is there once its description is."""
        digests = {}
        for name, array in arrays.items():
            path = self._path(number, name)
            with atomic_write(path) as stream:
                np.save(stream, np.ascontiguousarray(array), allow_pickle=False)
            digests[name] = _digest(path)
        with atomic_write(self._description(number)) as stream:
            stream.write(json.dumps(digests).encode())

    def n_finished(self) -> int:
        """Shards from the first on that were written whole."""
        number = 0
        while self._description(number).exists():
            number += 1
        return number

    def complete(self, about: Mapping[str, Any]) -> None:
        """Say that all shards are there, and what they are of."""
        with atomic_write(self.folder / _COMPLETE) as stream:
            stream.write(json.dumps({"shards": self.n_finished(), "about": dict(about)}).encode())

    # -- reading --------------------------------------------------------------------------------------------------
    @property
    def is_complete(self) -> bool:
        return (self.folder / _COMPLETE).exists()

    @property
    def about(self) -> dict[str, Any]:
        """What they are of."""
        about: dict[str, Any] = self._content(self.folder / _COMPLETE)["about"]
        return about

    def __len__(self) -> int:
        return int(self._content(self.folder / _COMPLETE)["shards"]) if self.is_complete else self.n_finished()

    def __iter__(self) -> Iterator[dict[str, AnyArray]]:
        """The shards in order, their arrays mapped into memory; nothing is read before it is used."""
        for number in range(len(self)):
            yield self.read(number)

    def read(self, number: int) -> dict[str, AnyArray]:
        """The arrays of one shard, mapped into memory."""
        return {name: mapped(self._path(number, name)) for name in self._content(self._description(number))}

    def check(self) -> None:
        """Read all shards and refuse those that are not as they were written."""
        for number in range(len(self)):
            for name, digest in self._content(self._description(number)).items():
                path = self._path(number, name)
                if not path.exists() or _digest(path) != digest:
                    raise self._broken(path)

    def nbytes(self) -> int:
        """Bytes that the folder takes on disk."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def _path(self, number: int, name: str) -> Path:
        return self.folder / f"{number:05}.{name}.npy"

    def _description(self, number: int) -> Path:
        return self.folder / f"{number:05}.json"

    def _content(self, path: Path) -> dict[str, Any]:
        try:
            content = json.loads(path.read_bytes())
        except (OSError, ValueError):
            raise self._broken(path) from None
        if not isinstance(content, dict):
            raise self._broken(path)
        return content

    def _broken(self, path: Path) -> InputError:
        return MalformedFileError(
            path, f"it is not as it was written; remove the folder {self.folder}, and the input will be read again"
        )


def mapped(path: Path) -> AnyArray:
    """An array of a file, mapped into memory: pages are read when they are used, and given back when memory is short.

    It can be written to, as kernels' argument types have it, without changing the file.
    """
    try:
        array: AnyArray = np.load(path, mmap_mode="c", allow_pickle=False)
    except ValueError:  # an empty array cannot be mapped
        array = np.load(path, allow_pickle=False)
    except OSError as error:
        raise MalformedFileError(path, f"it cannot be read ({error}); remove its folder and run again") from None
    return np.asarray(array)


def new_mapped(path: Path, shape: tuple[int, ...], dtype: Any) -> AnyArray:
    """A new array in a file, to be filled in."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if not size:
        return np.zeros(shape, dtype)
    try:
        with path.open("wb") as file:
            take_space(file, size, path.parent)
    except (InputError, OSError):
        path.unlink(missing_ok=True)
        raise
    return np.asarray(np.memmap(path, dtype, "r+", shape=shape))


def _digest(path: Path) -> str:
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


_MOST = 2**31 - 1  # non-zeros that 32-bit numbers of scipy and the kernels can count


def columns_on_disk(blocks: Callable[[], Iterable[Any]], n_features: int, folder: Path) -> Any:
    """CSC matrix of the rows that ``blocks()`` goes through, its arrays in files under ``folder``.

    Two passes: one counts the non-zeros of each column, one puts them into their places (a counting sort by column), so
    that no more than a block is in memory.

    Parameters
    ----------
    blocks : function that returns an iterable of CSR matrices (n_rows, n_features)
        Rows in order; it is called twice.
    n_features : int
    folder : Path
    """
    sizes, n_rows = np.zeros(n_features, dtype=np.int64), 0
    for block in blocks():
        sizes += np.bincount(block.indices, minlength=n_features)
        n_rows += block.shape[0]
    indptr = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
    if indptr[-1] > _MOST:
        raise NotSupportedError(
            f"the documents have {indptr[-1]:,} words in all, and one machine takes {_MOST:,}; raise --min-df, take "
            "fewer documents, or use a cluster (--cluster)"
        )
    indices = new_mapped(folder / "indices.bin", (int(indptr[-1]),), np.int32)
    data = new_mapped(folder / "data.bin", (int(indptr[-1]),), np.float64)
    cursors, first = indptr[:-1].copy(), 0
    for block in blocks():
        columns = block.tocsc()
        counts = np.diff(columns.indptr)
        places = np.repeat(cursors - columns.indptr[:-1], counts) + np.arange(columns.nnz)
        indices[places] = columns.indices + first
        data[places] = columns.data
        cursors += counts
        first += block.shape[0]
    matrix = sparse.csc_matrix((data, indices, indptr.astype(np.int32)), shape=(n_rows, n_features), copy=False)
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


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
