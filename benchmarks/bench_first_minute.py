"""The first minute: ``make demo`` in a fresh clone with empty caches, then the first answers beside scikit-learn.

    python benchmarks/bench_first_minute.py [--only demo] [--only classify] [--only serve]

The demo: what is committed is cloned into a temporary folder, with a home and caches of its own (uv, pip, compiled
kernels); only the settings that say where packages come from are kept. Then ``make demo`` runs twice. CPU seconds are
those of all processes, background ones included, which are waited for. The bars hold on two cores that do nothing else.
The other two parts are in ``_first_answers.py``.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from _common import close

ROOT = Path(__file__).parents[1]
PARTS = ("demo", "classify", "serve")
MOST_WALL, MOST_CPU, MOST_AGAIN = 60.0, 70.0, 12.0  # seconds
MOST_CLASSIFY = 1.2  # CPU of `classify` over that of a script with scikit-learn
LEAST_SERVE = 1.2  # requests per second of `serve` over those of FastAPI with scikit-learn, one text each
LEAST_SERVE_MANY = 1.0  # the same, ten texts each
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
# Where packages come from, below the home folder.
SOURCES = (".config/pip/pip.conf", ".pip/pip.conf", ".config/uv/uv.toml", ".netrc")
# Variables that would bring caches or code from outside into the clone, or tell make what this process was told.
OURS = re.compile(r"(NUMBA|TEXTBAYES|XDG|MAKE|MFLAGS|VIRTUAL_ENV|PYTHON|MPL).*")


class Figure(NamedTuple):
    """A measured figure and what it must reach."""

    text: str
    passed: bool


def own_environment(home: Path) -> dict[str, str]:
    """An environment whose home and caches are empty, with this user's package sources."""
    for name in SOURCES:
        if (Path.home() / name).is_file():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(Path.home() / name, home / name)
    caches = {f"{name}_CACHE_DIR": str(home / name.lower()) for name in ("UV", "PIP")}
    kept = {name: value for name, value in os.environ.items() if not OURS.fullmatch(name)}
    return kept | caches | {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}


def measured(command: list[str], folder: Path, environment: dict[str, str]) -> tuple[float, float]:
    """Wall seconds of a command, and CPU seconds of it and of all it started, also in the background."""
    before, start = cpu_of_children(), time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    wall = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    print(*done.stdout.strip().splitlines()[-1:])
    with contextlib.suppress(ChildProcessError):  # none is left
        while True:
            os.wait()
    return wall, cpu_of_children() - before


def adopt_orphans() -> None:
    """Make what a command leaves running a child of this process, so that it can be waited for (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)


def cpu_of_children() -> float:
    """CPU seconds of all processes that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def demo() -> list[Figure]:
    """Install and run the demo as a newcomer does, twice."""
    adopt_orphans()
    with tempfile.TemporaryDirectory() as name:
        clone, home = Path(name) / "clone", Path(name) / "home"
        home.mkdir()
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        environment = own_environment(home)
        print(f"load of the machine before: {os.getloadavg()[0]:.1f}; other work slows the demo")
        wall, cpu = measured(["make", "demo"], clone, environment)
        again, cpu_again = measured(["make", "demo"], clone, environment)
    print(f"make demo: {wall:.1f} s, {cpu:.1f} s of CPU; again: {again:.1f} s, {cpu_again:.1f} s of CPU")
    return [
        Figure(f"make demo {wall:.1f} s (bar {MOST_WALL:g} s)", wall <= MOST_WALL),
        Figure(f"{cpu:.1f} s of CPU (bar {MOST_CPU:g} s)", cpu <= MOST_CPU),
        Figure(f"again {again:.1f} s (bar {MOST_AGAIN:g} s)", again <= MOST_AGAIN),
    ]


def classify() -> list[Figure]:
    """CPU of classifying 300 texts beside scikit-learn."""
    from _first_answers import classify_ratio

    ratio = classify_ratio()
    return [Figure(f"classify {ratio:.2f} × scikit-learn's CPU (bar {MOST_CLASSIFY:g})", ratio <= MOST_CLASSIFY)]


def serve() -> list[Figure]:
    """Requests per second beside FastAPI with scikit-learn."""
    from _first_answers import serve_ratios

    return [
        Figure(f"serve {ratio:.2f} × FastAPI's requests/s, {n} text(s) each (bar {bar:g})", ratio >= bar)
        for (n, ratio), bar in zip(serve_ratios().items(), (LEAST_SERVE, LEAST_SERVE_MANY), strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS, action="append", help="this part alone; may be given several times")
    chosen = parser.parse_args().only or PARTS
    figures = [figure for part in (demo, classify, serve) if part.__name__ in chosen for figure in part()]
    close("first_minute", all(figure.passed for figure in figures), ", ".join(figure.text for figure in figures))


if __name__ == "__main__":
    main()
