"""One folder of events: append, fsync, lock, replay and snapshots, for filters and screenings alike.

::

    config.json   what the folder is, written once
    log.jsonl     every event, in order
    snapshots/    the state after so many events: they only shorten the replay
    lock          held by the process that writes

The state is the newest sound snapshot and the log after it. An event counts once its line is on disk; this is the only
commit point, so a process may be killed at any moment.

Each line of the log is an object that ends with a ``check``: the CRC-32 of the line before it continued over the line
itself. So a line that was altered, lost or moved is noticed, and one that was cut short by a crash, which can only be
the last, is told from damage.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

from textbayes.core.atomic import atomic_write, naming
from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.types import AnyArray
from textbayes.store.container import FileFormat, read_marked_json, write_container
from textbayes.store.lock import FileLock, locked

_SUFFIX = ".snapshot"
T = TypeVar("T")
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
    numbered = {"sequence": after.sequence + 1, **entry}
    body = json.dumps(numbered, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
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

    A last line that is not whole is left out: whoever wrote it was stopped before it was acknowledged.
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


class EventLog:
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
            with naming(self.path):
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
            with naming(self.path):
                os.fsync(self._file)
            self._synced = True

    def close(self) -> None:
        """Close the file; the log cannot be written to afterwards."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class EventFolder:
    """The events of one state in a folder, and the snapshots that shorten their replay.

    Parameters
    ----------
    path : Path
    form : FileFormat
        Of ``config.json`` and of the snapshots.

    Attributes
    ----------
    position : LogPosition
        How far the state of this process has come.
    """

    def __init__(self, path: Path, form: FileFormat) -> None:
        self.path, self.form = path, form
        self.snapshots = path / "snapshots"
        self.position = LogPosition()
        self._log: EventLog | None = None
        self._lock: FileLock | None = None

    @classmethod
    @contextlib.contextmanager
    def create(cls, target: Path, form: FileFormat, config: Mapping[str, Any]) -> Iterator[Self]:
        """A new folder without events: in place, whole, when the block ends without an error."""
        with new_folder(target) as building:
            made = cls(building, form)
            made.snapshots.mkdir()
            with atomic_write(building / "config.json") as stream:
                stream.write(json.dumps({**form.mark(), **config}, indent=1).encode() + b"\n")
            (building / "log.jsonl").touch()
            yield made

    def config(self, refusal: str) -> dict[str, Any]:
        """What the folder was made with; ``refusal`` is said of a folder that is none."""
        path = self.path / "config.json"
        if not os.path.exists(path):
            raise InputError(refusal)
        return read_marked_json(path, self.form)

    # -- writing -----------------------------------------------------------------------------------------------------
    def hold(self, refusal: str) -> None:
        """Lock the folder until :meth:`release`; where another process has it, that is refused."""
        self._lock = FileLock(self.path / "lock", refusal)
        self._lock.acquire()

    def release(self) -> None:
        """Close the log and let go of the lock."""
        self._close_log()
        if self._lock is not None:
            self._lock.release()

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder for a step, waiting for others; they may write between two steps."""
        with locked(self.path / "lock"):
            try:
                yield
            finally:
                self._close_log()

    def open_log(self) -> EventLog:
        """The log, open for writing; what follows the position in it is not whole, and is cut off."""
        if self._log is None:
            self._log = EventLog(self.path / "log.jsonl", self.position)
        return self._log

    def append(self, entry: Mapping[str, Any], durable: bool = True) -> None:
        """Write an event: under the lock, by a process that has come to the end of the log."""
        log = self.open_log()
        log.append(entry, durable)
        self.position = log.position

    def _close_log(self) -> None:
        if self._log is not None:
            self._log.close()
            self._log = None

    # -- reading -----------------------------------------------------------------------------------------------------
    def entries(self, after: LogPosition = _START, brief: bool = False) -> Iterator[tuple[Entry, LogPosition]]:
        """The events after a position, as :func:`read_log` reads them."""
        return read_log(self.path / "log.jsonl", after, brief)

    def unread(self) -> Iterator[Entry]:
        """The events after the position, which moves on once each has been dealt with."""
        for entry, position in self.entries(self.position):
            yield entry
            self.position = position

    def load(self, read: Callable[[Path], tuple[T, LogPosition]]) -> tuple[T, list[str]]:
        """What ``read`` makes of the newest snapshot that is sound, and what was wrong with newer ones."""
        (state, self.position), faults = newest(self.snapshots, self.form, read)
        return state, faults

    def snapshot(self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> int:
        """Write the state at the position, remove all but the first and the newest two, and return its size."""
        if self._log is not None:
            self._log.sync()  # a snapshot must not know more than the log
        path = snapshot_path(self.snapshots, self.position.sequence)
        write_container(path, self.form, {**meta, "log": list(self.position)}, arrays)
        for old in snapshots(self.snapshots)[1:-2]:
            old.unlink(missing_ok=True)
        return path.stat().st_size


def position_of(meta: Mapping[str, Any]) -> LogPosition:
    """The position that a snapshot belongs to."""
    return LogPosition(*map(int, meta["log"]))


def snapshot_path(folder: Path, sequence: int) -> Path:
    """Path of the snapshot after so many events."""
    return folder / f"{sequence:012d}{_SUFFIX}"


def snapshots(folder: Path) -> list[Path]:
    """The snapshots there are, oldest first."""
    return sorted(folder.glob(f"*{_SUFFIX}"))


def newest(folder: Path, form: FileFormat, read: Callable[[Path], T]) -> tuple[T, list[str]]:
    """What ``read`` makes of the newest snapshot that is sound, and what was wrong with newer ones."""
    faults: list[str] = []
    for path in reversed(snapshots(folder)):
        try:
            return read(path), faults
        except ModelFileError as error:
            faults.append(str(error).removesuffix(f"; {form.remedy}"))  # an older one will do
    cause = faults[-1] if faults else f"there is no snapshot in {folder}"
    raise ModelFileError(f"no snapshot can be read ({cause}); restore the folder from a copy")


def check_new_folder(path: str | Path, otherwise: str) -> Path:
    """The path, if a folder can be made there.

    Parameters
    ----------
    path : str or Path
    otherwise : str
        What to do where there is one already, to end the message with.
    """
    target = Path(path).resolve()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(f"{path} exists already; name a new folder, or {otherwise}")
    if not target.parent.is_dir():
        raise InputError(f"there is no folder {target.parent} to make {target.name} in; check the path")
    return target


@contextlib.contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A temporary folder beside ``target`` that takes its place, on disk, when the block ends without an error.

    Parameters
    ----------
    target : Path
        As :func:`check_new_folder` returned it: an empty folder there is replaced.
    """
    building = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        yield building
        mask = os.umask(0)
        os.umask(mask)
        building.chmod(0o777 & ~mask)  # mkdtemp makes private folders; a result is an ordinary one
        if target.exists():
            target.rmdir()
        sync_folder(building)
        building.rename(target)
        sync_folder(target.parent)
    except OSError as error:
        raise InputError(f"{target} cannot be written ({error.strerror}); choose a folder that allows it") from error
    except InputError as error:  # of a file in it: nobody knows the temporary folder
        raise InputError(str(error).replace(os.fspath(building), os.fspath(target))) from error
    finally:
        shutil.rmtree(building, ignore_errors=True)


def sync_folder(path: Path) -> None:
    """Wait until the disk has the names of the files in a folder; where folders cannot be opened, do nothing."""
    with contextlib.suppress(OSError):
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)
