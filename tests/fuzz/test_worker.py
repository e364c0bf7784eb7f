"""The worker finds what it is there to find: crashes, hangs, raw exceptions, memory and late failures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import ctypes, sys, time
sys.path.insert(0, {folder!r})
import worker
from textbayes.core.errors import InputError

worker.CPU_SECONDS, worker.CLOCK_SECONDS = 1, 4

def target(n):
    if n == 1: ctypes.string_at(0)
    if n == 2: raise InputError("no")
    if n == 3: raise KeyError("raw")
    if n == 4: raise worker.LateFailureError("late")
    if n == 5: __import__("re").match("(a+)+$", "a" * 40 + "!")
    if n == 6: time.sleep(60)
    if n == 7: bytearray(1 << 34)
    return "accepted"

found = worker.run(target, lambda rng: (str(rng.random()), int(sys.argv[1])), 2, seed=5)
kinds, whats = [one.kind for one in found.findings], {{one.what for one in found.findings}}
print(found.n_run, dict(found.outcomes), kinds, len(whats))
"""


def run(n: int) -> str:
    script = SCRIPT.format(folder=str(Path(__file__).parent))
    return subprocess.run([sys.executable, "-c", script, str(n)], capture_output=True, text=True, check=True).stdout


def test_every_bad_end_is_found_and_the_run_goes_on():
    ends = {1: "crash", 3: "KeyError", 4: "late failure", 5: "hang", 6: "hang", 7: "MemoryError"}
    for number, kind in ends.items():
        assert run(number).strip() == f"2 {{}} {[kind] * 2} 2", number  # two cases, each with random numbers of its own


def test_refusals_and_acceptances_are_counted():
    assert run(2).strip() == "2 {'refused': 2} [] 0"
    assert run(0).strip() == "2 {'accepted': 2} [] 0"
