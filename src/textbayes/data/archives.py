"""The files inside a folder, a tar of any compression, or a zip, all walked alike and never unpacked to disk."""

from __future__ import annotations

import io
import struct
import tarfile
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from textbayes.core.errors import InputError, MalformedFileError, did_you_mean_path
from textbayes.data.streams import (
    DAMAGE,
    DEFAULT_LIMITS,
    Bounded,
    LabelledStream,
    Limits,
    Meter,
    Source,
    Unpacked,
    damaged,
    open_file,
    open_input,
    path_of,
)

_LARGE = 1 << 24  # bytes; a larger file of a folder is read as it goes
_TAR = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2")
_LONGEST_HEADER = 1 << 16  # bytes


def is_archive(path: Path) -> bool:
    """Whether a path is named like a tar or zip archive.

    >>> is_archive(Path("news.tar.xz")), is_archive(Path("news.jsonl.xz"))
    (True, False)
    """
    return path.name.lower().endswith((*_TAR, ".zip"))


def as_container(source: Source) -> Path | None:
    """The folder or archive that a source names; None for a plain file, a stream and standard input."""
    path = path_of(source)
    return path if path is not None and (path.is_dir() or is_archive(path)) else None


def iter_members(path: Path, limits: Limits = DEFAULT_LIMITS) -> Iterator[tuple[str, LabelledStream]]:
    """Iterate over the names and open contents of all files: sorted in a folder, as stored in an archive.

    Each stream may be read until the next one is asked for. Hidden files (``.DS_Store``, ``._x``) are left out, and so,
    with a warning, is what is no file (a pipe, a socket).

    Parameters
    ----------
    path : Path
        A folder or an archive.
    limits : Limits
        Bounds on what it may unpack to.
    """
    if path.is_dir():
        yield from _folder(path, limits)
    elif not path.exists():
        raise InputError(f"there is no file or folder {path}{did_you_mean_path(path) or '; check the path'}")
    else:
        kind = "zip" if path.name.lower().endswith(".zip") else "tar"
        with _refused_in_a_sentence(path, kind):
            yield from _zip(path, limits) if kind == "zip" else _tar(path, limits)


def member_names(path: Path, limits: Limits = DEFAULT_LIMITS) -> Iterator[str]:
    """The names that :func:`iter_members` gives, without opening the files of a folder."""
    if path.is_dir():
        yield from (name for name, _ in _listed(path))
    else:
        yield from (name for name, _ in iter_members(path, limits))


def regular_files(paths: Iterator[Path]) -> Iterator[Path]:
    """The files among paths, sorted; what is neither file nor folder (a pipe never ends) is named in a warning."""
    for path in sorted(paths):
        if path.is_file():
            yield path
        elif not path.is_dir():
            warnings.warn(f"{path} is left out: it is no file (a pipe, a device or a broken link)", stacklevel=2)


def _folder(path: Path, limits: Limits) -> Iterator[tuple[str, LabelledStream]]:
    for name, file in _listed(path):
        with open_file(file) as stream:
            if file.stat().st_size > _LARGE:
                yield name, LabelledStream(stream, str(file), limits)
                continue
            content = io.BytesIO(stream.read())
        # Read and closed: a reader that stops at a fault in a document leaves no file open.
        yield name, LabelledStream(content, str(file), limits)


def _listed(path: Path) -> Iterator[tuple[str, Path]]:
    shown = (file for file in path.rglob("*") if not _hidden(file.relative_to(path).as_posix()))
    for file in regular_files(shown):
        yield _printable(file.relative_to(path).as_posix()), file


def _tar(path: Path, limits: Limits) -> Iterator[tuple[str, LabelledStream]]:
    # Unpacked by ourselves, so that the bytes are counted as they come; read strictly forwards ("r|").
    with (
        open_input(Bounded(path, limits)) as stream,
        tarfile.open(fileobj=stream, mode="r|", tarinfo=_TarInfo) as archive,
    ):
        for member in archive:
            if member.isfile() and not _hidden(member.name):
                name = _printable(member.name.removeprefix("./"))
                yield name, LabelledStream(archive.extractfile(member), f"{path}/{name}", limits)
            archive.members = []  # type: ignore[attr-defined]  # or it grows with the archive


class _TarInfo(tarfile.TarInfo):
    """A member whose extended header is bounded: before Python 3.11.10 tarfile reads it in quadratic time."""

    def _proc_pax(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.size > _LONGEST_HEADER:
            raise tarfile.ReadError(f"an extended header of {self.size:,} bytes")
        return super()._proc_pax(archive)  # type: ignore[misc]  # not in the stubs


def _zip(path: Path, limits: Limits) -> Iterator[tuple[str, LabelledStream]]:
    with open_file(path) as file, zipfile.ZipFile(file) as archive:
        meter = Meter(limits, str(path), path.stat().st_size)  # of the whole: members may share their bytes
        for member in archive.infolist():
            name = _printable(member.filename)
            if name and not name.endswith("/") and not _hidden(name):
                with archive.open(member) as stream:
                    yield name, LabelledStream(Unpacked(stream, meter), f"{path}/{name}", limits)


@contextmanager
def _refused_in_a_sentence(path: Path, kind: str) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except tarfile.TarError as error:
        reason = str(error).splitlines()[0].rstrip(":")  # the rest tells of every compression tried
        raise MalformedFileError(path, f"not a readable {kind} archive ({reason}); fetch it again") from error
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, struct.error) as error:
        # beside damage: an unknown compression, a password, names and numbers that are none
        raise MalformedFileError(path, f"not a readable {kind} archive ({error}); fetch it again") from error
    except DAMAGE as error:
        raise damaged(str(path), error) from error


def _hidden(name: str) -> bool:
    return any(part.startswith(".") for part in name.removeprefix("./").split("/"))


def _printable(name: str) -> str:
    """A name as text: bytes of it that are not UTF-8 could not be written again."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
