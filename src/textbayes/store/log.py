"""An append-only log of JSON lines that knows how much of it is whole.

Each line is an object that ends with a ``check``: the CRC-32 of the line before it carried on over the line itself. So
a line that was altered, lost or put elsewhere is noticed, and one that was cut short by a crash, which can only be the
last, is told from damage.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from textbayes.core.errors import ModelFileError

_CHECK = b',"check":"'
# In an entry as such only: quotes within its texts are escaped.
_UNDELIVERED, _TIME = b'"delivered":[]', re.compile(rb'"time":([0-9.e+-]+)')
Entry = dict[str, Any]


class LogPosition(NamedTuple):
    """A place between two entries: how many come before it, in how many bytes, and the check of the last."""

    sequence: int = 0
    offset: int = 0
    check: int = 0


_START = LogPosition()


def encode_entry(entry: Mapping[str, Any], after: LogPosition) -> tuple[bytes, LogPosition]:
    """The line of the entry that follows a position, and the position after it."""
    told = {"sequence": after.sequence + 1, **entry}
    body = json.dumps(told, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    data = body[:-1].encode("utf-8", "surrogatepass")
    check = zlib.crc32(data, after.check)
    line = data + _CHECK + f'{check:08x}"}}\n'.encode()
    return line, LogPosition(after.sequence + 1, after.offset + len(line), check)


def decode_entry(line: bytes, after: LogPosition) -> tuple[Entry, LogPosition]:
    """The entry in a line that follows a position; ValueError if it is not whole or not the next one."""
    data, check = _checked(line, after)
    entry: Entry = json.loads(data.decode("utf-8", "surrogatepass") + "}")
    if entry.pop("sequence") != after.sequence + 1:
        raise ValueError("it has another number")
    return entry, LogPosition(after.sequence + 1, after.offset + len(line), check)


def _checked(line: bytes, after: LogPosition) -> tuple[bytes, int]:
    data, mark, rest = line.rpartition(_CHECK)
    check = zlib.crc32(data, after.check)
    if not mark or rest != f'{check:08x}"}}\n'.encode():
        raise ValueError("it does not match its checksum")
    return data, check


def _brief(line: bytes, after: LogPosition) -> tuple[Entry, LogPosition] | None:
    """The time of a document that was not delivered, without reading the rest; None for any other entry."""
    found = _TIME.search(line) if _UNDELIVERED in line else None
    if found is None:
        return None
    _, check = _checked(line, after)
    entry = {"kind": "document", "time": float(found[1]), "delivered": []}
    return entry, LogPosition(after.sequence + 1, after.offset + len(line), check)


def read_log(path: Path, position: LogPosition = _START, brief: bool = False) -> Iterator[tuple[Entry, LogPosition]]:
    """The entries after a position, each with the position after it.

    With ``brief``, documents that were not delivered come without their words and ids, which is much quicker.

    A last line that is not whole is left out: whoever wrote it was stopped before anyone was told of it.
    """
    try:
        stream = path.open("rb")
    except FileNotFoundError:
        raise ModelFileError(f"{path} is missing; restore the folder from a copy") from None
    with stream:
        if stream.seek(0, os.SEEK_END) < position.offset:
            raise ModelFileError(f"{path} is shorter than when it was last written; restore the folder from a copy")
        stream.seek(position.offset)
        for line in stream:
            try:
                found = _brief(line, position) if brief else None
                entry, position = found or decode_entry(line, position)
            except (ValueError, KeyError) as error:
                # After a crash of the machine, blocks that were never written read as zeros.
                if b"\n" not in (line + stream.read()).strip(b"\0"):
                    return
                raise ModelFileError(
                    f"{path}, line {position.sequence + 1} is damaged ({error}); restore the folder from a copy, or "
                    f"cut the file after its first {position.offset} bytes to go on without what follows"
                ) from error
            yield entry, position


class DecisionLog:
    """A log that is written to; what follows ``position`` in the file is cut off, for it is not whole."""

    def __init__(self, path: Path, position: LogPosition) -> None:
        self.path, self.position = path, position
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        self.cut_off = os.fstat(self._file).st_size - position.offset
        if self.cut_off > 0:
            os.ftruncate(self._file, position.offset)
        os.lseek(self._file, position.offset, os.SEEK_SET)
        self._synced = self.cut_off == 0

    def append(self, entry: Mapping[str, Any], durable: bool) -> None:
        """Write an entry; a process that is killed afterwards loses nothing, and if ``durable`` nor does a machine."""
        line, position = encode_entry(entry, self.position)
        try:
            done = 0
            while done < len(line):
                done += os.write(self._file, line[done:])
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self.position.offset)
                os.lseek(self._file, self.position.offset, os.SEEK_SET)
            raise
        self.position, self._synced = position, False
        if durable:
            self.sync()

    def sync(self) -> None:
        """Wait until the disk has everything."""
        if not self._synced:
            os.fsync(self._file)
            self._synced = True

    def close(self) -> None:
        """Close the file; the log cannot be written to afterwards."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def sync_folder(path: Path) -> None:
    """Wait until the disk has the names of the files in a folder; where folders cannot be opened, do nothing."""
    with contextlib.suppress(OSError):
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)
