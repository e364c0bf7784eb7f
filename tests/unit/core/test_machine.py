"""Cores and memory of a process in a container, from made-up control groups."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from textbayes.core import machine
from textbayes.core.errors import ModelFileError
from textbayes.core.machine import available_memory, check_fits_memory, n_cores, n_threads, total_memory

GIB = 2**30


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A machine of 16 cores and 64 GiB, 32 of them available; files are added by ``system(path=text)``."""
    monkeypatch.setattr(machine, "PROC", tmp_path / "proc")
    monkeypatch.setattr(machine, "GROUPS", tmp_path / "groups")
    monkeypatch.setattr(os, "process_cpu_count", lambda: 16, raising=False)
    pages = {"SC_PHYS_PAGES": 64 * GIB // 4096, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)

    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n")

    write({"proc/meminfo": f"MemTotal: {64 * 2**20} kB\nMemAvailable: {32 * 2**20} kB"})
    return write


def test_without_groups_all_of_the_machine_may_be_used(system):
    assert (n_cores(), total_memory(), available_memory()) == (16, 64 * GIB, 32 * GIB)


def test_groups_without_a_limit_say_nothing(system):
    system({"proc/self/cgroup": "0::/user", "groups/user/cpu.max": "max 100000", "groups/user/memory.max": "max"})
    assert (n_cores(), total_memory(), available_memory()) == (16, 64 * GIB, 32 * GIB)


@pytest.mark.parametrize(("quota", "cores"), [("50000 100000", 1), ("200000 100000", 2), ("250000 100000", 3)])
def test_a_share_of_cpu_time_limits_the_cores(system, quota, cores):
    system({"proc/self/cgroup": "0::/a", "groups/a/cpu.max": quota})
    assert n_cores() == n_threads(-1) == cores
    assert n_threads(-2) == max(cores - 1, 1)
    assert n_threads(40) == 40


def test_the_smallest_limit_of_all_groups_above_holds(system):
    system(
        {
            "proc/self/cgroup": "0::/pod/container/process",
            "groups/pod/memory.max": str(4 * GIB),
            "groups/pod/memory.current": str(3 * GIB),
            "groups/pod/cpu.max": "300000 100000",
            "groups/pod/container/memory.max": str(8 * GIB),
            "groups/pod/container/memory.current": str(GIB),
            "groups/pod/container/process/memory.max": "max",
            "groups/pod/container/process/cpu.max": "800000 100000",
        }
    )
    assert (n_cores(), total_memory(), available_memory()) == (3, 4 * GIB, GIB)


def test_files_that_can_be_dropped_from_memory_are_available(system):
    system(
        {
            "proc/self/cgroup": "0::/",
            "groups/memory.max": str(4 * GIB),
            "groups/memory.current": str(4 * GIB),
            "groups/memory.stat": f"anon {GIB}\ninactive_file {3 * GIB}\nactive_file 0",
        }
    )
    assert available_memory() == 3 * GIB


def test_version_1_has_a_folder_for_each_controller(system):
    system(
        {
            "proc/self/cgroup": "4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n1:name=systemd:/\n0::/",
            "groups/memory/docker/abc/memory.limit_in_bytes": str(2 * GIB),
            "groups/memory/docker/abc/memory.usage_in_bytes": str(GIB),
            "groups/memory/docker/abc/memory.stat": f"inactive_file 0\ntotal_inactive_file {GIB // 2}",
            "groups/memory/memory.limit_in_bytes": "9223372036854771712",  # its way to say none
            "groups/cpu/docker/abc/cpu.cfs_quota_us": "150000",
            "groups/cpu/docker/abc/cpu.cfs_period_us": "100000",
            "groups/cpu/cpu.cfs_quota_us": "-1",
            "groups/cpu/cpu.cfs_period_us": "100000",
        }
    )
    assert (n_cores(), total_memory(), available_memory()) == (2, 2 * GIB, 3 * GIB // 2)


def test_a_container_that_is_told_the_path_outside_finds_its_limit_at_the_root(system):
    system({"proc/self/cgroup": "4:memory:/docker/abc", "groups/memory/memory.limit_in_bytes": str(GIB)})
    assert total_memory() == GIB


def test_what_does_not_fit_into_the_container_is_refused(system):
    system({"proc/self/cgroup": "0::/", "groups/memory.max": str(GIB)})
    check_fits_memory(GIB, "the weights")
    with pytest.raises(ModelFileError, match=r"more than the 1\.0 GiB of this machine"):
        check_fits_memory(GIB + 1, "the weights")


def test_cores_that_the_process_may_not_run_on_do_not_count(system, monkeypatch):
    monkeypatch.delattr(os, "process_cpu_count", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {2, 5, 7}, raising=False)
    assert n_cores() == 3


def test_no_other_code_asks_the_whole_machine():
    package = Path(machine.__file__).parents[1]
    asking = re.compile(r"cpu_count|sched_getaffinity|meminfo|SC_PHYS_PAGES")
    found = [path.relative_to(package) for path in package.rglob("*.py") if asking.search(path.read_text("utf-8"))]
    assert found == [Path("core/machine.py")]
