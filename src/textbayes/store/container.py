"""How state is kept: JSON and arrays, members of a zip that is written whole or not at all; nothing in it is believed.

Model files, snapshots of filters and states of Gibbs runs are written and read here. A :class:`FileFormat` is what a
kind of file says of itself, and what is said of one that cannot be used. Nothing is unpacked before its bounds hold.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from textbayes._version import __version__
from textbayes.core.atomic import atomic_write
from textbayes.core.codec import Choice, Field, List, Named, Record, Whole, read
from textbayes.core.errors import ModelFileError, TextBayesError, did_you_mean_path
from textbayes.core.machine import check_fits_memory
from textbayes.core.types import AnyArray

ARRAYS = "arrays.safetensors"
MOST_BYTES = 32 << 20  # of JSON
_UNFORESEEN = (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, RecursionError)


@dataclass(frozen=True)
class FileFormat:
    """A kind of file that holds state.

    Parameters
    ----------
    name : str
        Told in the file.
    version : int
        The one that is written, and the newest that is read.
    noun : str
        A word for such a file in messages.
    remedy : str
        What to do about one that is damaged.
    description : str
        The member with the JSON part of a state.
    manifest : str, optional
        The member that names the format and has checksums of the others; without one the description names it.
    largest : int
        The most bytes that a description may have.
    source, missing : str, optional
        What to do where something else was given, and where there is nothing; the remedy if not told.
    """

    name: str
    version: int
    noun: str
    remedy: str
    description: str = "state.json"
    manifest: str | None = None
    largest: int = MOST_BYTES
    source: str | None = None
    missing: str | None = None

    @property
    def members(self) -> tuple[str, ...]:
        """Members of a file, none more than once."""
        return (*([self.manifest] if self.manifest else []), self.description, ARRAYS)

    def mark(self) -> dict[str, Any]:
        """What files that are written now say of themselves."""
        return {"format": self.name, "format_version": self.version, "textbayes": __version__}

    def check_mark(self, path: Path, told: Any) -> dict[str, Any]:
        """Refuse what another program, or a later version of this one, wrote."""
        version = told.get("format_version") if isinstance(told, dict) else None
        if type(version) is not int or version < 1 or told.get("format") != self.name:
            raise ModelFileError(f"{path} is not a textbayes {self.noun}; {self.source or self.remedy}")
        if version > self.version:
            raise ModelFileError(
                f"{path} has format version {version}, written by textbayes {str(told.get('textbayes', '?'))[:40]}; "
                f"this is textbayes {__version__}, which reads up to version {self.version}: upgrade textbayes"
            )
        return dict(told)

    @contextlib.contextmanager
    def damage(self, path: Path) -> Iterator[None]:
        """Turn what goes wrong with the contents of a file into a ``ModelFileError`` that names it."""
        try:
            yield
        except TextBayesError as error:
            reason = without_question(error)
            raise ModelFileError(f"{path} is a damaged {self.noun}: {reason}; {self.remedy}") from error
        except _UNFORESEEN as error:  # a file should never end in a traceback
            raise ModelFileError(
                f"{path} is a damaged {self.noun}, in a way that was not foreseen ({error!r:.100}); {self.remedy}"
            ) from error
        except MemoryError:
            raise ModelFileError(f"{path} needs more memory than there is; was the file altered?") from None


def without_question(error: TextBayesError) -> str:
    """The sentence of an error, which may end in "was the file altered?", for use in another one."""
    return str(error).removesuffix("; was the file altered?")


_END = struct.Struct("<4s4H2LH")  # end of the central directory: what a zip file without a comment ends with
_LOCATOR, _END_64 = 20, struct.Struct("<4sQ2H2L4Q")  # the same for files of more than 4 GiB
_MOST_DIRECTORY = 1 << 16
# What a member may unpack to: so much, or so many times its packed size. Whole numbers and repeated values pack well,
# but no model packs like a bomb, a thousand to one, at a size that could fill a memory.
_ALWAYS, _RATIO = 256 << 20, 100


@contextlib.contextmanager
def open_archive(path: Path, form: FileFormat) -> Iterator[zipfile.ZipFile]:
    """Open a zip file with the members of a format, each once, and no others; else there is a ``ModelFileError``."""
    source = form.source or form.remedy
    if path.is_dir():
        raise ModelFileError(f"{path} is a folder; {source}")
    try:
        if path.exists() and not path.is_file():
            raise ModelFileError(f"{path} is not a regular file; {source}")
        with open(path, "rb") as stream:
            _check_directory(path, stream, form)
            with zipfile.ZipFile(stream) as archive:
                _check_members(path, archive, form)
                yield archive
    except FileNotFoundError:
        hint = did_you_mean_path(path) or f"; {(form.missing or source).format(path=path)}"
        raise ModelFileError(f"{path} does not exist{hint}") from None
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise ModelFileError(_not_one(path, form, error)) from error


def may_unpack_to(size: int, packed: int) -> bool:
    """Whether a member of so many bytes is believed, given those it was packed in."""
    return size <= max(_ALWAYS, _RATIO * packed)


def read_member(path: Path, stream: IO[bytes], size: int, name: str) -> bytes:
    """Read exactly so many bytes that a member has left; one that has fewer or more is refused.

    Parameters
    ----------
    path : Path
        The file, for messages.
    stream : binary stream
    size : int
    name : str
        The member, for messages.
    """
    content = stream.read(size)
    if len(content) < size or stream.read(1):
        raise ModelFileError(f"{path} is altered: its {name} does not have the length that it claims")
    return content


def _check_members(path: Path, archive: zipfile.ZipFile, form: FileFormat) -> None:
    other = f"{path} is not a textbayes {form.noun}"
    found = [info.filename for info in archive.infolist()]
    for name in form.members:
        if found.count(name) != 1:
            lack = "no" if name not in found else "more than one"
            raise ModelFileError(f"{other}: it has {lack} {name}")
    if len(found) > len(form.members):
        raise ModelFileError(f"{other}: it has more in it than a {form.noun}")
    for info in archive.infolist():
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ModelFileError(f"{other}: {info.filename} is packed in another way")
        if not may_unpack_to(info.file_size, info.compress_size):
            raise ModelFileError(
                f"{path} is not believable: its {info.filename} of {info.compress_size:,} bytes claims to unpack to "
                f"{info.file_size / 2**20:,.0f} MiB"
            )


def _not_one(path: Path, form: FileFormat, why: object) -> str:
    return f"{path} is not a {form.noun}, or it is truncated or altered ({why}); {form.remedy}"


def _check_directory(path: Path, stream: IO[bytes], form: FileFormat) -> None:
    """Refuse a table of contents that would fill the memory, before ``zipfile`` reads it."""
    size = stream.seek(0, 2)
    stream.seek(max(0, size - _END.size - _LOCATOR - _END_64.size))
    tail = stream.read()
    stream.seek(0)
    if len(tail) < _END.size or not tail[-_END.size :].startswith(b"PK\5\6"):
        raise ModelFileError(_not_one(path, form, "it does not end as a zip file"))
    length = _END.unpack(tail[-_END.size :])[5]
    if len(tail) == _END.size + _LOCATOR + _END_64.size and tail.startswith(b"PK\6\6"):
        length = max(length if length < 2**32 - 1 else 0, _END_64.unpack(tail[: _END_64.size])[8])
    if length > _MOST_DIRECTORY:
        raise ModelFileError(f"{path} is not a textbayes {form.noun}: it has more in it than a {form.noun}")


_TYPES = {"F64": 8, "F32": 4, "F16": 2, "I64": 8, "I32": 4, "U64": 8, "I8": 1, "U8": 1, "BOOL": 1}
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


_MOST_VALUES = 4_000_000  # in so many bytes; in more, more
_DEEPEST = 32
_MOST_DIGITS = 40  # the state of a random generator has 128 bits


def read_json(content: bytes, what: str, largest: int = MOST_BYTES) -> Any:
    """Read a JSON value; anything that is not plain JSON of a sensible size is refused."""
    if len(content) > largest:
        raise ModelFileError(f"{what} has more than {largest >> 20} MiB; was the file altered?")
    most = max(1, largest // MOST_BYTES) * _MOST_VALUES
    if content.count(b",") + content.count(b"[") + content.count(b"{") > most:
        raise ModelFileError(f"{what} has more than {most:,} values; was the file altered?")
    collects = gc.isenabled()
    gc.disable()  # it would look again and again through millions of values of which none can be freed
    try:
        value = json.loads(content.decode("utf-8"), object_pairs_hook=_each_once, parse_int=_whole)
        _check_depth(value, what)
    except RecursionError:
        raise ModelFileError(f"{what} is nested more than {_DEEPEST} deep; was the file altered?") from None
    except ValueError as error:
        raise ModelFileError(f"{what} cannot be read ({error}); was the file altered?") from error
    finally:
        if collects:
            gc.enable()
    return value


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("it has a key twice")
    return found


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"it has a number of {len(digits)} digits")
    return int(digits)


def _check_depth(value: Any, what: str) -> None:
    level = [value]
    for _ in range(_DEEPEST):
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return
    raise ModelFileError(f"{what} is nested more than {_DEEPEST} deep; was the file altered?")


def _inside(value: Any) -> Iterable[Any]:
    """Values that a value holds; none in numbers and texts."""
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


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
