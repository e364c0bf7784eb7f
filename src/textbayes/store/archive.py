"""The zip around a state, read with a bound on everything that it unpacks to."""

from __future__ import annotations

import contextlib
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from textbayes.core.errors import ModelFileError
from textbayes.store.file_format import FileFormat

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
        raise ModelFileError(f"{path} does not exist; {(form.missing or source).format(path=path)}") from None
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
