"""Scratch folders of out-of-core runs: those of killed processes are removed, those of living ones are not."""

from __future__ import annotations

import subprocess
import sys

import pytest

from textbayes.scale.shards import scratch_folder

RUN = """
import sys
from textbayes.scale.shards import scratch_folder
with scratch_folder() as folder:
    (folder / "columns.bin").write_bytes(b"x" * 1000)
    print(folder, flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def another(monkeypatch, tmp_path):
    """A process with a scratch folder, and the folder's name."""
    monkeypatch.setenv("TEXTBAYES_SHARDS", str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", RUN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield process, tmp_path / process.stdout.readline().strip()
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


def test_a_killed_run_is_cleaned_up_by_the_next(another, tmp_path):
    process, folder = another
    process.kill()
    process.wait()
    assert (folder / "columns.bin").exists()
    with scratch_folder() as own:
        assert list(tmp_path.iterdir()) == [own]
    assert list(tmp_path.iterdir()) == []


def test_a_living_run_keeps_its_folder(another, tmp_path):
    _, folder = another
    with scratch_folder() as own, scratch_folder() as second:
        assert sorted(tmp_path.iterdir()) == sorted([folder, own, second])
    assert (folder / "columns.bin").exists()
