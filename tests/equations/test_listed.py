"""Every equation is held by a test that names it, or says why none can; docs/papers/index.md lists them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from textbayes.reproduce import papers

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))
import _equations as equations

LISTED, MARKED = equations.listed(), equations.marked()


def test_papers_are_those_that_are_reproduced():
    assert {equation.paper for equation in LISTED} == set(papers.names())


@pytest.mark.parametrize("equation", LISTED, ids=lambda equation: f"{equation.paper} {equation.number}")
def test_an_equation_has_a_test_or_a_reason(equation):
    held = bool(MARKED.get((equation.paper, equation.number)))
    assert held != bool(equation.definition), "either a test names it, or the list says why none can"


def test_markers_name_equations_that_are_listed():
    known = {(equation.paper, equation.number) for equation in LISTED}
    wrong = {key: tests for key, tests in MARKED.items() if key not in known}
    assert not wrong, "list them in docs/papers/equations.toml"


def test_markers_are_read_from_decorators(tmp_path):
    source = '@pytest.mark.equation("a paper", "1", "2b")\n@pytest.mark.slow\ndef test_one():\n    pass\n'
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "test_some.py").write_text(source + "\ndef test_other():\n    pass\n")
    assert equations.marked(folder) == {("a paper", number): ["tests/test_some.py::test_one"] for number in ("1", "2b")}
