"""The answers of all trainings are those that were frozen."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("frozen", Path(__file__).with_name("frozen.py"))
frozen = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(frozen)

THEN = json.loads(frozen.FILE.read_text(encoding="utf-8"))
# The same code on another processor or library rounds otherwise, and iterations stop elsewhere.
TOLERANCE = frozen.EXACT if THEN["machine"] == frozen.machine() else 1e-4


def test_every_case_is_frozen():
    assert set(THEN["answers"]) == {case.name for case in frozen.cases()}


@pytest.mark.parametrize("case", frozen.cases(), ids=lambda case: case.name)
def test_answers_are_those_frozen(case):
    assert frozen.differences(THEN["answers"][case.name], frozen.answer(case), TOLERANCE, "answer") == []
