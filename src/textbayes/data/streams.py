"""Bytes, lines and XML elements of a file, a stream or standard input, unpacked and decoded, or refused in a sentence.

Limits bound what a source may unpack to and how long a document may be: a few kilobytes must not fill the memory.

>>> import io
>>> list(read_lines(io.BytesIO(b"one\\r\\ntwo")))
[(1, 'one\\r\\n'), (2, 'two')]
>>> Limits().allowance(read=100_000)
67108864
>>> Limits(max_unpacked=2_000).allowance(read=1_000)
2000
"""

from __future__ import annotations

import bz2
import functools
import gzip
import io
import lzma
import os
import re
import stat
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

from textbayes.core.errors import InputError, MalformedFileError, did_you_mean_path
from textbayes.data.decoding import check_encoding, decode, is_wide
from textbayes.data.layout import Layout

_LEAST = 1 << 19  # 512 KiB: that much may come of anything; if each byte is a line, it takes its time
_FREE, _FREE_RATIO = 1 << 26, 1_000  # 64 MiB: so much of a file that has a thousandth of it
_RATIO = 200  # text shrinks to a fifth, logs to a hundredth; a bomb to a thousandth
_MOST = 1 << 32  # 4 GiB
_FEW_TAGS = 1 << 16  # tags and attributes that an XML element may have, however few bytes it may have
_BYTES_A_TAG = 32  # beyond them it has that many bytes for each; one that takes 4 bytes takes 130 to 370 of memory


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

    def check_markup(self, tags: int, label: str, line: int | None) -> None:
        """Refuse an XML element of so many tags and attributes that a tree of it would fill the memory."""
        most = max(_FEW_TAGS, self.max_record // _BYTES_A_TAG)
        if tags > most:
            cause = (
                f"the element that begins here has more than {most:,} tags and attributes, which no text needs: "
                "correct its end, or set the reader option max_record to more bytes"
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


class CountedReader:
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


DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile)
"""What the standard library raises on reading a truncated or damaged file."""

_DECOMPRESSORS: dict[re.Pattern[bytes], Callable[[Any], Any]] = {
    re.compile(rb"\x1f\x8b"): lambda stream: gzip.GzipFile(fileobj=stream),
    re.compile(rb"\xfd7zXZ\x00"): lambda stream: _Unpacker(stream, lzma.LZMADecompressor),
    # A text may well begin with BZh.
    re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"): lambda stream: _Unpacker(stream, bz2.BZ2Decompressor),
}
_PIECE = 1 << 20  # bytes read at a time


@dataclass(frozen=True)
class Bounded:
    """A source with bounds of its own, and with what is known and found of its layout."""

    source: str | os.PathLike[str] | IO[bytes] | IO[str]
    limits: Limits
    layout: Layout | None = None


Source: TypeAlias = str | os.PathLike[str] | IO[bytes] | IO[str] | Bounded


class LabelledStream(io.BufferedReader):
    """Bytes with ``peek``, a ``label`` that messages call them by, and their bounds."""

    def __init__(self, raw: Any, label: str, limits: Limits = DEFAULT_LIMITS) -> None:
        super().__init__(raw, 1 << 16)
        self.label, self.limits = label, limits
        self.layout: Layout | None = None


class Input(LabelledStream):
    """Bytes that :func:`open_input` has opened: decompressed already."""


def source_label(source: Source) -> str:
    """Name of a source in messages: its path, ``standard input`` or the stream's name."""
    if isinstance(source, Bounded):
        source = source.source
    if isinstance(source, LabelledStream):
        return source.label
    if isinstance(source, (str, os.PathLike)):
        return "standard input" if source == "-" else os.fspath(source)
    name = getattr(source, "name", None)
    return {"<stdin>": "standard input"}.get(name, name) if isinstance(name, str) else "the stream"


def limits_of(source: Source) -> Limits:
    """The bounds of a source; the usual ones unless it has its own."""
    return source.limits if isinstance(source, (Bounded, LabelledStream)) else DEFAULT_LIMITS


def layout_of(source: Source) -> Layout:
    """What is known of the columns of a source, where its reader says what it finds."""
    known = source.layout if isinstance(source, (Bounded, LabelledStream)) else None
    return known or Layout()


def path_of(source: Source) -> Path | None:
    """The path that a source names; None for a stream and standard input."""
    if isinstance(source, Bounded):
        source = source.source
    return Path(source) if isinstance(source, (str, os.PathLike)) and source != "-" else None


@contextmanager
def open_input(source: Source) -> Iterator[Input]:
    """Open a path, ``"-"`` (standard input) or a stream for reading; gzip, xz and bzip2 are seen by their first bytes.

    Paths are closed at the end, streams are left open.
    """
    limits, layout = limits_of(source), layout_of(source)
    if isinstance(source, Bounded):
        source = source.source
    if isinstance(source, Input):
        source.limits, source.layout = limits, layout
        yield source
        return
    label = source_label(source)
    with _open_raw(source) as raw:
        stored = Input(raw, label, limits)
        stored.layout = layout
        try:
            head = _guarded_peek(stored)
            unpack = next((unpack for magic, unpack in _DECOMPRESSORS.items() if magic.match(head)), None)
            if unpack is None:
                yield stored
            else:
                meter = Meter(limits, label)
                with Input(Unpacked(unpack(CountedReader(stored, meter)), meter), label, limits) as stream:
                    stream.layout = layout
                    yield stream
        finally:
            # A reader closes what it wraps when it is collected; standard input must stay open.
            if not stored.closed:
                stored.detach()


def peek_head(stream: Input, size: int = 4096) -> bytes:
    """The first bytes of an input, without consuming them."""
    return _guarded_peek(stream)[:size]


def read_lines(
    source: Source,
    encoding: str = "utf-8",
    errors: str = "strict",
    skip: Callable[[MalformedFileError], None] | None = None,
) -> Generator[tuple[int, str], None, None]:
    """Read lines with their numbers (from 1) and line ends; memory holds one line at a time.

    Parameters
    ----------
    source : path, "-" or stream
    encoding : str
    errors : {"strict", "replace", "ignore"}
        What becomes of bytes that do not fit the encoding.
    skip : callable, optional
        Is given the error of each line that does not fit the encoding, which is left out; else the error is raised.
    """
    check_encoding(encoding, errors)
    with open_input(source) as stream:
        if is_wide(encoding):
            yield from _wide_lines(stream, encoding, errors)
            return
        number, longest = 0, stream.limits.max_record
        try:
            for number, raw in enumerate(iter(functools.partial(stream.readline, longest + 1), b""), start=1):
                if len(raw) > longest:
                    stream.limits.check_record(len(raw), stream.label, number)
                try:
                    line = decode(raw, stream.label, encoding, errors, first_line=number)
                except MalformedFileError as error:
                    if skip is None:
                        raise
                    skip(error)
                else:
                    yield number, line
        except DAMAGE as error:
            raise damaged(stream.label, error, number + 1) from error


def read_bytes(stream: Input, longest: int | None = None) -> bytes:
    """Read the rest of an input, refused if it is longer than one document may be (or than ``longest``)."""
    limits = stream.limits if longest is None else Limits(max_record=longest)
    parts, size = [], 0
    try:
        while part := stream.read(_PIECE):
            parts.append(part)
            size += len(part)
            limits.check_record(size, stream.label, None, "text")
    except DAMAGE as error:
        raise damaged(stream.label, error) from error
    return b"".join(parts)


def read_text(source: Source, encoding: str = "utf-8", errors: str = "strict", longest: int | None = None) -> str:
    """Read the whole of a source as one string; ``longest`` in place of the source's bound on a document.

    Parameters
    ----------
    source : path, "-" or stream
    encoding : str
    errors : {"strict", "replace", "ignore"}
        What becomes of bytes that do not fit the encoding.
    longest : int, optional
        Bytes at most.
    """
    check_encoding(encoding, errors)
    with open_input(source) as stream:
        return decode(read_bytes(stream, longest), stream.label, encoding, errors)


def damaged(label: str, error: BaseException, line: int | None = None) -> MalformedFileError:
    """The refusal of a file whose bytes cannot be read to the end."""
    cause = f"cannot be read ({error or type(error).__name__}): the file is cut short or damaged; fetch it again"
    return MalformedFileError(label, cause, line)


def open_file(path: Path) -> io.FileIO:
    """A file opened for reading bytes, or a refusal that says why it cannot be."""
    try:
        stream = path.open("rb", buffering=0)
        mode = os.fstat(stream.fileno()).st_mode
        if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not stream.isatty() and not _is_null(stream)):
            stream.close()
            raise InputError(f"{path} is a device; give a file, a folder or a pipe with texts")
        return stream
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"there is no file {path}{did_you_mean_path(path) or '; check the path'}") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder where a file is needed; name a file in it") from None
    except PermissionError:
        raise InputError(f"{path} may not be read; check its permissions") from None
    except OSError as error:  # a socket, a device that is not there, a name that is too long
        raise InputError(f"{path} cannot be opened ({error.strerror}); give a file with texts") from None
    except ValueError:
        raise InputError(f"the path {str(path)!r} holds a NUL character; check it") from None


class _Unpacker(io.RawIOBase):
    """Bytes of compressed streams one after the other; the standard library would pass over what follows a sound one.

    Zeros after a stream are padding. Anything else that is no stream is damage.
    """

    def __init__(self, stream: Any, make: Callable[[], Any]) -> None:
        self._stream, self._make = stream, make
        self._decompressor, self._waiting = make(), b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            if self._decompressor.eof:
                self._waiting = self._after_padding()
                if not self._waiting:
                    return 0
                self._decompressor = self._make()
            elif self._decompressor.needs_input:
                self._waiting = self._stream.read(io.DEFAULT_BUFFER_SIZE)
                if not self._waiting:
                    raise EOFError("compressed file ended before the end-of-stream marker was reached")
            piece = self._decompressor.decompress(self._waiting, len(buffer))
            self._waiting = b""
            if piece:
                buffer[: len(piece)] = piece
                return len(piece)

    def _after_padding(self) -> bytes:
        waiting: bytes = self._decompressor.unused_data
        while not (rest := waiting.lstrip(b"\0")):
            waiting = self._stream.read(io.DEFAULT_BUFFER_SIZE)
            if not waiting:
                break
        return rest


@contextmanager
def _open_raw(source: Source) -> Iterator[Any]:
    if source == "-":
        # Without the buffer, which waits for 64 KiB: documents of a slow pipe are wanted as they come.
        yield getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
    elif isinstance(source, (str, os.PathLike)):
        with open_file(Path(source)) as stream:
            yield stream
    elif isinstance(source, io.StringIO):
        yield io.BytesIO(source.read().encode())
    else:
        yield getattr(source, "buffer", source)


def _guarded_peek(stream: Input) -> bytes:
    try:
        return stream.peek()
    except DAMAGE as error:
        raise damaged(stream.label, error) from error


def _is_null(stream: io.FileIO) -> bool:
    return os.fstat(stream.fileno()).st_rdev == os.stat(os.devnull).st_rdev


def _wide_lines(stream: Input, encoding: str, errors: str) -> Iterator[tuple[int, str]]:
    number, longest = 0, stream.limits.max_record
    text = io.TextIOWrapper(stream, encoding, errors, newline="")
    try:
        for number, line in enumerate(iter(functools.partial(text.readline, longest + 1), ""), start=1):
            stream.limits.check_record(len(line), stream.label, number)
            yield number, line
    except UnicodeError as error:
        cause = f"not valid {encoding.upper()} here or in the lines after: name the file's encoding"
        raise MalformedFileError(stream.label, cause, number + 1) from error
    except DAMAGE as error:
        raise damaged(stream.label, error, number + 1) from error
    finally:
        text.detach()


_XML_PIECE = 1 << 15  # bytes given to the parser at a time


def read_elements(stream: Input, tags: str | Sequence[str], wanted: str, remedy: str) -> Iterator[Any]:
    """The outermost elements with one of some tags, each complete; what was read is thrown away, wherever it stood.

    Entities and files that the XML names are not followed. An element, and what stands between two, has no more bytes
    than a document may have, and no more tags than a text of so many bytes would: else elements that nobody asked for
    would fill the memory.

    Parameters
    ----------
    stream : Input
    tags : str or sequence of str
        As lxml writes them.
    wanted, remedy : str
        What the file is to be, and what to do where it is not, in messages.

    Examples
    --------
    >>> import io
    >>> with open_input(io.BytesIO(b"<list><item>Tea</item><item>Milk</item></list>")) as stream:
    ...     [item.text for item in read_elements(stream, "item", "a valid list", "fetch it again")]
    ['Tea', 'Milk']
    """
    from lxml import etree  # only when used

    parser = etree.XMLPullParser(
        events=("start", "end"), tag=tags, resolve_entities=False, no_network=True, load_dtd=False
    )
    label, limits, events = stream.label, stream.limits, parser.read_events()
    inside, line, size, markup = 0, None, 0, 0
    try:
        while piece := stream.read1(_XML_PIECE):
            size += len(piece)
            markup += piece.count(b"<") + piece.count(b"=")
            parser.feed(piece)
            for event, element in events:
                inside += 1 if event == "start" else -1
                line = element.sourceline
                if inside == 0:
                    limits.check_record(sum(map(len, element.itertext())), label, line, "element")
                    yield element
                    _throw_away(element)
                    size = markup = 0
            limits.check_record(size, label, line, "element")
            limits.check_markup(markup, label, line)
        parser.close()
    except etree.XMLSyntaxError as error:
        raise MalformedFileError(label, f"not {wanted} ({error.msg}): {remedy}", error.lineno) from error
    except DAMAGE as error:
        raise damaged(label, error, line) from error


def _throw_away(element: Any) -> None:
    """Free an element and all that stands before it in the file."""
    element.clear()
    for one in (element, *element.iterancestors()):
        parent = one.getparent()
        while parent is not None and one.getprevious() is not None:
            del parent[0]
