"""How state is kept: JSON and arrays, members of a zip that is written whole or not at all; nothing in it is believed.

Model files, snapshots of filters and states of Gibbs runs are written and read here; see ``archive`` for the
bounds that hold before anything is unpacked.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from textbayes.core.atomic import atomic_write
from textbayes.core.errors import ModelFileError
from textbayes.core.types import AnyArray
from textbayes.store.archive import may_unpack_to, open_archive, read_json
from textbayes.store.file_format import ARRAYS, MOST_BYTES, FileFormat

_TIME = (1980, 1, 1, 0, 0, 0)  # the same state gives the same bytes
_LARGEST_MANIFEST = 1 << 16


class Container:
    """An open file that holds state, of which no more is read than is asked for; see :func:`open_container`."""

    def __init__(self, path: Path, archive: zipfile.ZipFile, form: FileFormat) -> None:
        self._path, self._archive, self._form = path, archive, form
        self._sums: Any = None
        if form.manifest is None:
            self.mark = self._described = form.check_mark(path, self._json(form.description, form.largest))
        else:
            self.mark = form.check_mark(path, self._manifest(form.manifest))
            self._sums = self.mark.get("sha256")
            if not isinstance(self._sums, dict):
                raise ModelFileError(f"{path} is not a textbayes {form.noun}: it has no checksums")

    def description(self) -> Any:
        """The JSON part."""
        return self._json(self._form.description, self._form.largest) if self._form.manifest else self._described

    def arrays(self) -> dict[str, AnyArray]:
        """All arrays by name."""
        from textbayes.store.archive import load_arrays, read_arrays_member

        with self._archive.open(ARRAYS) as stream:
            content = read_arrays_member(self._path, stream, ARRAYS)
        self._check_sum(ARRAYS, content)
        with self._form.damage(self._path):
            return load_arrays(content)

    def _manifest(self, name: str) -> Any:
        try:
            return self._json(name, _LARGEST_MANIFEST)
        except ModelFileError:
            return None  # a zip file of something else

    def _json(self, name: str, largest: int) -> Any:
        with self._archive.open(name) as stream:
            content = stream.read(largest + 1)
        if len(content) <= largest:  # else it is refused as that
            self._check_sum(name, content)
        with self._form.damage(self._path):
            return read_json(content, name, largest)

    def _check_sum(self, name: str, content: bytes) -> None:
        if self._sums is not None and hashlib.sha256(content).hexdigest() != self._sums.get(name):
            raise ModelFileError(f"{self._path} was altered after it was written: {name} does not match its checksum")


@contextlib.contextmanager
def open_container(path: Path, form: FileFormat) -> Iterator[Container]:
    """Open a file that holds state of a format; any other, a newer, a truncated or an altered one is refused."""
    with open_archive(path, form) as archive:
        yield Container(path, archive, form)


def read_container(path: Path, form: FileFormat) -> tuple[Any, dict[str, AnyArray]]:
    """Both parts of a state: JSON and arrays."""
    with open_container(path, form) as container:
        return container.description(), container.arrays()


def read_marked_json(path: Path, form: FileFormat) -> dict[str, Any]:
    """Read a file of plain JSON that says of itself that it is of a format."""
    try:
        with open(path, "rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror}; {form.remedy}") from error
    with form.damage(path):
        told = read_json(content, path.name)
    return form.check_mark(path, told)


def write_container(path: Path, form: FileFormat, described: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
    """Write a state that is read again soon, and so is not packed; its description is given the mark of the format."""
    content = json.dumps({**form.mark(), **described}).encode()
    write_members(path, form, content, pack_arrays(arrays), deflate=False)


def write_members(
    path: Path,
    form: FileFormat,
    described: bytes,
    arrays: bytes,
    deflate: bool = True,
    check: Callable[[Path], None] | None = None,
) -> None:
    """Write the members of a file; what stood there is replaced only when the new file is complete.

    Parameters
    ----------
    path : Path
    form : FileFormat
        Where it has a manifest that is written too, and vouches for the others.
    described : bytes
        JSON.
    arrays : bytes
        From :func:`pack_arrays`.
    deflate : bool
        Pack the members, but for those that pack so well that a reader would not believe it.
    check : function of a path, optional
        See :func:`~textbayes.core.atomic.atomic_write`.
    """
    members = {form.description: described, ARRAYS: arrays}
    if form.manifest is not None:
        sums = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
        members = {form.manifest: json.dumps({**form.mark(), "sha256": sums}, indent=1).encode(), **members}
    with atomic_write(path, check) as stream, zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            packing = _packing(content) if deflate else zipfile.ZIP_STORED
            archive.writestr(zipfile.ZipInfo(name, _TIME), content, packing)


def pack_arrays(arrays: Mapping[str, AnyArray]) -> bytes:
    """Arrays by name, in the format of safetensors."""
    from safetensors.numpy import save

    return save({name: np.ascontiguousarray(array) for name, array in arrays.items()})


def _packing(content: bytes) -> int:
    packed = len(zlib.compress(content, 1)) if not may_unpack_to(len(content), 0) else 0
    return zipfile.ZIP_DEFLATED if may_unpack_to(len(content), packed // 2) else zipfile.ZIP_STORED
