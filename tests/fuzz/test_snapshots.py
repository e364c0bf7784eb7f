"""Mutated snapshots of filters and screenings, with a fixed seed; ``make fuzz`` goes on for as long as one likes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_mutated_snapshots_are_refused_or_are_states():
    script = Path(__file__).with_name("snapshots.py")
    command = [sys.executable, str(script), "--mutations", "100", "--seed", "13"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stderr[-4000:]}\n{done.stdout}"
    assert "refused" in done.stdout
    assert "another state" in done.stdout
