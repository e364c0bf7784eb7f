from __future__ import annotations

import io

import pytest

from textbayes.core.errors import InputError, MalformedFileError
from textbayes.core.types import Document
from textbayes.data.formats import FORMATS

FOLDER = FORMATS.get("folder")
FILES = {
    "README": b"about",
    "train/sport/1.txt": b"goal",
    "train/sport/2.txt": b"match",
    "train/trade/2.txt": b"match",
    "test/trade/1.txt": b"fee",
}


def test_the_folder_is_the_label(pack):
    documents = sorted(FOLDER.read(pack("news", FILES)))
    assert documents == [
        Document("test/trade/1.txt", "fee", ("trade",)),
        Document("train/sport/1.txt", "goal", ("sport",)),
        Document("train/sport/2.txt", "match", ("sport",)),
        Document("train/trade/2.txt", "match", ("trade",)),
    ]


def test_one_name_in_several_folders_is_one_document(pack):
    documents = sorted(FOLDER.read(pack("news", FILES), multilabel=True))
    assert documents == [
        Document("test/1.txt", "fee", ("trade",)),
        Document("train/1.txt", "goal", ("sport",)),
        Document("train/2.txt", "match", ("sport", "trade")),
    ]


def test_compressed_files_inside_a_folder(tmp_path, write_tree):
    import gzip

    write_tree(tmp_path, {"a/1.txt.gz": gzip.compress(b"packed")})
    assert [doc.text for doc in FOLDER.read(tmp_path)] == ["packed"]


def test_malformed(tmp_path, pack, write_tree):
    with pytest.raises(MalformedFileError, match="no files in category folders"):
        list(FOLDER.read(pack("flat", {"1.txt": b"x"})))
    write_tree(tmp_path / "bad", {"a/1.txt": b"fine", "a/2.txt": b"line\n\xff"})
    with pytest.raises(MalformedFileError, match=r"bad/a/2\.txt, line 2: byte 0xff"):
        list(FOLDER.read(tmp_path / "bad"))
    with pytest.raises(MalformedFileError, match=r"1\.bin, line 1: NUL bytes"):
        list(FOLDER.read(write_tree(tmp_path / "junk", {"a/1.bin": b"\0\1\2"})))


def test_streams_and_missing_folders_are_refused(tmp_path):
    for source in (io.BytesIO(), "-", tmp_path / "absent", __file__):
        with pytest.raises(InputError, match=r"a folder, a tar or a zip is needed"):
            list(FOLDER.read(source))
