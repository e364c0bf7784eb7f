"""The benchmark of the first minute: caches of its own, and CPU time of what runs in the background."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

import bench_first_minute as first_minute

BENCHMARKS = Path(first_minute.__file__).parent
BURN = "import time\nwhile time.process_time() < 0.4: pass"


def test_home_and_caches_are_empty_and_package_sources_are_kept(tmp_path, monkeypatch):
    user, home = tmp_path / "user", tmp_path / "home"
    (user / ".config" / "pip").mkdir(parents=True)
    (user / ".config" / "pip" / "pip.conf").write_text("[global]\n")
    home.mkdir()
    for name in ("HOME", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "UV_CACHE_DIR", "PYTHONPATH", "VIRTUAL_ENV", "MAKEFLAGS"):
        monkeypatch.setenv(name, str(user))
    monkeypatch.setenv("PIP_INDEX_URL", "address-own")
    own = first_minute.own_environment(home)
    assert own["PIP_INDEX_URL"] == "address-own"
    assert [path for path in home.rglob("*") if path.is_file()] == [home / ".config" / "pip" / "pip.conf"]
    assert str(user) not in own.values()


@pytest.mark.skipif(sys.platform != "linux", reason="orphans cannot be adopted on this system")
def test_cpu_of_the_background_counts(tmp_path):
    code = f"""
import sys
sys.path.insert(0, {str(BENCHMARKS)!r})
from bench_first_minute import adopt_orphans, measured
from pathlib import Path
adopt_orphans()
shell = f'"{{sys.executable}}" -c "{{sys.argv[1]}}" > /dev/null 2>&1 & echo started'
print(measured(["sh", "-c", shell], Path(sys.argv[2]), {{}})[1])
"""
    done = subprocess.run([sys.executable, "-c", code, BURN, tmp_path], capture_output=True, text=True, check=True)
    started, cpu = done.stdout.splitlines()
    assert started == "started"
    assert float(cpu) >= 0.4


def test_a_command_that_fails_ends_the_benchmark_with_what_it_printed(tmp_path):
    with pytest.raises(SystemExit, match="no such package"):
        first_minute.measured(["sh", "-c", "echo no such package; exit 3"], tmp_path, {})
