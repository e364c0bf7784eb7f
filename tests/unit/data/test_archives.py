from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from textbayes.core.errors import InputError, MalformedFileError
from textbayes.data.archives import is_archive, iter_members, member_names
from textbayes.data.streams import read_text

FILES = {"a/1.txt": b"one", "a/2.txt": b"two", "b/1.txt": b"three", ".hidden": b"x", "a/._1.txt": b"x"}


def test_members_are_the_same_in_every_packing(pack):
    path = pack("box", FILES)
    found = {name: stream.read() for name, stream in iter_members(path)}
    assert found == {"a/1.txt": b"one", "a/2.txt": b"two", "b/1.txt": b"three"}
    assert list(member_names(path)) == list(found)
    assert is_archive(path) != path.is_dir()


def test_folders_are_walked_in_sorted_order(tmp_path, write_tree):
    write_tree(tmp_path, {"b": b"", "a/z": b"", "a/b": b""})
    assert list(member_names(tmp_path)) == ["a/b", "a/z", "b"]


def test_streams_are_called_by_archive_and_name(pack):
    path = pack("box", {"a/1.txt": b"one"})
    [(_, stream)] = list(iter_members(path))
    assert stream.label == f"{path}/a/1.txt"


@pytest.mark.parametrize("name", ["x.tar", "x.tar.gz", "x.tar.xz", "x.zip"])
def test_what_is_no_archive_is_refused(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"this is not an archive at all" * 100)
    with pytest.raises(MalformedFileError, match=r"not a readable (tar|zip) archive .*fetch it again"):
        list(iter_members(path))


def test_a_tar_cut_short_is_refused(tmp_path):
    whole = tmp_path / "whole.tar.xz"
    source = tmp_path / "source"
    source.write_bytes(bytes(i * i % 251 for i in range(300_000)))
    with tarfile.open(whole, "w:xz") as archive:
        archive.add(source, "a/source")
    cut = tmp_path / "cut.tar.xz"
    cut.write_bytes(whole.read_bytes()[:-200])
    with pytest.raises(MalformedFileError, match="fetch it again"):
        [read_text(stream, "latin-1") for _, stream in iter_members(cut)]


def test_a_missing_path_is_refused():
    with pytest.raises(InputError, match="there is no file or folder nowhere"):
        list(iter_members(Path("nowhere")))
