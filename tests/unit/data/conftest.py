"""What the data tests share: files written in every compression, and a stream that never ends."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

COMPRESS = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}


@pytest.fixture(params=list(COMPRESS), ids=lambda ending: ending or "plain")
def write_compressed(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str, bytes], Path]:
    """Writes bytes to a file in each compression in turn."""

    def write(name: str, data: bytes) -> Path:
        path = tmp_path / (name + request.param)
        path.write_bytes(COMPRESS[request.param](data))
        return path

    return write


@pytest.fixture(params=["folder", "tar", "tar.gz", "tar.xz", "zip"])
def pack(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str, Mapping[str, bytes]], Path]:
    """Writes named files as a folder, a tar and a zip in turn."""

    def write(stem: str, files: Mapping[str, bytes]) -> Path:
        if request.param == "folder":
            return write_tree(tmp_path / stem, files)
        path = tmp_path / f"{stem}.{request.param}"
        if request.param == "zip":
            with zipfile.ZipFile(path, "w") as archive:
                for name, data in files.items():
                    archive.writestr(name, data)
        else:
            with tarfile.open(path, "w:" + request.param.removeprefix("tar").removeprefix(".")) as archive:
                for name, data in files.items():
                    info = tarfile.TarInfo(name)
                    info.size = len(data)
                    archive.addfile(info, io.BytesIO(data))
        return path

    return write


@pytest.fixture(name="write_tree")
def write_tree_fixture() -> Callable[[Path, Mapping[str, bytes]], Path]:
    return write_tree


def write_tree(root: Path, files: Mapping[str, bytes]) -> Path:
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


class EndlessStream(io.RawIOBase):
    """The header once, then the line for ever; counts the bytes handed out."""

    def __init__(self, header: bytes, line: bytes) -> None:
        self._pieces: Iterator[bytes] = self._forever(header, line)
        self._rest = b""
        self.given = 0

    @staticmethod
    def _forever(header: bytes, line: bytes) -> Iterator[bytes]:
        yield header
        while True:
            yield line

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while len(self._rest) < len(buffer):
            self._rest += next(self._pieces)
        size = len(buffer)
        buffer[:], self._rest = self._rest[:size], self._rest[size:]
        self.given += size
        return size


@pytest.fixture
def endless() -> type[EndlessStream]:
    return EndlessStream
