"""Limits on what a source may unpack to and how long a document may be: a few kilobytes must not fill the memory.

>>> Limits().allowance(read=100_000)
67108864
>>> Limits(max_unpacked=2_000).allowance(read=1_000)
2000
"""

from __future__ import annotations

import io
from typing import Any, NamedTuple

from textbayes.core.errors import InputError, MalformedFileError

_LEAST = 1 << 19  # 512 KiB: that much may come of anything; if each byte is a line, it takes its time
_FREE, _FREE_RATIO = 1 << 26, 1_000  # 64 MiB: so much of a file that has a thousandth of it
_RATIO = 200  # text shrinks to a fifth, logs to a hundredth; a bomb to a thousandth
_MOST = 1 << 32  # 4 GiB


class Limits(NamedTuple):
    """Bounds of one source.

    Parameters
    ----------
    max_unpacked : int, optional
        Bytes that a compressed file or an archive may unpack to. By default 4 GiB, beyond 64 MiB no more than 200 times
        its own size, and beyond 512 KiB no more than 1,000 times.
    max_record : int
        Bytes (or characters) of one document: a line, a row, a message, a file of a folder.
    """

    max_unpacked: int | None = None
    max_record: int = 1 << 26

    def allowance(self, read: int) -> int:
        """Bytes that may have come of the first ``read`` compressed ones."""
        if self.max_unpacked is not None:
            return self.max_unpacked
        return min(_MOST, max(_LEAST, min(_FREE, _FREE_RATIO * read), _RATIO * read))

    def refuse_unpacked(self, label: str, read: int) -> MalformedFileError:
        """The refusal of a file that unpacks to more."""
        cause = f"unpacks to more than {self.allowance(read):,} bytes, which is more than a text would"
        return MalformedFileError(label, f"{cause}: if it is sound, set the reader option max_unpacked to more bytes")

    def check_record(self, size: int, label: str, line: int | None, what: str = "line") -> None:
        """Refuse a document (or what of it has been read) that is too long."""
        if size > self.max_record:
            cause = (
                f"the {what} that begins here is longer than {self.max_record:,} bytes: correct its end, "
                "or set the reader option max_record to more bytes"
            )
            raise MalformedFileError(label, cause, line)


DEFAULT_LIMITS = Limits()


def make_limits(max_unpacked: int | None, max_record: int | None) -> Limits:
    """The bounds that a user sets; None is the default."""
    for name, value in (("max_unpacked", max_unpacked), ("max_record", max_record)):
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            raise InputError(f"{name}={value!r} is not usable; give a whole number of bytes, 1 or more")
    return Limits(max_unpacked, DEFAULT_LIMITS.max_record if max_record is None else max_record)


class Meter:
    """Counts the compressed bytes read and the bytes they became, over all files of an archive."""

    def __init__(self, limits: Limits, label: str, read: int = 0) -> None:
        self.limits, self.label = limits, label
        self.read, self.unpacked = read, 0

    def check(self, more: int) -> None:
        """Count bytes unpacked; refuse what is too many."""
        self.unpacked += more
        if self.unpacked > self.limits.allowance(self.read):
            raise self.limits.refuse_unpacked(self.label, self.read)


class Counted:
    """Compressed bytes for a decompressor, counted as it takes them."""

    def __init__(self, stream: Any, meter: Meter) -> None:
        self._stream, self._meter = stream, meter

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._stream.read(size)
        self._meter.read += len(data)
        return data


class Unpacked(io.RawIOBase):
    """Decompressed stream whose bytes are counted as they come."""

    def __init__(self, stream: Any, meter: Meter) -> None:
        self._stream, self._meter = stream, meter

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size: int = self._stream.readinto(buffer)
        self._meter.check(size)
        return size

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()
