"""How state is written: arrays as safetensors, members in a zip, whole or not at all."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from textbayes.core.types import AnyArray
from textbayes.store.archive import may_unpack_to
from textbayes.store.atomic import atomic_write

_TIME = (1980, 1, 1, 0, 0, 0)  # the same state gives the same bytes


def pack_arrays(arrays: Mapping[str, AnyArray], about: dict[str, str] | None = None) -> bytes:
    """Arrays by name, and texts about them in the header."""
    from safetensors.numpy import save

    return save({name: np.ascontiguousarray(array) for name, array in arrays.items()}, metadata=about)


def write_container(path: str | Path, members: Mapping[str, bytes], deflate: bool = True) -> None:
    """Write members to a zip file; what stood there is replaced only when the new file is complete.

    Parameters
    ----------
    path : str or Path
    members : mapping of name to content, in the order in which they are written
    deflate : bool
        Pack them, but for those that pack so well that a reader would not believe it.
    """
    with atomic_write(path) as stream, zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            packing = _packing(content) if deflate else zipfile.ZIP_STORED
            archive.writestr(zipfile.ZipInfo(name, _TIME), content, packing)


def _packing(content: bytes) -> int:
    packed = len(zlib.compress(content, 1)) if not may_unpack_to(len(content), 0) else 0
    return zipfile.ZIP_DEFLATED if may_unpack_to(len(content), packed // 2) else zipfile.ZIP_STORED
