"""Compiled kernels are kept for the sources they were compiled from, and for no others."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import textbayes
from textbayes.kernels._cache import PREFIX, UNUSED_SECONDS, fingerprint, remove_unused

# shrink(target=3, curvature=1, no penalty) is 3, so from 0 and within a radius of 100 the step is 3. It is compiled
# into limited_step, which is in another file.
STEP = """
from textbayes.kernels import n_compiled
from textbayes.kernels.linear.likelihoods import limited_step
inf = float("inf")
print(limited_step(3.0, 1.0, 0.0, 0.0, 0.0, -inf, inf, 100.0), n_compiled() > 0)
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package's sources that a test may change; nothing in it is compiled."""
    copy = tmp_path / "copy" / "textbayes"
    shutil.copytree(Path(textbayes.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def start(package: Path, **environment: str) -> subprocess.Popen[str]:
    # Without bytecode files, which would be found by the time and size of a source rather than by what it says.
    settings = os.environ | {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"} | environment
    command = [sys.executable, "-c", STEP]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=settings)


def step(package: Path, **environment: str) -> tuple[str, str]:
    """What a new process prints (the step, and whether it compiled anything), and what it says beside."""
    process = start(package, **environment)
    out, told = process.communicate()
    assert process.returncode == 0, told
    return out.strip(), told


def test_a_kernel_is_compiled_again_when_a_helper_in_another_file_changes(package, tmp_path):
    cache = str(tmp_path / "cache")
    helper = package / "kernels" / "linear" / "coordinate.py"
    source = helper.read_text(encoding="utf-8")
    changed = source.replace("u = (target - l1) / (curvature + l2)", "u = (target - l1) / (curvature + l2) * 2.0", 1)
    assert changed != source
    assert step(package, NUMBA_CACHE_DIR=cache)[0] == "3.0 True"
    assert step(package, NUMBA_CACHE_DIR=cache)[0] == "3.0 False"
    helper.write_text(changed, encoding="utf-8")
    assert step(package, NUMBA_CACHE_DIR=cache)[0] == "6.0 True"
    helper.write_text(source, encoding="utf-8")
    assert step(package, NUMBA_CACHE_DIR=cache)[0] == "3.0 False", "what was compiled before the change is still there"


def test_processes_that_start_at_once_share_an_empty_cache(package, tmp_path):
    cache = str(tmp_path / "cache")
    processes = [start(package, NUMBA_CACHE_DIR=cache) for _ in range(3)]
    found = [process.communicate() for process in processes]
    assert [out.split()[0] for out, _ in found] == ["3.0"] * 3, found
    assert any(out.split()[1] == "True" for out, _ in found)  # one that starts late may find what another compiled
    assert step(package, NUMBA_CACHE_DIR=cache)[0] == "3.0 False"


def test_an_installation_that_cannot_be_written_to_uses_the_users_cache(package, tmp_path):
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "home"), "LOCALAPPDATA": str(tmp_path / "home")}
    folders = [package, *(path for path in package.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert step(package, NUMBA_CACHE_DIR="", **home)[0] == "3.0 True"
        assert step(package, NUMBA_CACHE_DIR="", **home)[0] == "3.0 False"
    finally:
        for folder in folders:
            folder.chmod(stat.S_IRWXU)
    assert not list(package.rglob("*.nbi")), "the package stays as it was, even for a user whom modes do not stop"


def test_without_a_folder_to_write_to_kernels_still_run_and_the_user_is_told(package, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("a file is no folder", encoding="utf-8")
    out, told = step(package, NUMBA_CACHE_DIR=str(blocked))
    assert out == "3.0 True"
    assert f"compiled kernels cannot be stored in {blocked}" in told
    assert "set NUMBA_CACHE_DIR to a folder that can be written to" in told


def test_only_our_own_folders_that_nobody_used_for_a_month_are_removed(tmp_path):
    names = {f"{PREFIX}old": 1.1, f"{PREFIX}new": 0.9, "linear_of_another_package": 9.0}
    for name, months in names.items():
        (tmp_path / name / "linear").mkdir(parents=True)
        then = time.time() - months * UNUSED_SECONDS
        os.utime(tmp_path / name, (then, then))
    remove_unused(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["linear_of_another_package", f"{PREFIX}new"]


def test_the_fingerprint_reads_each_source_once_in_a_process(monkeypatch):
    read = []
    read_bytes = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path) or read_bytes(path))
    fingerprint.__wrapped__()
    assert sorted(read) == sorted((Path(textbayes.__file__).parent / "kernels").rglob("*.py"))
    assert sum(path.stat().st_size for path in read) < 1 << 20  # milliseconds
    read.clear()
    fingerprint()
    fingerprint()
    assert len(set(read)) == len(read)


@pytest.fixture
def small_disk(tmp_path: Path):
    """A file system with room for next to nothing."""
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", folder], capture_output=True)
    if made.returncode:
        pytest.skip("needs the right to mount a small file system")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_costs_the_cache_and_not_the_result(package, small_disk):
    found, told = step(package, NUMBA_CACHE_DIR=str(small_disk))
    assert found == "3.0 True"
    assert told.count("compiled kernels cannot be stored in") == 1
    assert "No space left on device" in told
