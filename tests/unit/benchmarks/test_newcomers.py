"""What the script that follows newcomers' paths counts as a fault."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))
newcomers = importlib.import_module("bench_newcomers")


@pytest.mark.parametrize(
    ("narrow", "wide", "found"),
    [
        ("all is well\nin two lines", "all is well in two lines", []),
        ("x" * 81, "x" * 81, ["81 columns"]),
        ("語" * 41, "語" * 41, ["82 columns"]),
        ("the reviewers agr\nee", "the reviewers agree", ["broken word 'agr'", "broken word 'ee'"]),
        ("how it\n  stands", "how it stands", ["banned phrase"]),
    ],
)
def test_faults(narrow, wide, found):
    told = list(newcomers.faults(narrow, wide))
    assert len(told) == len(found)
    assert all(one.startswith(start) for one, start in zip(told, found, strict=True))
