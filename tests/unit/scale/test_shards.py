"""Shards: what is written is read, whole or not at all; what was altered is refused."""

from __future__ import annotations

import errno
import os

import numpy as np
import pytest

from references.killing import killed_at_every_step
from textbayes.core.errors import InputError, MalformedFileError
from textbayes.scale.shards import Shards, folder_for, mapped, new_mapped


def test_arrays_come_back_as_they_were(tmp_path):
    shards = Shards(tmp_path / "new" / "folder")
    arrays = {"a": np.arange(7, dtype=np.int32), "b": np.array([0.5, -1.0]), "none": np.zeros(0)}
    shards.write(0, arrays)
    shards.write(1, {"a": np.ones(2, dtype=np.int32)})
    shards.complete({"what": "numbers"})
    again = Shards(tmp_path / "new" / "folder")
    again.check()
    assert again.is_complete
    assert (len(again), again.about) == (2, {"what": "numbers"})
    for name, array in arrays.items():
        np.testing.assert_array_equal(again.read(0)[name], array)
        assert again.read(0)[name].dtype == array.dtype


def test_a_shard_without_a_description_is_not_finished(tmp_path):
    shards = Shards(tmp_path)
    for number in range(3):
        shards.write(number, {"a": np.arange(number)})
    (tmp_path / "00001.json").unlink()  # as a kill between arrays and description leaves it
    assert shards.n_finished() == 1


@pytest.mark.parametrize("damage", ["a byte", "cut off", "gone", "description"])
def test_what_was_altered_is_refused_with_a_way_out(tmp_path, damage):
    shards = Shards(tmp_path)
    shards.write(0, {"a": np.arange(100)})
    shards.complete({})
    path = tmp_path / "00000.a.npy"
    if damage == "a byte":
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
    elif damage == "cut off":
        path.write_bytes(path.read_bytes()[:-8])
    elif damage == "gone":
        path.unlink()
    else:
        (tmp_path / "00000.json").write_bytes(b"{")
    with pytest.raises(MalformedFileError, match=r"not as it was written; remove the folder .* read again"):
        shards.check()


def test_mapped_arrays_can_be_written_to_without_changing_the_file(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(4))
    array = mapped(tmp_path / "a.npy")
    array[0] = 5.0
    assert type(array) is np.ndarray
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), 0.0)


def test_a_full_disk_is_said_before_anything_is_written(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(InputError, match=r"has no room for 0\.01 GiB \(No space left on device\); free some space"):
        new_mapped(tmp_path / "x.bin", (1 << 20,), np.float64)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot be made .* name another folder"):
        Shards(tmp_path / "file" / "shards")


def test_killed_while_shards_are_written(tmp_path):
    """A shard that counts as finished is whole, and the others are written again."""

    def write(folder):
        shards = Shards(folder)
        for number in range(shards.n_finished(), 2):
            shards.write(number, {"a": np.arange(5), "b": np.full(3, number)})
        shards.complete({"what": "numbers"})

    *killed, let_through = killed_at_every_step(write, tmp_path / "nowhere", tmp_path / "k")
    assert len(killed) > 10
    for folder in [*killed, let_through]:
        Shards(folder).check()
        write(folder)
        again = Shards(folder)
        again.check()
        assert (again.is_complete, len(again)) == (True, 2)


def test_killed_while_the_shards_of_other_files_are_removed(tmp_path, monkeypatch):
    """Half of them are never taken for the whole, even where the file becomes what it was."""
    given, before = tmp_path / "texts.csv", (10**18, 10**18)
    given.write_text("tea")
    os.utime(given, ns=before)

    def use(folder):
        monkeypatch.setenv("TEXTBAYES_SHARDS", str(folder))
        with folder_for([str(given)], {}) as place:
            return sorted(file.name for file in place.rglob("*.txt"))

    made = tmp_path / "made"
    assert use(made) == []
    with folder_for([str(given)], {}) as place:
        for part in ("raw", "counts", "vocabulary"):
            (place / part).mkdir()
            (place / part / f"{part}.txt").touch()
    assert use(made) == ["counts.txt", "raw.txt", "vocabulary.txt"]
    given.write_text("rye")
    *killed, let_through = killed_at_every_step(use, made, tmp_path / "k")
    assert use(let_through) == []
    os.utime(given, ns=before)
    for folder in killed:
        assert use(folder) in ([], ["counts.txt", "raw.txt", "vocabulary.txt"])
