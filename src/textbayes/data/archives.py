"""The files inside a folder, a tar of any compression, or a zip, all walked alike and never unpacked to disk."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from textbayes.core.errors import InputError, MalformedFileError
from textbayes.data.streams import DAMAGE, Labelled, Source, damaged, open_file

_LARGE = 1 << 24  # bytes; a larger file of a folder is read as it goes
_TAR = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2")


def is_archive(path: Path) -> bool:
    """Whether a path is named like a tar or zip archive.

    >>> is_archive(Path("news.tar.xz")), is_archive(Path("news.jsonl.xz"))
    (True, False)
    """
    return path.name.lower().endswith((*_TAR, ".zip"))


def as_container(source: Source) -> Path | None:
    """The folder or archive that a source names; None for a plain file, a stream and standard input."""
    if not isinstance(source, (str, os.PathLike)) or source == "-":
        return None
    path = Path(source)
    return path if path.is_dir() or is_archive(path) else None


def iter_members(path: Path) -> Iterator[tuple[str, Labelled]]:
    """Relative names and open contents of all files: sorted in a folder, as stored in an archive.

    Each stream may be read until the next one is asked for. Hidden files (``.DS_Store``, ``._x``) are left out.
    """
    if path.is_dir():
        yield from _folder(path)
    elif not path.exists():
        raise InputError(f"there is no file or folder {path}; check the path")
    elif path.name.lower().endswith(".zip"):
        yield from _zip(path)
    else:
        yield from _tar(path)


def member_names(path: Path) -> Iterator[str]:
    """The names that :func:`iter_members` gives, without opening the files of a folder."""
    yield from (name for name, _ in (_listed(path) if path.is_dir() else iter_members(path)))


def _folder(path: Path) -> Iterator[tuple[str, Labelled]]:
    for name, file in _listed(path):
        with open_file(file) as stream:
            if file.stat().st_size > _LARGE:
                yield name, Labelled(stream, str(file))
                continue
            content = io.BytesIO(stream.read())
        # Read and closed: a reader that stops at a fault in a document leaves no file open.
        yield name, Labelled(content, str(file))


def _listed(path: Path) -> Iterator[tuple[str, Path]]:
    for file in sorted(path.rglob("*")):
        name = file.relative_to(path).as_posix()
        if not _hidden(name) and file.is_file():
            yield name, file


def _tar(path: Path) -> Iterator[tuple[str, Labelled]]:
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                if member.isfile() and not _hidden(member.name):
                    name = member.name.removeprefix("./")
                    yield name, Labelled(archive.extractfile(member), f"{path}/{name}")
                archive.members = []  # type: ignore[attr-defined]  # or it grows with the archive
    except tarfile.TarError as error:
        reason = str(error).splitlines()[0].rstrip(":")  # the rest tells of every compression tried
        raise MalformedFileError(path, f"not a readable tar archive ({reason}); fetch it again") from error
    except DAMAGE as error:
        raise damaged(str(path), error) from error


def _zip(path: Path) -> Iterator[tuple[str, Labelled]]:
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                if not member.is_dir() and not _hidden(member.filename):
                    data = io.BytesIO(archive.read(member))
                    yield member.filename, Labelled(data, f"{path}/{member.filename}")
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        # the last two: an unknown compression, a password
        raise MalformedFileError(path, f"not a readable zip archive ({error}); fetch it again") from error
    except DAMAGE as error:
        raise damaged(str(path), error) from error


def _hidden(name: str) -> bool:
    return any(part.startswith(".") for part in name.removeprefix("./").split("/"))
