"""Mutated model files, some hundred of them, with a fixed seed; ``make fuzz`` goes on for as long as one likes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_mutated_model_files_are_refused_or_are_models():
    script = Path(__file__).with_name("model_file.py")
    command = [sys.executable, str(script), "--mutations", "500", "--seed", "13"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stderr[-4000:]}\n{done.stdout}"
    assert "refused" in done.stdout
    assert "accepted" in done.stdout
