"""Room for copies: in memory, or in a file of the thread's own."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from textbayes.core import machine
from textbayes.core.errors import InputError
from textbayes.core.machine import limited_working_memory, room_for_copy


def in_file(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return array is not None


@pytest.mark.parametrize(("limit", "mapped"), [(12 * 1000, False), (12 * 1000 - 1, True)])
def test_copies_beyond_the_limit_are_in_a_file(tmp_path, limit, mapped):
    with limited_working_memory(limit, tmp_path):
        indices, data = room_for_copy(1000)
        indices[:], data[:] = np.arange(1000), np.linspace(0.0, 1.0, 1000)
    assert (indices.dtype, data.dtype) == (np.int32, np.float64)
    np.testing.assert_array_equal(indices, np.arange(1000))
    np.testing.assert_array_equal(data, np.linspace(0.0, 1.0, 1000))
    assert in_file(indices) == in_file(data) == mapped
    assert list(tmp_path.iterdir()) == []  # the file has no name


def test_a_thread_uses_its_file_again_and_no_other_does(tmp_path):
    with limited_working_memory(0, tmp_path), ThreadPoolExecutor(1) as other:
        first = room_for_copy(100)[1]
        first[:] = 1.0
        smaller = room_for_copy(50)[1]
        assert np.shares_memory(first, smaller)
        far = other.submit(room_for_copy, 100).result()[1]
        assert not np.shares_memory(first, far)
        larger = room_for_copy(1000)[1]
        assert not np.shares_memory(first, larger)
    np.testing.assert_array_equal(first, 1.0)


def test_outside_of_a_block_no_file_is_kept(monkeypatch, tmp_path):
    monkeypatch.setattr(machine._WORKING[0], "n_bytes", 0)
    monkeypatch.setattr(machine._WORKING[0], "folder", tmp_path)
    first, second = room_for_copy(100)[1], room_for_copy(100)[1]
    assert in_file(first)
    assert not np.shares_memory(first, second)
    assert not machine._WORKING[0].files


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="space is not taken beforehand on this system")
def test_a_full_disk_is_told(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with (
        limited_working_memory(0, tmp_path),
        pytest.raises(InputError, match=r"has no room for .*No space left.*\$TMPDIR"),
    ):
        room_for_copy(100)
