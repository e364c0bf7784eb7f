"""The arrays of a model file, in the format of safetensors: the header is read and believed or not before the rest."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import IO

import numpy as np

from textbayes.core.codec import Choice, Field, List, Named, Record, Whole, read
from textbayes.core.errors import ModelFileError
from textbayes.core.machine import check_fits_memory
from textbayes.core.types import AnyArray
from textbayes.store.archive import read_member
from textbayes.store.strict_json import MOST_BYTES, read_json

_TYPES = {"F64": 8, "F32": 4, "I64": 8, "I32": 4, "U64": 8, "I8": 1, "U8": 1, "BOOL": 1}
_LENGTH = struct.Struct("<Q")
_SIZE = Whole(0)
_ENTRY = Record({"dtype": Choice(*_TYPES), "shape": List(_SIZE, most=8), "data_offsets": List(_SIZE, 2, 2)})
_HEADER: dict[str, Field] = {"arrays": Named(_ENTRY)}


def read_arrays_member(path: Path, stream: IO[bytes], name: str) -> bytes:
    """Read the member with all arrays, no more of it than the shapes in its header need."""
    start = stream.read(_LENGTH.size)
    length = _LENGTH.unpack(start)[0] if len(start) == _LENGTH.size else -1
    if not 0 < length <= MOST_BYTES:
        raise ModelFileError(f"{path} is altered: the header of its {name} is missing or not believable")
    header = stream.read(length)
    size = _size(header, f"the header of {name} in {path}")
    check_fits_memory(size, f"the arrays of {path}")
    return start + header + read_member(path, stream, size, name)


def load_arrays(content: bytes) -> dict[str, AnyArray]:
    """The arrays of a member that :func:`read_arrays_member` read."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        arrays: dict[str, AnyArray] = load(content)
    except (SafetensorError, KeyError, ValueError, TypeError) as error:
        raise ModelFileError(f"the model's arrays are damaged ({error}); was the file altered?") from error
    return arrays


def _size(header: bytes, what: str) -> int:
    """The bytes that the arrays of a header take, one after the other without a gap."""
    entries = read(_HEADER, {"arrays": read_json(header, what)}, {}, what)["arrays"]
    at = 0
    for name, entry in sorted(entries.items(), key=lambda item: item[1]["data_offsets"]):
        first, last = entry["data_offsets"]
        if first != at or last - first != _TYPES[entry["dtype"]] * int(np.prod(entry["shape"], dtype=object)):
            raise ModelFileError(f"{what} is wrong about where {name[:40]!r} is; was the file altered?")
        at = last
    return at
